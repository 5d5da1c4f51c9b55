//! NetCDF files: what is written can be read, what is damaged or foreign is refused in one clear
//! message, and no content of a file makes the program panic.

#[path = "files/checkpoints.rs"]
mod checkpoints;
#[path = "files/fields.rs"]
mod fields;
#[path = "files/histories.rs"]
mod histories;
#[path = "files/made.rs"]
mod made;
#[path = "files/refusals.rs"]
mod refusals;
#[path = "files/stswm.rs"]
mod stswm;
#[path = "files/support.rs"]
mod support;
