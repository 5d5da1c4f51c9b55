//! One rank's share of the transforms; nothing here communicates.
//!
//! Layout: values of four latitude pairs stand side by side ("lanes", [`LANES`]); four pairs are a
//! *group*. Grid and line data are `[group][longitude][north | south][lane]`; Fourier data are
//! *cells* `[even re | even im | odd re | odd im][lane]`, where north = even + odd and
//! south = even - odd on the way to the grid, and even = north + south, odd = north - south on the
//! way back. The layout is the same from the Legendre transform through the FFT to the grid
//! products, so nothing is reordered on the way.

pub mod fourier;
pub mod kernels;
pub mod lane_fft;
pub mod legendre;
mod mirror;
pub mod peak;
pub mod seeds;
pub mod split_fourier;
pub(crate) mod vector;

/// Latitude pairs side by side in memory.
pub const LANES: usize = 4;

/// One value for each lane.
pub type Lane = [f64; LANES];

/// f64 values of a cell: even and odd, real and imaginary, all lanes.
pub const CELL: usize = 4 * LANES;

/// f64 values of a group at one longitude: north and south, all lanes.
pub const POINT: usize = 2 * LANES;
