//! Spectral space: truncations, associated Legendre functions, projections.

pub mod truncation;
