//! Transposes and collectives built from swaps, on flat buffers; no numerics.

pub mod choice;
