//! Whether a run may write into a folder, asked before it starts.

use std::fs;
use std::path::Path;

use super::error::OutputError;
use crate::problem::input::{InputError, Source};

/// Whether a run may write into `directory`. Nothing stays written here: a file is made and removed
/// where the folder is, or else in the nearest folder above it, so that a run does not find out
/// after hours.
///
/// A run from the start needs a folder without history files and checkpoints (it need not exist);
/// a restarted run (`restart`) adds to what is there, numbering its history files after the last.
///
/// # Errors
/// [`OutputError::Exists`] names the file in the way, [`OutputError::NotAFolder`] what is not a
/// folder; [`OutputError::Write`] when the system allows no new file there.
pub fn check_target(directory: &Path, restart: bool) -> Result<(), OutputError> {
    for step in directory.ancestors() {
        if step.as_os_str().is_empty() || !step.exists() {
            continue;
        }
        if !step.is_dir() {
            return Err(OutputError::NotAFolder {
                directory: directory.to_path_buf(),
                obstacle: step.to_path_buf(),
            });
        }
        break;
    }
    if !restart {
        must_be_free(directory)?;
    }
    try_to_write(directory)
}

/// Makes and removes a file in `directory`, or in the nearest folder above it that is there.
fn try_to_write(directory: &Path) -> Result<(), OutputError> {
    let there = directory
        .ancestors()
        .map(|step| {
            if step.as_os_str().is_empty() {
                Path::new(".")
            } else {
                step
            }
        })
        .find(|step| step.is_dir())
        .unwrap_or(Path::new("/"));
    let probe = there.join(format!(".pstswm-{}.part", std::process::id()));
    fs::File::create(&probe)
        .and_then(|_| fs::remove_file(&probe))
        .map_err(|error| OutputError::write(directory, error))
}

fn must_be_free(directory: &Path) -> Result<(), OutputError> {
    let ours = |name: &str| history_number(name).is_some() || checkpoint_step(name).is_some();
    match names(directory).into_iter().filter(|n| ours(n)).min() {
        Some(name) => Err(OutputError::Exists {
            directory: directory.to_path_buf(),
            name,
        }),
        None => Ok(()),
    }
}

/// The number of the next history file of `directory`: 1, or after the last one there.
pub fn next_history_number(directory: &Path) -> usize {
    let numbers = names(directory)
        .into_iter()
        .filter_map(|n| history_number(&n));
    numbers.max().map_or(1, |last| last + 1)
}

/// Model time, s, of the last sample in the history files of `directory`; `None`: there is none.
///
/// # Errors
/// The last file cannot be read.
pub fn last_history_time(directory: &Path) -> Result<Option<f64>, InputError> {
    let last = next_history_number(directory) - 1;
    if last == 0 {
        return Ok(None);
    }
    let mut source = Source::open(&directory.join(history_name(last)))?;
    Ok(source.read("time")?.last().copied())
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// The name of history file `number`.
pub(super) fn history_name(number: usize) -> String {
    format!("history_{number:04}.nc")
}

/// `history_0012.nc` is number 12.
fn history_number(name: &str) -> Option<usize> {
    name.strip_prefix("history_")?
        .strip_suffix(".nc")?
        .parse()
        .ok()
}

/// `checkpoint_000000000072.nc` is of step 72.
fn checkpoint_step(name: &str) -> Option<u64> {
    name.strip_prefix("checkpoint_")?
        .strip_suffix(".nc")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::super::atomic::tests::scratch;
    use super::*;

    #[test]
    fn a_folder_of_another_run_is_refused_and_named() {
        let folder = scratch("target");
        check_target(&folder, false).unwrap();
        check_target(&folder.join("not/yet/there"), false).unwrap();
        assert_eq!(next_history_number(&folder), 1);
        fs::write(folder.join("history_0007.nc"), b"x").unwrap();
        let message = check_target(&folder, false).unwrap_err().to_string();
        assert!(message.contains("history_0007.nc"), "{message}");
        assert!(message.contains("another output.directory"), "{message}");
        check_target(&folder, true).unwrap();
        assert_eq!(next_history_number(&folder), 8);
        let file = folder.join("history_0007.nc");
        let message = check_target(&file.join("out"), false)
            .unwrap_err()
            .to_string();
        assert!(message.contains("is not a folder"), "{message}");
    }
}
