//! Spectral space: truncations, associated Legendre functions, projections.

pub mod column;
pub mod legendre;
pub mod project;
pub mod truncation;
