//! The arrows between modules: `src/lib.rs` draws the order, the table below says who uses whom,
//! and the sources must agree with both.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that anyone may use.
const LEAVES: [&str; 3] = ["error", "dd", "measure"];

/// Who uses whom. `app` may use everything. A new arrow is a decision: write it down here, and
/// only if it points upwards in the picture of `src/lib.rs`.
const ARROWS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("dd", &[]),
    ("measure", &[]),
    ("grid", &[]),
    ("spectral", &["grid"]),
    ("problem", &["grid", "spectral"]),
    ("decomp", &["spectral"]),
    ("transport", &[]),
    ("swap", &["transport"]),
    ("exchange", &["swap", "transport"]),
    ("bench", &["transport", "swap", "exchange"]),
    ("transform", &["grid", "spectral", "decomp"]),
    (
        "pencil",
        &[
            "grid",
            "spectral",
            "problem",
            "decomp",
            "transport",
            "swap",
            "exchange",
            "transform",
        ],
    ),
    (
        "namelist",
        &[
            "spectral",
            "problem",
            "decomp",
            "transport",
            "swap",
            "exchange",
            "pencil",
        ],
    ),
    ("report", &["problem"]),
    (
        "solver",
        &[
            "grid",
            "spectral",
            "problem",
            "decomp",
            "transport",
            "swap",
            "exchange",
            "transform",
            "pencil",
            "report",
        ],
    ),
    (
        "tune",
        &[
            "problem",
            "decomp",
            "transport",
            "swap",
            "exchange",
            "bench",
            "transform",
            "pencil",
            "report",
            "solver",
        ],
    ),
    ("check", &["grid", "spectral", "problem", "report"]),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Modules named after `crate::` in code, with their lines; `crate::{a, b}` counts, too.
fn used(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + "crate::".len()..];
        let names = match rest.strip_prefix('{') {
            None => vec![rest],
            Some(group) => group[..group.find("};").unwrap_or(group.len())]
                .split(',')
                .collect(),
        };
        for name in names {
            let name: String = name
                .trim_start()
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            found.push((name, line));
        }
    }
    found
}

/// The module a file belongs to; `None` for `main.rs` and `lib.rs`.
fn module(path: &Path) -> Option<String> {
    let below = path.strip_prefix(source()).unwrap();
    let first = below.iter().next().unwrap().to_string_lossy().into_owned();
    let name = first.trim_end_matches(".rs");
    (!["main", "lib"].contains(&name)).then(|| name.to_owned())
}

/// The order of modules in the picture of `src/lib.rs`.
fn picture() -> Vec<String> {
    let text = std::fs::read_to_string(source().join("lib.rs")).unwrap();
    let drawing = text.split("```").nth(1).unwrap();
    let lines = drawing.lines().skip(1);
    lines
        .filter_map(|line| line.strip_prefix("//! "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn modules_use_what_the_table_allows() {
    let table: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let mut files = Vec::new();
    sources(&source(), &mut files);
    assert!(files.len() > 100, "{} sources", files.len());
    let mut unseen: BTreeSet<(String, String)> = ARROWS
        .iter()
        .flat_map(|(from, to)| to.iter().map(|to| ((*from).to_owned(), (*to).to_owned())))
        .collect();
    let mut wrong = Vec::new();
    for file in files {
        let Some(module) = module(&file) else {
            continue;
        };
        if module == "app" {
            continue;
        }
        let Some(allowed) = table.get(&*module) else {
            wrong.push(format!(
                "{}: module {module} is not in the table",
                file.display()
            ));
            continue;
        };
        for (name, line) in used(&std::fs::read_to_string(&file).unwrap()) {
            unseen.remove(&(module.clone(), name.clone()));
            let fine = name == module || LEAVES.contains(&&*name) || allowed.contains(&&*name);
            if !fine {
                wrong.push(format!("{}:{line}: {module} uses {name}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unseen.is_empty(), "arrows that nobody uses: {unseen:?}");
}

#[test]
fn arrows_point_upwards_in_the_picture() {
    let order = picture();
    let place = |name: &str| order.iter().position(|known| known == name);
    for (from, to) in ARROWS {
        let own = place(from).unwrap_or_else(|| panic!("{from} is not in the picture"));
        for to in to.iter().chain(&LEAVES) {
            let other = place(to).unwrap_or_else(|| panic!("{to} is not in the picture"));
            let leaf = LEAVES.contains(from);
            assert!(
                other < own || leaf,
                "{from} uses {to}, which stands below it"
            );
        }
    }
    assert_eq!(order.last().map(String::as_str), Some("app"));
    let text = std::fs::read_to_string(source().join("lib.rs")).unwrap();
    for line in text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
    {
        let name = line.trim_end_matches(';');
        assert!(place(name).is_some(), "{name} is not in the picture");
    }
}

#[test]
fn unsafe_code_is_where_it_may_be() {
    let mut files = Vec::new();
    sources(&source(), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        if text.contains("allow(unsafe_code)") {
            let name = file
                .strip_prefix(source())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let known = ["transport/", "transform/vector.rs", "transform/lane_fft.rs"];
            assert!(known.iter().any(|start| name.starts_with(start)), "{name}");
        }
    }
}
