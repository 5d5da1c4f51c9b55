//! The shallow-water equations in vorticity-divergence form, on top of the distributed transform.
//!
//! With `mu = sin(lat)`, `U = u cos(lat)`, `V = v cos(lat)`, `eta = zeta + f`,
//! `g (h - h_s) = Phibar + Phi` and `KE = (U^2 + V^2) / (2 (1 - mu^2))`
//! (Hack & Jakob 1992, NCAR/TN-343):
//!
//! ```text
//! d(zeta)/dt  = - div_s(U eta, V eta)
//! d(delta)/dt = + curl_s(U eta, V eta) - laplacian(KE + Phi + g h_s)
//! d(Phi)/dt   = - div_s(U Phi, V Phi) - Phibar delta
//! ```
//!
//! Time history is kept in spectral space: a step takes 4 transforms to the grid and 5 back.

mod blowup;
mod check;
pub mod checkpoint;
pub mod checksum;
mod damping;
pub mod diagnostics;
mod forcing;
mod from_file;
mod gather;
mod leapfrog;
pub mod model;
pub mod moment;
pub(crate) mod operators;
mod products;
mod rk4;
mod start;
mod state;
mod sums;
mod tendency;

pub use blowup::BlowUp;
pub use model::{Model, SolverError};
pub use state::State;
