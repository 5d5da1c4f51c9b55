//! What is integrated: the sphere, the test cases, states from files.

pub mod cases;
pub mod definition;
pub mod input;
pub mod planet;
