//! What is under way, kept on disk: a run that hangs over MPI cannot be mended from within, but the
//! next one can leave out what it hung in.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// What begins and what ends; each a line of the file.
pub(super) struct Journal {
    file: Option<File>,
    /// Begun and not ended in earlier runs.
    unended: Vec<String>,
    under_way: Option<String>,
}

const BEGIN: &str = "begin ";
const END: &str = "end ";

impl Journal {
    /// None on disk.
    pub(super) fn none() -> Self {
        Self {
            file: None,
            unended: Vec::new(),
            under_way: None,
        }
    }

    /// That of a file, which is made where there is none.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that is no journal.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::none());
        };
        let refuse = |why: String| Error::Input(format!("--journal {}: {why}", path.display()));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(refuse(format!("cannot be read: {error}"))),
        };
        let mut unended: Vec<String> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = line.strip_prefix(BEGIN) {
                unended.push(name.to_owned());
            } else if let Some(name) = line.strip_prefix(END) {
                unended.retain(|begun| begun != name);
            } else {
                return Err(refuse(format!(
                    "line {}: is no line of a journal (begin ..., end ...); give a new file",
                    number + 1
                )));
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| refuse(format!("cannot be written: {error}")))?;
        Ok(Self {
            file: Some(file),
            unended,
            under_way: None,
        })
    }

    /// Notes that a candidate's first exchange begins, or that it has ended.
    pub(super) fn note(&mut self, name: &str, begins: bool) {
        self.under_way = begins.then(|| name.to_owned());
        if let Some(file) = &mut self.file {
            let word = if begins { BEGIN } else { END };
            // A journal that cannot be written must not end the search.
            let _ = file.write_all(format!("{word}{name}\n").as_bytes());
            let _ = file.flush();
        }
    }

    /// What earlier runs did not end.
    pub(super) fn unended(&self) -> &[String] {
        &self.unended
    }

    /// The candidate that was under way when ranks failed; it no longer is.
    pub(super) fn take_under_way(&mut self) -> Option<String> {
        self.under_way.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_end_is_left() {
        let name = format!("pstswm-journal-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut journal = Journal::open(Some(&path)).unwrap();
        assert!(journal.unended().is_empty());
        journal.note("a b", true);
        journal.note("a b", false);
        journal.note("c", true);
        assert_eq!(journal.take_under_way().as_deref(), Some("c"));
        let again = Journal::open(Some(&path)).unwrap();
        assert_eq!(again.unended(), ["c"]);
        std::fs::write(&path, "nonsense\n").unwrap();
        assert!(Journal::open(Some(&path)).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
