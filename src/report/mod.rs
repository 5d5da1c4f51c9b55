//! Results: the record of a run and its forms as text, JSON and CSV.
//!
//! [`record`] is the envelope every kind of result shares, [`run`] the results of `run`, [`mod@env`]
//! those of `env`, [`provenance`] what produced them; docs/results.md defines every field. [`text`] and [`csv`]
//! make strings of them, [`json`] writes files, [`progress`] alone draws on a terminal.

use std::path::PathBuf;

use thiserror::Error;

pub mod csv;
pub mod env;
pub mod env_text;
pub mod json;
pub mod machine;
pub mod measuring;
pub mod netcdf;
pub mod number;
pub mod placement;
pub mod progress;
pub mod provenance;
pub mod record;
pub mod run;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod schema_check;
pub mod swap;
pub mod swap_text;
pub mod text;
pub mod tune;
pub mod tune_text;
pub mod units;

/// Why a result could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The system refused.
    #[error("{path}: cannot {action}: {source}; {remedy}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The path cannot name a file.
    #[error("{path}: {reason}")]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not, and what is needed.
        reason: &'static str,
    },
    /// A path in a folder that may not be written, found before the run.
    #[error("{path}: cannot write there: {source}; choose a path in a folder you may write")]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A record that is not ours, or not of this version.
    #[error("{path}: not a result this program reads: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl From<ReportError> for crate::error::Error {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Format { .. }
            | ReportError::Path { .. }
            | ReportError::Unwritable { .. } => Self::Input(error.to_string()),
            ReportError::Io { .. } => Self::Failed(error.to_string()),
        }
    }
}
