//! README and docs/ say what the program does: links, paths, commands, keys, and the tables made
//! from the code.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;
use pstswm::app::cli::Cli;
use pstswm::namelist::choices::legal_orders;
use pstswm::namelist::{self, keys};
use pstswm::swap::call::{Call, Leg};
use pstswm::swap::method::Method;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::step::{Kind, Role, Stage, Step, stage_calls};

/// Folders of the repository: a path in backticks that starts with one must exist.
const FOLDERS: [&str; 7] = [
    "src/",
    "docs/",
    "tests/",
    "namelists/",
    "scripts/",
    "validation/",
    "benches/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README and every chapter: path and text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec![root().join("README.md")];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Lines inside fences with the fence's language, and lines outside (`None`).
fn lines(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut fence = None;
    let mut result = Vec::new();
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(language), None) => fence = Some(language.trim()),
            (Some(_), Some(_)) => fence = None,
            (None, _) => result.push((fence, line)),
        }
    }
    result
}

/// Words in backticks outside of fences.
fn ticked(text: &str) -> Vec<&str> {
    lines(text)
        .into_iter()
        .filter(|(fence, _)| fence.is_none())
        .flat_map(|(_, line)| line.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in pages() {
        for (_, line) in lines(&text) {
            for rest in line.split("](").skip(1) {
                let target = rest.split(')').next().unwrap();
                let file = target.split('#').next().unwrap();
                let external = target.contains("://") || target.starts_with("mailto:");
                if external || file.is_empty() || path.parent().unwrap().join(file).exists() {
                    continue;
                }
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn files_named_exist() {
    let mut missing = Vec::new();
    for (path, text) in pages() {
        let fenced = lines(&text)
            .into_iter()
            .filter(|(fence, _)| fence.is_some())
            .flat_map(|(_, line)| line.split_whitespace());
        for word in ticked(&text)
            .into_iter()
            .flat_map(str::split_whitespace)
            .chain(fenced)
        {
            let word = word.trim_end_matches([',', ';', ':', '.', ')']);
            let ours = FOLDERS.iter().any(|folder| word.starts_with(folder));
            let placeholder = word.contains(['*', '<', '{', 'N']) && !root().join(word).exists();
            if ours && !placeholder && !root().join(word).exists() {
                missing.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Words of a shell line up to a pipe, redirection or comment; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (c, quote) {
            ('|' | '>' | '#' | ';' | '&', None) => break,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Every command line of the program on a page.
fn commands(text: &str) -> Vec<Vec<String>> {
    let fenced = lines(text)
        .into_iter()
        .filter(|(fence, _)| fence.is_some())
        .map(|(_, line)| line.trim().trim_start_matches("$ "));
    let mut found = Vec::new();
    for line in ticked(text).into_iter().chain(fenced) {
        let line = line.strip_prefix("cargo run --release -- ").map_or_else(
            || line.to_owned(),
            |arguments| format!("pstswm {arguments}"),
        );
        if line.starts_with("pstswm ") && !line.contains("...") {
            // What is optional is tried too; N stands for a number.
            let line = line.replace(['[', ']'], " ");
            let word = |word: String| if word == "N" { "2".to_owned() } else { word };
            found.push(words(&line).into_iter().map(word).collect());
        }
    }
    found
}

#[test]
fn commands_parse() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, text) in pages() {
        for command in commands(&text) {
            count += 1;
            let told = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
            match Cli::try_parse_from(&command) {
                Err(error) if !told.contains(&error.kind()) => {
                    wrong.push(format!("{}: {command:?}: {error}", path.display()));
                }
                _ => {}
            }
            for set in command.windows(2).filter(|pair| pair[0] == "--set") {
                let key = set[1].split('=').next().unwrap();
                if key != "table.key" && !is_key(key) {
                    wrong.push(format!("{}: no key {key}", path.display()));
                }
            }
        }
    }
    assert!(count > 10, "only {count} commands found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_key(path: &str) -> bool {
    let Some((table, key)) = path.rsplit_once('.') else {
        return false;
    };
    keys::find(table, key).is_some()
}

/// Keys in backticks with their table, `time.dt` or `[problem.file]`, exist.
#[test]
fn keys_exist() {
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        for word in ticked(&text) {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
            let (table, name) = match word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
                Some(table) => (true, table),
                None => (false, word.split([' ', '=']).next().unwrap()),
            };
            let first = name.split('.').next().unwrap();
            let ours = ["problem", "time", "algorithm", "output", "measure"].contains(&first);
            if !ours || !name.contains('.') || !name.chars().all(plain) {
                continue;
            }
            let is_table = keys::KEYS.iter().any(|key| key.table == name);
            if !(if table {
                is_table
            } else {
                is_table || is_key(name)
            }) {
                wrong.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Namelists shown on the pages are namelists; those without a case get one.
#[test]
fn namelists_shown_are_right() {
    let mut count = 0;
    for (path, text) in pages() {
        let mut shown: Vec<String> = Vec::new();
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with("```") {
                inside = line == "```toml";
                if inside {
                    shown.push(String::new());
                }
            } else if inside && let Some(last) = shown.last_mut() {
                last.push_str(line);
                last.push('\n');
            }
        }
        for mut text in shown {
            count += 1;
            if !text.contains("case =") {
                text = format!("[problem]\ncase = \"williamson-2\"\n{text}");
            }
            if let Err(error) = namelist::parse(&text, "shown", root(), &[]) {
                panic!("{}:\n{text}\n{error}", path.display());
            }
        }
    }
    assert!(count > 0);
}

#[test]
fn readme_begins_with_the_two_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let first: Vec<&str> = text.lines().take(40).collect();
    for command in [
        "cargo run --release -- run namelists/quickstart.toml --ranks 2",
        "cargo test",
    ] {
        assert!(first.contains(&command), "{command}");
    }
}

/// Tables made from the code: `UPDATE=1 cargo test --test docs` writes them.
#[test]
fn tables_are_those_of_the_code() {
    let path = root().join("docs/communication.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut new = text.clone();
    for (name, table) in [("protocols", protocols()), ("calls", calls())] {
        let start = format!("<!-- made by tests/docs.rs: {name} -->\n");
        let (before, rest) = new.split_once(&start).unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        new = format!("{before}{start}\n{table}\n<!-- end -->{after}");
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &new).unwrap();
    } else {
        assert!(
            text == new,
            "docs/communication.md is old: run UPDATE=1 cargo test --test docs"
        );
    }
}

fn protocols() -> String {
    let mut table = "| number | name | send mode | send returns at once | early receive | \
                     handshake | legal orders |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    let yes = |flag: bool| if flag { "yes" } else { "no" };
    for protocol in Protocol::all() {
        let row = protocol.row();
        let handshake = match (row.handshake, row.combined) {
            (_, true) => "when ordered",
            (handshake, _) => yes(handshake),
        };
        table += &format!(
            "| {} | `{}` | {} | {} | {} | {handshake} | {} |\n",
            row.number,
            row.name,
            row.mode.name(),
            yes(row.immediate_send),
            yes(row.early_receive),
            legal_orders(protocol)
        );
    }
    table
}

fn calls() -> String {
    let mut table =
        "| protocol | simple | ordered, lower rank | ordered, higher rank | delayed |\n\
                     |---|---|---|---|---|\n"
            .to_owned();
    for protocol in Protocol::all() {
        table += &format!(
            "| `{}` | {} | {} | {} | {} |\n",
            protocol.name(),
            call_names(protocol, Order::Simple, Role::First),
            call_names(protocol, Order::Ordered, Role::First),
            call_names(protocol, Order::Ordered, Role::Second),
            call_names(protocol, Order::Delayed, Role::First),
        );
    }
    table
}

/// The calls of a swap, stages apart.
fn call_names(protocol: Protocol, order: Order, role: Role) -> String {
    if !protocol.legal_with(order) {
        return "not legal".to_owned();
    }
    let method = Method {
        order,
        protocol,
        handshake: false,
        max_requests: 0,
        overlap: false,
    };
    let leg = Some(Leg {
        peer: 1,
        tag: 0,
        start: 0,
        len: 1,
    });
    let step = Step {
        kind: Kind::Swap,
        role,
        send: leg,
        recv: leg,
    };
    let stages = [Stage::Start, Stage::Exchange, Stage::Finish].map(|stage| {
        let mut calls: Vec<Call> = Vec::new();
        stage_calls(&method, &step, 0, stage, &mut calls);
        if calls.is_empty() {
            return "-".to_owned();
        }
        let names: Vec<&str> = calls.iter().map(Call::name).collect();
        names.join(", ")
    });
    stages.join(" / ")
}
