//! Spectral space: truncations, associated Legendre functions, projections.

pub mod project;
pub mod truncation;
