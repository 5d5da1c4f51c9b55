//! Measuring programs on any transport: the swap test, of pairs of ranks and of patterns of all.
//!
//! [`case`] says what is measured, [`clock`] lets all ranks start at one time, [`mover`] does one
//! swap through the very code of the model's transposes, [`data`] fills and checks the buffers,
//! [`sweep`] takes the samples.

pub mod case;
pub mod clock;
pub mod data;
pub mod mover;
pub mod pattern;
pub mod sweep;
