//! The Gaussian grid.

pub mod gauss;
