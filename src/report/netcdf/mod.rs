//! NetCDF output: history files and checkpoints.
//!
//! Everything is written whole, under a temporary name in the same folder, synced, and only then
//! renamed: a killed run leaves whole files under final names and at most one `.NAME.PID.part`.
//! The classic format goes through the crate `netcdf3`, NetCDF-4 through the system's library
//! (feature `netcdf4`).

mod atomic;
mod check;
mod checkpoint;
mod classic;
mod document;
mod error;
mod history;
#[cfg(feature = "netcdf4")]
mod netcdf4;
mod restart;

pub use check::{check_target, last_history_time, next_history_number};
pub use checkpoint::{CheckpointData, CheckpointWriter, checkpoint_name};
pub use error::OutputError;
pub use history::{HistoryPlan, HistoryWriter, LevelFields, Sample};
pub use restart::{CheckpointError, read_checkpoint};
