//! What results are compared with, and whether they pass.
//!
//! [`figure`] is one number with what is allowed; [`fields`] has norms between states on the same
//! grid, [`coefficients`] symmetries of the spectral series, [`points`] the stored reference
//! values. Nothing here runs a model.

pub mod coefficients;
pub mod fields;
pub mod figure;
pub mod points;
