//! What can go wrong when a file is written.

use std::path::PathBuf;

use thiserror::Error;

/// Why an output file could not be written, or may not be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The target folder holds files of another run: an input error, found before the run.
    #[error(
        "output.directory = \"{}\" already holds {} of an earlier run: choose another \
         output.directory, or move that file away",
        directory.display(), name
    )]
    Exists {
        /// The folder.
        directory: PathBuf,
        /// The file in the way.
        name: String,
    },
    /// The target is no folder: an input error, found before the run.
    #[error(
        "output.directory = \"{}\" cannot be used: {} is not a folder",
        directory.display(), obstacle.display()
    )]
    NotAFolder {
        /// The folder asked for.
        directory: PathBuf,
        /// What is in its way.
        obstacle: PathBuf,
    },
    /// The sample is too large for the format: an input error, found before the run.
    #[error(
        "a history sample of {levels} levels x {nlat} x {nlon} points has {bytes} bytes per \
         field; output.format = \"classic\" allows 4294967288: use output.format = \"netcdf4\" \
         (feature netcdf4), fewer levels, or output.samples-per-file = 0 for no history"
    )]
    TooLarge {
        /// Levels.
        levels: usize,
        /// Latitudes.
        nlat: usize,
        /// Longitudes.
        nlon: usize,
        /// Bytes of a field in one sample.
        bytes: u128,
    },
    /// The build lacks the feature: an input error, found before the run.
    #[error(
        "output.format = \"netcdf4\" needs a build with --features netcdf4; this build writes \
         \"classic\""
    )]
    NoNetCdf4,
    /// A sample does not fit the plan: a fault of the program, not of the user.
    #[error("history sample: {0}")]
    Shape(String),
    /// The system refused: no space, no permission.
    #[error("cannot write {}: {reason}; files finished earlier are whole", path.display())]
    Write {
        /// The final name of the file.
        path: PathBuf,
        /// What the system or the library said.
        reason: String,
    },
}

impl OutputError {
    /// The error of writing `path`.
    pub(super) fn write(path: &std::path::Path, reason: impl std::fmt::Display) -> Self {
        Self::Write {
            path: path.to_path_buf(),
            reason: reason.to_string(),
        }
    }
}

impl From<OutputError> for crate::error::Error {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { .. } | OutputError::Shape(_) => Self::Failed(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}
