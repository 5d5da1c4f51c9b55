//! Spectral space: truncations, associated Legendre functions, projections.

pub mod legendre;
pub mod truncation;
