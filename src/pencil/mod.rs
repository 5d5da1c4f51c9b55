//! The distributed transform: where numerics and movement meet.

pub mod choice;
