//! Transposes, vector sums and collectives built from swaps, on flat buffers; no numerics.

pub mod choice;
pub mod collective;
pub mod eager;
pub mod gather;
pub mod logarithmic;
pub mod pair;
pub mod plan;
mod scratch;
pub mod steps;
pub mod sum;
pub mod transpose;
mod unpacking;

pub use crate::swap::PlanError;
pub use plan::Plan;
pub use sum::{SumPlan, VectorSum};
pub use transpose::{Movement, Transpose};
