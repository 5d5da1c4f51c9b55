//! Fields from NetCDF files: found, checked, and brought into one order.
//!
//! Classic files in every build, NetCDF-4 with feature `netcdf4`. What the reader cannot make
//! sense of it refuses, with the file, the variable, and what is allowed; no content of a file
//! makes it panic.

mod error;
mod field;
mod grid;
mod header;
mod quadrature;
mod source;
mod state;
mod stswm;
#[cfg(feature = "netcdf4")]
mod system;
mod variables;

/// As a time index: the last time of the file.
pub const LAST_TIME: usize = usize::MAX;

pub use error::InputError;
pub use field::GridField;
pub use grid::{GridKind, LatLonGrid};
pub use source::{Attribute, Source, VariableInfo};
pub use state::{FileState, GridState, StateReader, Wind, read_state, read_surface};
pub use stswm::{SpectralState, read_stswm};
pub use variables::Quantity;
