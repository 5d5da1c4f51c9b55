//! Clocks, phases and statistics: how a run measures itself. Nothing here communicates or prints.

pub mod clock;
pub mod copy;
pub mod linear_model;
pub mod phases;
pub mod ranks;
pub mod statistics;

pub use clock::ClockQuality;
pub use phases::{Movement, Phase, Phases, Start};
pub use ranks::{PhaseOverRanks, RankStatistics, phases_over_ranks};
pub use statistics::{Summary, quantile};
