//! Two ranks exchange messages: in which order, by which protocol.

pub mod order;
pub mod protocol;
