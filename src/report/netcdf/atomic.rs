//! Files that appear under their name only when they are whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::OutputError;

/// Writes `path` by `write` under a temporary name of the same folder, syncs it, and renames it.
/// The folder is made when it is not there; what an earlier, dead process left under a temporary
/// name is removed. On failure the temporary file is removed and `path` stays as it was.
///
/// # Errors
/// [`OutputError::Write`] with the words of the system.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), OutputError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(|error| OutputError::write(path, error))?;
    remove_stale(folder);
    let part = part_name(path);
    let outcome = write(&part)
        .and_then(|()| sync(&part).map_err(|error| error.to_string()))
        .and_then(|()| fs::rename(&part, path).map_err(|error| error.to_string()));
    if let Err(reason) = outcome {
        // The cause is reported; a leftover that cannot be removed adds nothing to it.
        let _ = fs::remove_file(&part);
        return Err(OutputError::write(path, reason));
    }
    // The new name itself survives a power cut only once the folder is synced; some file systems
    // do not allow that, and the file is whole all the same.
    let _ = File::open(folder).and_then(|handle| handle.sync_all());
    Ok(())
}

/// The folder of a file, "." for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// `.NAME.PID.part` beside `path`.
fn part_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn sync(path: &Path) -> std::io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Removes temporary files of this program whose process is gone (known where /proc is).
fn remove_stale(folder: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = process_of(&name);
        if process.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
            // It costs nothing but space when it stays.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process in a temporary name of this program, `None` for any other name.
fn process_of(name: &str) -> Option<u32> {
    let inner = name.strip_prefix('.')?.strip_suffix(".part")?;
    let (file, process) = inner.rsplit_once('.')?;
    let ours = file.starts_with("history_") || file.starts_with("checkpoint_");
    if ours && file.ends_with(".nc") {
        process.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A fresh folder for a test, removed in the end.
    pub(in super::super) struct Scratch(PathBuf);

    impl std::ops::Deref for Scratch {
        type Target = Path;
        fn deref(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    pub(in super::super) fn scratch(name: &str) -> Scratch {
        let name = format!("pstswm-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    #[test]
    fn the_name_appears_only_when_the_file_is_whole() {
        let folder = scratch("atomic");
        let path = folder.join("history_0001.nc");
        replace(&path, |part| {
            fs::write(part, b"half").unwrap();
            assert!(!path.exists());
            assert!(process_of(&part.file_name().unwrap().to_string_lossy()).is_some());
            fs::write(part, b"whole").map_err(|e| e.to_string())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&*folder).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_no_temporary_one() {
        let folder = scratch("failure");
        let path = folder.join("checkpoint_1.nc");
        fs::write(&path, b"old").unwrap();
        let error = replace(&path, |part| {
            fs::write(part, b"ne").unwrap();
            Err("No space left on device".to_string())
        })
        .unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&*folder).unwrap().count(), 1);
    }

    #[test]
    fn temporary_files_of_dead_runs_go_and_others_stay() {
        let folder = scratch("stale");
        // No process has this number: the largest of Linux is 4194304.
        fs::write(folder.join(".history_0001.nc.4999999.part"), b"x").unwrap();
        fs::write(folder.join(".history_0001.nc.1.part"), b"x").unwrap();
        fs::write(folder.join(".other.nc.4999999.part"), b"x").unwrap();
        replace(&folder.join("history_0002.nc"), |part| {
            fs::write(part, b"x").map_err(|e| e.to_string())
        })
        .unwrap();
        assert!(!folder.join(".history_0001.nc.4999999.part").exists());
        assert!(folder.join(".history_0001.nc.1.part").exists());
        assert!(folder.join(".other.nc.4999999.part").exists());
    }
}
