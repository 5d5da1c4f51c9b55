//! What the tests of whole runs share.

#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pstswm::app::run::integrate;
use pstswm::app::session::Session;
use pstswm::namelist;
use pstswm::report::run::RunRecord;

/// A fresh folder that goes away with the value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pstswm-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Names in a folder below this one, sorted; none where there is no such folder.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.0.join(below)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Reproducible numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }
}

/// Keys of a namelist that writes no files.
pub(crate) const NO_FILES: [&str; 2] = ["output.samples-per-file=0", "output.checkpoint-hours=0"];

/// A session of a namelist that writes nothing, given as overrides of an empty file.
pub(crate) fn session(sets: &[&str], ranks: usize) -> Session {
    let sets: Vec<String> = NO_FILES
        .iter()
        .chain(sets)
        .map(|set| (*set).to_owned())
        .collect();
    let list = namelist::parse("", "test.toml", Path::new("."), &sets)
        .unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    Session::new(list, ranks).unwrap_or_else(|error| panic!("{sets:?}: {error}"))
}

/// Integrates silently.
pub(crate) fn integrated(sets: &[&str], ranks: usize) -> RunRecord {
    let session = session(sets, ranks);
    integrate(&session, None, false).unwrap_or_else(|error| panic!("{sets:?}: {error}"))
}

/// The program, with nothing of a launcher in its environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pstswm"));
    for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"] {
        command.env_remove(name);
    }
    command
}

/// What a run of the program printed and how it ended.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program in `folder`.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = program()
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    output.into()
}

/// The checksum in what a run printed.
pub(crate) fn printed_checksum(stdout: &str) -> String {
    let line = stdout
        .lines()
        .find(|line| line.to_lowercase().contains("checksum"))
        .unwrap_or_else(|| panic!("no checksum in:\n{stdout}"));
    line.split_whitespace()
        .find(|word| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .unwrap_or_else(|| panic!("no checksum in: {line}"))
        .to_owned()
}
