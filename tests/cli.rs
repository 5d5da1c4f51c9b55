//! The command line as scripts see it: exit codes, one clear message, and nothing written when the
//! input is bad.

#![allow(clippy::unwrap_used)]

mod common;

#[path = "cli/env.rs"]
mod env;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/input.rs"]
mod input;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/swap.rs"]
mod swap;
#[path = "cli/tune.rs"]
mod tune;
#[path = "cli/usage.rs"]
mod usage;

use common::{Folder, Outcome};

/// A quick run of two steps that writes nothing but what `output` asks for.
pub(crate) fn quick(folder: &Folder, output: &str) {
    let text = format!(
        "[problem]\ncase = \"williamson-6\"\ntruncation = 10\nsteps = 2\n[time]\ndt = 1200.0\n\
         [output]\ndirectory = \"out\"\n{output}\n"
    );
    folder.file("n.toml", text);
}

/// Runs `pstswm WORDS` in a folder.
pub(crate) fn go(folder: &Folder, words: &str) -> Outcome {
    let words: Vec<&str> = words.split_whitespace().collect();
    common::run(&folder.0, &words)
}

/// Exit code 2, the words in the message, nothing on stdout, and the folder as it was.
pub(crate) fn refused(folder: &Folder, words: &str, said: &[&str]) -> Outcome {
    let before = (folder.names(""), folder.names("out"));
    let outcome = go(folder, words);
    assert_eq!(
        outcome.code, 2,
        "{words}: {}{}",
        outcome.stdout, outcome.stderr
    );
    assert_eq!(outcome.stdout, "", "{words}");
    for word in said {
        assert!(
            outcome.stderr.contains(word),
            "{words}: {word:?} in\n{}",
            outcome.stderr
        );
    }
    for noise in ["panicked", "RUST_BACKTRACE", "Error {", "unwrap"] {
        assert!(
            !outcome.stderr.contains(noise),
            "{words}:\n{}",
            outcome.stderr
        );
    }
    assert_eq!(
        (folder.names(""), folder.names("out")),
        before,
        "{words}: something was written"
    );
    outcome
}

/// The same, with a single line from the program.
pub(crate) fn refused_in_a_line(folder: &Folder, words: &str, said: &[&str]) {
    let outcome = refused(folder, words, said);
    assert!(outcome.stderr.starts_with("pstswm: "), "{}", outcome.stderr);
    assert_eq!(
        outcome.stderr.lines().count(),
        1,
        "{words}:\n{}",
        outcome.stderr
    );
}
