//! The results of `tune`; docs/results.md defines every field.

use serde::{Deserialize, Serialize};

use super::swap::Unavailable;

/// What the search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneResults {
    /// What the numbers mean, in words.
    pub definitions: Vec<String>,
    /// `search`, `exhaustive`, `given`, or `for` a model.
    pub mode: String,
    /// What the search took.
    pub cost: CostRecord,
    /// Meshes with their parallel algorithms, as whole steps.
    pub layouts: Vec<LayoutRecord>,
    /// Ways of each stage, alone.
    pub stages: Vec<StageRecord>,
    /// The finalists as whole steps, the fastest first.
    pub ranking: Vec<FinalistRecord>,
    /// The namelist's own choice against the fastest; null: it was not measured.
    pub default: Option<RatioRecord>,
    /// Settings of a production model, in its own terms.
    pub settings: Vec<SettingRecord>,
    /// Candidates that failed, and why.
    pub failed: Vec<FailedRecord>,
    /// Candidates whose step did not come to what the namelist's own ways came to, and by how much.
    pub wrong: Vec<String>,
    /// What was left out or cut off, in words.
    pub notes: Vec<String>,
    /// Engines that cannot be had here.
    pub unavailable: Vec<Unavailable>,
    /// The `[algorithm]` tables of the fastest.
    pub fragment: String,
}

/// Time spent, and on how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostRecord {
    /// The budget, s.
    pub budget_seconds: f64,
    /// From the first model to the last sample, s.
    pub seconds: f64,
    /// Of it: making models and movements.
    pub preparing_seconds: f64,
    /// Of it: layouts as whole steps.
    pub layouts_seconds: f64,
    /// Of it: stages alone.
    pub stages_seconds: f64,
    /// Of it: finalists as whole steps.
    pub finalists_seconds: f64,
    /// Ways of stages measured.
    pub ways: usize,
    /// Candidates measured as whole steps.
    pub candidates: usize,
    /// Time steps taken by these.
    pub steps: u64,
}

/// A time and its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeRecord {
    /// Smallest, s.
    pub min: f64,
    /// Median, s.
    pub median: f64,
    /// Lower end of the 95 % interval of the median, s; null: fewer than six samples.
    pub ci95_low: Option<f64>,
    /// Upper end.
    pub ci95_high: Option<f64>,
    /// Samples.
    pub samples: usize,
}

/// How many times longer than the fastest something takes: ratios round by round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioRecord {
    /// Median of the ratios.
    pub median: f64,
    /// Lower end of its 95 % interval; null: fewer than six rounds.
    pub ci95_low: Option<f64>,
    /// Upper end.
    pub ci95_high: Option<f64>,
    /// Whether the interval does not lie above 1.
    pub within_noise: bool,
}

/// A mesh with its parallel algorithms, every stage as the namelist has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutRecord {
    /// Its name.
    pub layout: String,
    /// PX, PY.
    pub mesh: [usize; 2],
    /// How ranks fill the mesh.
    pub rank_order: String,
    /// FFT algorithm.
    pub fft: String,
    /// Legendre algorithm.
    pub legendre: String,
    /// A time step, the larger of all ranks; null: not measured with the namelist's ways.
    pub step_seconds: Option<TimeRecord>,
    /// Median of a step without its movements, the largest of all ranks, s: no way of moving is
    /// faster.
    pub floor_seconds: Option<f64>,
    /// Messages of a step, summed over ranks.
    pub messages: u64,
    /// Bytes of a step, summed over ranks.
    pub bytes: u64,
    /// Whether its stages were searched, and if not, why.
    pub dropped: Option<String>,
}

/// The ways of one stage of one layout, or of several whose stage is the same; or of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// `fft-transpose`, `fft-butterfly`, `legendre-transpose` or `legendre-sum`; or the pattern.
    pub stage: String,
    /// The layouts; none of a pattern.
    pub layouts: Vec<String>,
    /// Ranks that exchange.
    pub ranks: usize,
    /// Every way, the fastest first.
    pub ways: Vec<WayRecord>,
    /// `(median - min) / min` of their median times; null: fewer than two.
    pub typical: Option<f64>,
    /// `(max - min) / min`.
    pub worst: Option<f64>,
    /// `low`, `moderate` or `high`, by `typical`.
    pub grade: Option<String>,
}

/// A way to move the data of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayRecord {
    /// Its name.
    pub way: String,
    /// The stage's movements of one evaluation, packing included, the larger of all ranks.
    pub seconds: TimeRecord,
    /// Against the fastest, for the rounds that both have.
    pub ratio: RatioRecord,
    /// Whether it was dropped as slower before the end.
    pub dropped: bool,
}

/// A whole choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalistRecord {
    /// Layout.
    pub layout: String,
    /// Stage and way, in the order of a step.
    pub ways: Vec<StageWayRecord>,
    /// Whether it is what the namelist says.
    pub default: bool,
    /// A time step, the larger of all ranks.
    pub step_seconds: TimeRecord,
    /// Against the fastest.
    pub ratio: RatioRecord,
    /// Whether it was dropped as slower before the end.
    pub dropped: bool,
    /// Its `[algorithm]` tables.
    pub fragment: String,
}

/// The way of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageWayRecord {
    /// The stage.
    pub stage: String,
    /// The way.
    pub way: String,
}

/// One setting of a production model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingRecord {
    /// Its name.
    pub name: String,
    /// Its value, as the model's namelist spells it.
    pub value: String,
    /// What it rests on.
    pub evidence: String,
}

/// A candidate that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRecord {
    /// What.
    pub candidate: String,
    /// Why.
    pub reason: String,
}
