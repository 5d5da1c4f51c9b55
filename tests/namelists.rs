//! Namelists: the ready ones, those of `init`, and what is said about bad ones.

use std::fs;
use std::path::{Path, PathBuf};

use pstswm::app::{init, list};
use pstswm::namelist::{self, Namelist, NamelistError, check_ranks};
use pstswm::problem::definition::{CaseName, Mountain, Scheme};

fn parse(text: &str) -> Result<Namelist, NamelistError> {
    namelist::parse(text, "bad.toml", Path::new("."), &[])
}

/// A fresh folder with the files that namelists name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    for file in ["analysis.nc", "mountain.nc", "reference.nc"] {
        fs::write(folder.join(file), "").unwrap();
    }
    folder
}

fn same(one: &Namelist, other: &Namelist) {
    assert_eq!(one.problem, other.problem);
    assert_eq!(one.time, other.time);
    assert_eq!(one.algorithm, other.algorithm);
    assert_eq!(one.output, other.output);
    assert_eq!(one.measure, other.measure);
    assert_eq!(one.resolved, other.resolved);
}

#[test]
fn init_texts_load_and_resolve_to_themselves() {
    let folder = folder("init");
    for case in CaseName::ALL {
        let text = init::namelist(case.name()).unwrap();
        let first = namelist::parse(&text, case.name(), &folder, &[])
            .unwrap_or_else(|error| panic!("{}:\n{error}", case.name()));
        assert_eq!(first.problem.case, case);
        let again = namelist::parse(&first.resolved, "resolved", &folder, &[])
            .unwrap_or_else(|error| panic!("{}:\n{error}\n{}", case.name(), first.resolved));
        same(&first, &again);
    }
}
