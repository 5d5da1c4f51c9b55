//! NetCDF files: what is written can be read, what is damaged or foreign is refused in one clear
//! message, and no content of a file makes the program panic.

#[path = "files/checkpoints.rs"]
mod checkpoints;
#[path = "files/histories.rs"]
mod histories;
#[path = "files/support.rs"]
mod support;
