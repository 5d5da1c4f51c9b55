//! Two ranks exchange messages: in which order, by which protocol.
//!
//! [`schedule`] turns an order, a row of the protocol table and a list of steps into calls, which
//! are plain data; [`run`] executes calls on any transport; [`check`] tells without ranks how those of
//! all ranks end.

pub mod call;
pub mod check;
pub mod error;
pub mod method;
pub mod order;
pub mod protocol;
pub mod run;
pub mod schedule;
pub mod step;

pub use error::PlanError;
