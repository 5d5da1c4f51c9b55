//! The run file (TOML): read, checked as a whole, and turned into the plain data of the layers.
//!
//! [`keys`] is the table of what may be said; everything else follows from it. All problems of a
//! namelist are reported at once, each with its line and what is allowed. Nothing here knows how
//! a run is done.

mod build;
pub mod choices;
mod finding;
pub mod keys;
pub mod reference;
mod settings;
mod source;
mod value;

pub use build::{Namelist, check_ranks, load, parse};
pub use finding::{Finding, NamelistError};
