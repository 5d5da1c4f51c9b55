//! The distributed transform: where numerics and movement meet.
//!
//! ```text
//! spectral units      (m, level) of this rank, every degree, every latitude   legendre
//!    <-> legendre transpose, along the mesh column
//! Fourier cells       wavenumbers of this column, latitudes of this row
//!    <-> fft transpose, along the mesh row (double transpose only)
//! lines               whole circles of latitude                               fourier
//!    <-> fft transpose, along the mesh row
//! grid                longitudes of this column, latitudes of this row, every level
//! ```
//!
//! The solver sees [`Pencil::inverse`] and [`Pencil::forward`], and no rank.

mod buffers;
mod butterfly;
mod cells;
pub mod choice;
mod degree_sum;
mod evaluate;
mod from_grid;
mod maps;
mod movements;
mod moves;
pub mod spectral_layout;
mod stage;
mod to_grid;
mod transform;
mod unpack;
mod window;

pub use evaluate::Evaluation;
pub use movements::Movements;
pub use spectral_layout::SpectralLayout;
pub use transform::{GridShape, Pencil, PencilError};

/// Fields that go to the grid in a step: vorticity, geopotential, U and V.
pub const INVERSE_FIELDS: usize = 4;

/// Fields that come back: U eta, V eta, U Phi, V Phi and the kinetic energy.
pub const FORWARD_FIELDS: usize = 5;
