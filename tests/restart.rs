//! Going on from a checkpoint: bit for bit, on any mesh; and every file that is not the right
//! checkpoint is refused.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Folder, Outcome, Random, printed_checksum, run};

const FIFTH: &str = "out/checkpoint_000000000005.nc";

/// A namelist of ten steps at T21 with a checkpoint in the middle.
fn namelist(folder: &Folder, problem: &str, time: &str) {
    let text = format!(
        "[problem]\ntruncation = 21\nsteps = 10\n{problem}\n[time]\ndt = 900.0\n{time}\n[output]\n\
         directory = \"out\"\nsamples-per-file = 0\ncheckpoint-hours = 1.25\n"
    );
    folder.file("n.toml", text);
}

fn go(folder: &Folder, arguments: &str) -> Outcome {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    run(&folder.0, &arguments)
}

/// The checksum of ten steps in one go; leaves the checkpoint of the fifth.
fn whole(folder: &Folder, ranks: &str) -> String {
    let outcome = go(folder, &format!("run n.toml --ranks {ranks}"));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    printed_checksum(&outcome.stdout)
}

#[test]
fn ten_steps_are_five_and_five() {
    let schemes = [
        ("case = \"williamson-5\"", ""),
        (
            "case = \"williamson-5\"",
            "asselin = 0.05\nwilliams = 0.53\ndiffusion = 1e16",
        ),
        (
            "case = \"williamson-6\"",
            "scheme = \"explicit\"\nasselin = 0.02",
        ),
        ("case = \"williamson-4\"\nlevels = 2", "asselin = 0.01"),
        ("case = \"galewsky\"", "scheme = \"rk4\"\nlaplacian = 1e5"),
        ("case = \"williamson-1\"\nalpha = 0.5", ""),
    ];
    for (number, (problem, time)) in schemes.into_iter().enumerate() {
        let folder = Folder::new(&format!("restart-{number}"));
        namelist(&folder, problem, time);
        let expected = whole(&folder, "2");
        // The same mesh, other ones, other algorithms; a run goes on in the folder it began in.
        for way in [
            "--ranks 2",
            "--ranks 1",
            "--ranks 6 --set algorithm.mesh=[3,2]",
            "--ranks 3 --set algorithm.mesh=[3,1] --set algorithm.fft=\"single-transpose\"",
        ] {
            let outcome = go(&folder, &format!("run n.toml --restart {FIFTH} {way}"));
            assert_eq!(outcome.code, 0, "{way}: {}", outcome.stderr);
            assert_eq!(
                printed_checksum(&outcome.stdout),
                expected,
                "{problem} {time} {way}"
            );
        }
        // A state that differs in one bit would be seen: one step less is another number.
        let shorter = go(
            &folder,
            &format!("run n.toml --restart {FIFTH} --set problem.steps=9"),
        );
        assert_eq!(shorter.code, 0, "{}", shorter.stderr);
        assert_ne!(printed_checksum(&shorter.stdout), expected);
    }
}

#[test]
fn after_the_first_step_and_step_by_step() {
    let folder = Folder::new("restart-first");
    namelist(&folder, "case = \"williamson-5\"", "asselin = 0.05");
    let every = "--set output.checkpoint-hours=0.25";
    let outcome = go(
        &folder,
        &format!("run n.toml {every} --set problem.steps=1"),
    );
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let mut last = String::new();
    for step in 1..10 {
        let sets = format!("{every} --set problem.steps={}", step + 1);
        let file = format!("out/checkpoint_{step:012}.nc");
        let ranks = 1 + step % 3;
        let outcome = go(
            &folder,
            &format!("run n.toml --restart {file} {sets} --ranks {ranks}"),
        );
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        last = printed_checksum(&outcome.stdout);
    }
    let fresh = Folder::new("restart-fresh");
    namelist(&fresh, "case = \"williamson-5\"", "asselin = 0.05");
    assert_eq!(whole(&fresh, "1"), last);
}

#[test]
fn invariants_are_those_since_the_start() {
    let folder = Folder::new("restart-invariants");
    namelist(&folder, "case = \"williamson-5\"", "");
    let last_line = |outcome: &Outcome| {
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        std::fs::read_to_string(folder.0.join("t.csv"))
            .unwrap()
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    let whole = last_line(&go(&folder, "run n.toml --csv t.csv"));
    let parts = last_line(&go(
        &folder,
        &format!("run n.toml --csv t.csv --restart {FIFTH}"),
    ));
    assert_eq!(parts, whole);
}

/// The run is refused before it starts: exit code 2, one message, nothing on stdout.
fn refused(outcome: &Outcome, words: &[&str]) {
    assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.starts_with("pstswm: "), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "", "{}", outcome.stderr);
    for word in words {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
}

#[test]
fn another_problem_is_refused() {
    let folder = Folder::new("restart-other");
    namelist(&folder, "case = \"williamson-6\"", "");
    whole(&folder, "1");
    let before = folder.names("out");
    for (set, words) in [
        (
            "problem.truncation=20",
            "problem.truncation is [21, 21, 21] there and [20, 20, 20] here",
        ),
        ("problem.truncation=[21,21,30]", "problem.truncation"),
        ("time.dt=450", "time.dt is 900 there and 450 here"),
        (
            "problem.case=\"williamson-2\"",
            "problem.case is williamson-6 there and williamson-2 here",
        ),
        ("problem.levels=2", "problem.levels is 1 there and 2 here"),
        ("problem.nlat=64", "problem.nlat"),
        (
            "problem.phibar=90000",
            "problem.phibar is the initial mean there and 90000 here",
        ),
        ("problem.planet.omega=1e-4", "problem.planet"),
        (
            "time.scheme=\"explicit\"",
            "time.scheme is semi-implicit there and explicit here",
        ),
    ] {
        for ranks in [1, 3] {
            let outcome = go(
                &folder,
                &format!("run n.toml --restart {FIFTH} --ranks {ranks} --set {set}"),
            );
            refused(&outcome, &[words, "checkpoint"]);
        }
    }
    assert_eq!(folder.names("out"), before);
}

#[test]
fn beyond_the_end_is_refused() {
    let folder = Folder::new("restart-beyond");
    namelist(&folder, "case = \"williamson-6\"", "");
    whole(&folder, "1");
    for steps in [3, 5] {
        let sets = format!("--set problem.steps={steps}");
        let outcome = go(&folder, &format!("run n.toml --restart {FIFTH} {sets}"));
        refused(
            &outcome,
            &["--restart", "at step 5", &format!("ends at step {steps}")],
        );
    }
}

fn try_bytes(folder: &Folder, bytes: &[u8], words: &[&str]) {
    let path = folder.file("changed.nc", bytes);
    assert!(Path::new(&path).exists());
    refused(&go(folder, "run n.toml --restart changed.nc"), words);
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let folder = Folder::new("restart-damaged");
    namelist(&folder, "case = \"williamson-6\"", "");
    whole(&folder, "1");
    let before = folder.names("out");
    let good = std::fs::read(folder.0.join(FIFTH)).unwrap();
    let mut random = Random(7);
    for keep in [
        0,
        1,
        3,
        4,
        100,
        good.len() / 2,
        good.len() - 8,
        good.len() - 1,
    ] {
        try_bytes(&folder, &good[..keep], &["restart", "changed.nc"]);
    }
    for _ in 0..40 {
        let mut bad = good.clone();
        let at = random.below(bad.len());
        bad[at] ^= 1 << random.below(8);
        let path = folder.file("changed.nc", &bad);
        let outcome = go(&folder, &format!("run n.toml --restart {}", path.display()));
        // Bits of padding and of the title mean nothing; all others are found.
        if outcome.code == 0 {
            let harmless = [b"title".as_slice(), b"checkpoint of the parallel"];
            let text = harmless.iter().any(|word| {
                good.windows(word.len())
                    .position(|window| window == *word)
                    .is_some_and(|start| (start..start + 80).contains(&at))
            });
            assert!(text || good[at] == 0, "bit of byte {at} of {}", good.len());
        } else {
            refused(&outcome, &["restart"]);
        }
    }
    try_bytes(&folder, b"[problem]\ncase = 5\n", &["restart"]);
    try_bytes(&folder, &[0xff; 4096], &["restart"]);
    refused(
        &go(&folder, "run n.toml --restart nowhere.nc"),
        &["nowhere.nc"],
    );
    refused(&go(&folder, "run n.toml --restart out"), &["out"]);
    assert_eq!(folder.names("out"), before);
    // A history file is NetCDF of this program, but no checkpoint.
    let outcome = go(
        &folder,
        "run n.toml --set output.directory=\"other\" --set output.samples-per-file=1 \
         --set output.checkpoint-hours=0",
    );
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let history = go(&folder, "run n.toml --restart other/history_0001.nc");
    refused(&history, &["history_0001.nc", "not a checkpoint"]);
}
