//! Results as JSON, written so that a file of that name is always whole.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ReportError;
use super::record::{Record, SCHEMA};

/// A record as indented JSON with a final newline.
pub fn to_string<R: Serialize, I: Serialize>(
    record: &Record<R, I>,
) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(record).map(|text| text + "\n")
}

/// Writes a record to a file, whole or not at all.
///
/// # Errors
/// [`ReportError::Io`] when the disk is full or the path is not writable; whatever file had the
/// name before is then untouched.
pub fn write<R: Serialize, I: Serialize>(
    path: &Path,
    record: &Record<R, I>,
) -> Result<(), ReportError> {
    let text = to_string(record).map_err(|error| ReportError::Io {
        path: path.to_owned(),
        action: "write the result as JSON",
        source: error.into(),
        remedy: "this is a fault of the program, please report it",
    })?;
    write_atomically(path, text.as_bytes())
}

/// Reads a record of this schema. Types of `input` and `results` may be `serde_json::Value`.
///
/// # Errors
/// [`ReportError::Io`] when unreadable, [`ReportError::Format`] when it is something else.
pub fn read<R: DeserializeOwned, I: DeserializeOwned>(
    path: &Path,
) -> Result<Record<R, I>, ReportError> {
    let text = fs::read_to_string(path).map_err(|source| ReportError::Io {
        path: path.to_owned(),
        action: "read the result",
        source,
        remedy: "give the path of a file written with --json",
    })?;
    let format = |reason: String| ReportError::Format {
        path: path.to_owned(),
        reason,
    };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| format(e.to_string()))?;
    match value.get("schema").and_then(|schema| schema.as_str()) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|e| format(e.to_string())),
        Some(other) => Err(format(format!(
            "schema is {other:?}, this program reads {SCHEMA:?}"
        ))),
        None => Err(format(format!(
            "it has no key \"schema\"; expected {SCHEMA:?}"
        ))),
    }
}

/// Writes a file under a temporary name in the same folder, flushes it to the disk and renames
/// it: a reader sees the old content or the new, never a part. The temporary file of a failed
/// write is removed. Devices, pipes and links are refused: a rename would put a file in their
/// place.
///
/// # Errors
/// [`ReportError::Io`], [`ReportError::Path`].
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), ReportError> {
    must_be_plain(path)?;
    let temporary = temporary_name(path)?;
    let io = |action| {
        move |source| ReportError::Io {
            path: path.to_owned(),
            action,
            source,
            remedy: "free space or choose another path",
        }
    };
    let written = File::create(&temporary)
        .and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        })
        .map_err(io("write"))
        .and_then(|()| fs::rename(&temporary, path).map_err(io("give the new file its name")));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Finds out before the run whether [`write_atomically`] can succeed, by creating and removing
/// a temporary file beside the path. The file itself is not touched.
///
/// # Errors
/// [`ReportError::Path`] when the path is a folder, a device, a pipe or a link, or its folder is
/// missing, [`ReportError::Unwritable`] when the folder may not be written.
pub fn check_writable(path: &Path) -> Result<(), ReportError> {
    let wrong = |reason| {
        Err(ReportError::Path {
            path: path.to_owned(),
            reason,
        })
    };
    if path.is_dir() {
        return wrong("is a folder; give the name of a file");
    }
    if !folder(path).is_dir() {
        return wrong("its folder does not exist; create it first");
    }
    must_be_plain(path)?;
    let temporary = temporary_name(path)?;
    File::create(&temporary)
        .and_then(|_| fs::remove_file(&temporary))
        .map_err(|source| ReportError::Unwritable {
            path: path.to_owned(),
            source,
        })
}

/// Refuses a path where something stands that is no regular file. A folder is left to the caller.
fn must_be_plain(path: &Path) -> Result<(), ReportError> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => Err(ReportError::Path {
            path: path.to_owned(),
            reason: "is a device, a pipe or a link; give the name of a new or a regular file",
        }),
        _ => Ok(()),
    }
}

/// The folder that holds a path.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A name beside the path that no other process uses.
fn temporary_name(path: &Path) -> Result<PathBuf, ReportError> {
    let Some(name) = path.file_name() else {
        return Err(ReportError::Path {
            path: path.to_owned(),
            reason: "has no file name; give the name of a file",
        });
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    Ok(folder(path).join(temporary))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fresh folder, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let id = std::process::id();
            let path = std::env::temp_dir().join(format!("pstswm-report-{name}-{id}"));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn entries(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = Folder::new("replace");
        let path = folder.0.join("a.json");
        check_writable(&path).unwrap();
        assert_eq!(folder.entries(), 0);
        write_atomically(&path, b"old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(folder.entries(), 1);
    }

    #[test]
    fn unwritable_paths_are_known_before_the_run() {
        let folder = Folder::new("unwritable");
        let missing = folder.0.join("no/such/folder/a.json");
        let text = check_writable(&missing).unwrap_err().to_string();
        assert!(text.contains("folder does not exist"), "{text}");
        let text = check_writable(&folder.0).unwrap_err().to_string();
        assert!(text.contains("is a folder"), "{text}");
        let error: crate::error::Error = check_writable(Path::new("/")).unwrap_err().into();
        assert_eq!(error.exit_code(), 2);
        if cfg!(target_os = "linux") {
            let error = check_writable(Path::new("/proc/a.json")).unwrap_err();
            assert!(error.to_string().contains("cannot write there"), "{error}");
            assert_eq!(crate::error::Error::from(error).exit_code(), 2);
        }
        assert!(write_atomically(&missing, b"x").is_err());
        check_writable(Path::new("bare-name-in-the-present-folder.json")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_device_is_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = Folder::new("link");
        let (target, link) = (folder.0.join("target"), folder.0.join("link"));
        fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let text = check_writable(&link).unwrap_err().to_string();
        assert!(text.contains("a link"), "{text}");
        assert!(write_atomically(&link, b"new").is_err());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"old");
        let pipe = folder.0.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&pipe).unwrap();
        assert!(check_writable(&pipe).is_err());
        assert!(write_atomically(&pipe, b"new").is_err());
        let kind = fs::symlink_metadata(&pipe).unwrap().file_type();
        assert!(kind.is_socket());
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = Folder::new("failed");
        let path = folder.0.join("target");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("occupied"), b"x").unwrap();
        assert!(write_atomically(&path, b"content").is_err());
        assert_eq!(folder.entries(), 1);
    }

    #[test]
    fn foreign_files_are_refused_with_a_reason() {
        let folder = Folder::new("foreign");
        let path = folder.0.join("a.json");
        for (text, expected) in [
            ("{", "EOF"),
            ("{}", "no key \"schema\""),
            (r#"{"schema": "pstswm/2"}"#, "\"pstswm/2\""),
            (r#"{"schema": "pstswm/1"}"#, "missing field"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read::<serde_json::Value, serde_json::Value>(&path).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(matches!(
            read::<serde_json::Value, serde_json::Value>(&folder.0.join("none")),
            Err(ReportError::Io { .. })
        ));
    }
}
