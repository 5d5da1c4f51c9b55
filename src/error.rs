//! The program's error: one message, one exit code.

use thiserror::Error;

/// Why a command did not do what was asked. The variant decides the exit code.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Usage or bad input: exit code 2, nothing written.
    #[error("{0}")]
    Input(String),
    /// The run failed: blow-up, lost rank, unwritable output. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The run ended, but its result is INVALID. Exit code 3.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// The process exit code (0 is success).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Input(_) => 2,
            Self::Invalid(_) => 3,
        }
    }
}

/// A result with the program's error.
pub type Result<T> = std::result::Result<T, Error>;
