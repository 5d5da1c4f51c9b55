//! What can be wrong with a file of fields.

use std::path::PathBuf;

use thiserror::Error;

/// Why a file, or something in it, cannot be used. Always the user's input: exit code 2.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// The system refused.
    #[error("cannot read {}: {reason}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Another format.
    #[error("{} is not a NetCDF file (it begins with {found})", file.display())]
    NotNetCdf {
        /// The file.
        file: PathBuf,
        /// Its first bytes.
        found: String,
    },
    /// A format this build cannot read.
    #[error(
        "{} is a {format} file; {advice}convert it with `nccopy -k 'classic' in.nc out.nc`",
        file.display()
    )]
    OtherNetCdf {
        /// The file.
        file: PathBuf,
        /// Which format.
        format: &'static str,
        /// What else would help; ends with "or " when not empty.
        advice: &'static str,
    },
    /// Shorter than its header says.
    #[error(
        "{} is truncated: it has {has} bytes, its header promises {needs}; copy it again",
        file.display()
    )]
    Truncated {
        /// The file.
        file: PathBuf,
        /// Bytes there.
        has: u64,
        /// Bytes needed.
        needs: u64,
    },
    /// The header makes no sense.
    #[error("{} is damaged or no NetCDF file: {reason}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A variable that is needed is not there.
    #[error("{} has no {wanted} (looked for {tried}); its variables are {has}", file.display())]
    NoVariable {
        /// The file.
        file: PathBuf,
        /// What was wanted.
        wanted: String,
        /// Which names were tried.
        tried: String,
        /// What the file has.
        has: String,
    },
    /// A time that is not there.
    #[error(
        "{}: time-index = {index}, but variable `{variable}` has {}", file.display(),
        times(*count)
    )]
    TimeIndex {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
        /// The index asked for.
        index: usize,
        /// How many times there are.
        count: usize,
    },
    /// A variable that cannot be used: units, dimensions, values.
    #[error("{}: variable `{variable}` {reason}", file.display())]
    Variable {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
        /// What is wrong, and what is allowed.
        reason: String,
    },
}

/// How many times there are, and which indices that allows.
fn times(count: usize) -> String {
    match count {
        0 => "no time at all: the file is empty".to_owned(),
        1 => "1 time: allowed is 0".to_owned(),
        _ => format!("{count} times: allowed is 0 to {}", count - 1),
    }
}

impl From<InputError> for crate::error::Error {
    fn from(error: InputError) -> Self {
        Self::Input(error.to_string())
    }
}
