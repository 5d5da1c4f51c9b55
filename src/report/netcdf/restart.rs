//! Reading a checkpoint back, or saying why not.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::checkpoint::{CheckpointData, MARK, SCALAR, SCHEMA, TEXT, part_name};
use crate::problem::input::{Attribute, InputError, Source};

/// Why a file is no checkpoint to continue from. Always the user's input: exit code 2.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Not there, no NetCDF, truncated, damaged.
    #[error("cannot restart: {0}; give another checkpoint, or start without --restart")]
    Unreadable(#[from] InputError),
    /// NetCDF, but not ours.
    #[error(
        "cannot restart: {} is a NetCDF file, but not a checkpoint of this program (it has no \
         attribute `{MARK}`); checkpoints are the files checkpoint_*.nc of output.directory",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// Another layout.
    #[error(
        "cannot restart: {} is a checkpoint of layout {found}, this program reads layout \
         {SCHEMA}; continue with the version that wrote it",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// Its layout.
        found: String,
    },
    /// Ours, but something is missing or changed.
    #[error(
        "cannot restart: {} is a damaged checkpoint ({reason}); give the checkpoint before it",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl From<CheckpointError> for crate::error::Error {
    fn from(error: CheckpointError) -> Self {
        Self::Input(error.to_string())
    }
}

/// Reads a checkpoint and proves it by its checksum.
///
/// # Errors
/// [`CheckpointError`]: not readable, foreign, another layout, damaged.
pub fn read_checkpoint(path: &Path) -> Result<CheckpointData, CheckpointError> {
    let mut source = Source::open(path)?;
    let file = || path.to_path_buf();
    let damaged = |reason: String| CheckpointError::Damaged {
        file: path.to_path_buf(),
        reason,
    };
    match source.numbers(MARK) {
        None => return Err(CheckpointError::Foreign { file: file() }),
        Some([version]) if *version == f64::from(SCHEMA) => {}
        Some(other) => {
            return Err(CheckpointError::Version {
                file: file(),
                found: other.first().map_or("none".into(), f64::to_string),
            });
        }
    }
    let mut data = head(&source).ok_or_else(|| damaged("its attributes are incomplete".into()))?;
    let given = source.text("checksum").unwrap_or("none").to_string();
    let names: Vec<String> = source.variables().iter().map(|v| v.name.clone()).collect();
    for name in &names {
        let empty = source
            .variable(name)
            .is_some_and(|v| v.number("empty").is_some());
        let values = if empty {
            Vec::new()
        } else {
            source.read(name)?
        };
        match data.fields.last_mut() {
            Some((field, all)) if is_part_of(name, field) => all.extend(values),
            _ => data.fields.push((name.clone(), values)),
        }
    }
    let found = format!("{:016x}", data.checksum());
    if found != given {
        return Err(damaged(format!(
            "its checksum is {found}, it should be {given}"
        )));
    }
    Ok(data)
}

/// Whether a variable continues a field.
fn is_part_of(variable: &str, field: &str) -> bool {
    let number = variable
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix(".part"));
    number
        .and_then(|n| n.parse::<usize>().ok())
        .is_some_and(|n| n >= 2 && part_name(field, n - 1) == variable)
}

/// Everything but the fields.
fn head(source: &Source) -> Option<CheckpointData> {
    let size = |value: f64| (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
    let [m, n, k] = source.numbers("truncation")? else {
        return None;
    };
    let mut data = CheckpointData {
        step: source.text("step")?.parse().ok()?,
        time: *source.numbers("time")?.first()?,
        truncation: [size(*m)?, size(*n)?, size(*k)?],
        levels: size(*source.numbers("levels")?.first()?)?,
        ..CheckpointData::default()
    };
    for (name, value) in source.attributes() {
        match value {
            Attribute::Numbers(list) => {
                if let (Some(name), [value]) = (name.strip_prefix(SCALAR), list.as_slice()) {
                    data.scalars.push((name.to_string(), *value));
                }
            }
            Attribute::Text(value) => {
                if let Some(name) = name.strip_prefix(TEXT) {
                    data.text.push((name.to_string(), value.clone()));
                }
            }
        }
    }
    Some(data)
}
