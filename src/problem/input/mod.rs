//! Fields from NetCDF files: found, checked, and brought into one order.

mod error;
mod header;
mod source;

pub use error::InputError;
pub use source::{Attribute, Source, VariableInfo};
