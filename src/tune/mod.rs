//! The search for the fastest way to run a problem on these ranks.
//!
//! [`layout`] and [`ways`] say what there is to choose, [`race`] decides who is slower and who is
//! not, from times alone; [`mod@bench`] takes these times on every rank, and [`search`]
//! goes from layouts to stages to whole steps. All ranks see the same times, so that all decide
//! alike.

pub mod bench;
pub mod layout;
pub mod race;
pub mod search;
pub mod ways;
