//! Who owns which latitudes, wavenumbers and levels: pure arithmetic, no communicator.
//!
//! Every rank computes what it needs from the problem's sizes alone; nothing of size ranks^2 or of
//! the global grid is held.

pub mod algorithm;
pub mod auto;
pub mod block;
pub mod distribution;
pub mod mesh;
pub mod units;
