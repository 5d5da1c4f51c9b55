//! `--json` and `--csv`, looked at before a run.

use std::path::{Path, PathBuf};

use super::cli::RunOptions;
use super::session::Session;
use crate::error::{Error, Result};
use crate::problem::definition::Mountain;
use crate::report::json;

/// Whether the files of the result can be written, and are none of those that are read: the same
/// file counts by whatever path.
///
/// # Errors
/// A file that is read, too; a path that cannot be written.
pub(super) fn check(options: &RunOptions, session: &Session) -> Result<()> {
    let problem = &session.namelist.problem;
    let mountain = match &problem.mountain {
        Mountain::File { path, .. } => Some(path.as_path()),
        _ => None,
    };
    let mut taken = vec![
        ("FILE", Some(options.file.as_path())),
        ("--restart", options.restart.as_deref()),
        (
            "problem.file.path",
            problem.file.as_ref().map(|file| file.path.as_path()),
        ),
        ("problem.mountain-file", mountain),
        (
            "problem.reference.path",
            problem.reference.as_ref().map(|file| file.path.as_path()),
        ),
    ];
    let results = [("--json", &options.json), ("--csv", &options.csv)];
    for (option, path) in results {
        let Some(path) = path.as_deref() else {
            continue;
        };
        let same = |other: &Path| same(other, path);
        if let Some((other, _)) = taken.iter().find(|(_, other)| other.is_some_and(same)) {
            return Err(Error::Input(format!(
                "{option} {}: is the file of {other}, too; give each a file of its own",
                path.display()
            )));
        }
        if same(&session.namelist.output.directory) {
            return Err(Error::Input(format!(
                "{option} {}: is output.directory, too; give the name of a file",
                path.display()
            )));
        }
        taken.push((option, Some(path)));
        json::check_writable(path)?;
    }
    Ok(())
}

/// Whether two paths are those of one file.
pub(super) fn same(a: &Path, b: &Path) -> bool {
    a == b || resolved(a) == resolved(b)
}

/// A path without links and dots, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let whole = path.canonicalize();
    whole.unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            let folder = if folder == Path::new("") {
                Path::new(".")
            } else {
                folder
            };
            let folder = folder.canonicalize();
            folder.map_or_else(|_| path.to_owned(), |folder| folder.join(name))
        }
        _ => path.to_owned(),
    })
}
