//! The results of `swap`; docs/results.md defines every field.

use serde::{Deserialize, Serialize};

use super::number::or_nan;

/// What the swap test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwapResults {
    /// What the numbers mean, in words.
    pub definitions: Vec<String>,
    /// What times can be told apart.
    pub clock: ClockRecord,
    /// Bytes up to which a standard send was seen to be buffered; null: not looked at.
    pub eager_limit_bytes: Option<usize>,
    /// Every curve, for every pair of ranks.
    pub cases: Vec<CaseRecord>,
    /// How much the choice of protocol matters, point by point.
    pub sensitivity: Vec<SensitivityRecord>,
    /// What to use.
    pub recommendation: Recommendation,
    /// What was asked for and left out, in words.
    pub notes: Vec<String>,
    /// Engines that were asked for by `all` and cannot be had here.
    pub unavailable: Vec<Unavailable>,
}

/// The clock of the timings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// Smallest difference between two readings, s.
    pub resolution: f64,
    /// Cost of a reading, s.
    pub overhead: f64,
    /// Timings shorter than this are off by more than 1 %, for the resolution and two readings, s.
    pub shortest_reliable: f64,
    /// Half of the shortest round trip between the clocks that were compared, and what they drifted
    /// apart until the next comparison, s: starts are together to this.
    pub uncertainty: f64,
}

/// One way to swap one volume, over numbers of messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Order; null with an engine other than `pairwise`.
    pub order: Option<String>,
    /// Protocol; null with an engine other than `pairwise`.
    pub protocol: Option<String>,
    /// Engine.
    pub engine: String,
    /// `pair`, `all-pairs` (several pairs at once), or a pattern of all ranks.
    pub pattern: String,
    /// The two ranks; the first and the last of a pattern.
    pub ranks: [usize; 2],
    /// Whether all messages are started before the first is exchanged.
    pub overlap: bool,
    /// Whether a signal precedes every message, whatever the protocol.
    pub handshake: bool,
    /// Cap on outstanding requests with overlap; 0: none.
    pub max_requests: usize,
    /// Whether buffers are evicted from the caches before each timing.
    pub cold: bool,
    /// Bytes each way.
    pub volume_bytes: usize,
    /// Swaps back to back in one timing.
    pub iterations: usize,
    /// One entry per number of messages.
    pub curve: Vec<CurvePoint>,
    /// Figures from the medians.
    #[serde(flatten)]
    pub figures: Figures,
    /// The same figures from the minima.
    pub from_minima: Figures,
    /// Ends of the interval of the bandwidth: `2V/T` of the interval of the median that gave it.
    pub bandwidth_ci95_mb_s: Option<[f64; 2]>,
    /// Whether every element of every checked swap was right; null: the cap left no room for one.
    pub verified: Option<bool>,
}

/// Bandwidth, latency, model error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Largest `2V/T_n`, 10^6 bytes/s.
    #[serde(deserialize_with = "or_nan")]
    pub bandwidth_mb_s: f64,
    /// The number of messages of the largest.
    pub bandwidth_messages: usize,
    /// Latency per message, us.
    pub latency_us: Latency,
    /// Largest `|M_n - T_n| / T_n` with the latency of 1995, a fraction.
    pub model_error: Option<f64>,
    /// The same with the latency of 2000 to 2002.
    pub model_error_t1024_t512: Option<f64>,
}

/// The latency in both definitions, us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// `(T_512 - T_256) / 256`.
    pub t512_t256: Option<f64>,
    /// `(T_1024 - T_512) / 512`.
    pub t1024_t512: Option<f64>,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Messages each way.
    pub messages: usize,
    /// Bytes of each.
    pub message_bytes: usize,
    /// Seconds per swap; null: the cap on the time of a curve left no room for it.
    pub seconds: Option<SwapTimes>,
    /// Timings of which a rank came after the common start.
    pub late: usize,
    /// Whether they are kept, because most are late (more ranks than processors), or left out.
    pub late_kept: bool,
}

/// The time of a swap: elapsed of k back-to-back swaps divided by k, the larger of the two ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwapTimes {
    /// Smallest, s.
    pub min: f64,
    /// Median, s.
    pub median: f64,
    /// Lower end of the 95 % interval of the median; null: fewer than six samples.
    pub ci95_low: Option<f64>,
    /// Upper end.
    pub ci95_high: Option<f64>,
    /// Every timing, s.
    pub samples: Vec<f64>,
    /// The round in which each was taken; one round has one timing of every point.
    pub rounds: Vec<usize>,
}

/// How much the choice among all measured ways matters at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRecord {
    /// Bytes each way.
    pub volume_bytes: usize,
    /// Swaps in one timing.
    pub iterations: usize,
    /// With overlap.
    pub overlap: bool,
    /// Messages each way.
    pub messages: usize,
    /// Number of ways compared.
    pub ways: usize,
    /// Least median time, s.
    pub min: f64,
    /// Median over the ways, s.
    pub median: f64,
    /// Largest, s.
    pub max: f64,
    /// `(median - min) / min`.
    pub typical: f64,
    /// `(max - min) / min`.
    pub worst: f64,
    /// `low`, `moderate` or `high`, by `typical`.
    pub grade: String,
    /// The fastest way.
    pub fastest: String,
    /// The slowest way.
    pub slowest: String,
}

/// What to use, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// One way for everything measured; null: no two ways have six samples at the same points.
    pub overall: Option<Advice>,
    /// The best way of every point where one has six samples.
    pub points: Vec<PointAdvice>,
}

/// A way to swap, against the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Its name: `order/protocol` or the engine, and whether it overlaps.
    pub way: String,
    /// Lines for a namelist.
    pub namelist: Vec<String>,
    /// Geometric mean, over all points, of its median time over that of the point's fastest.
    pub mean_ratio: f64,
    /// Other ways that are not slower beyond noise.
    pub within_noise: Vec<String>,
    /// The namelist's default way and its ratio to this one, when it was measured.
    pub default: Option<Ratio>,
    /// The slowest way and its ratio to this one.
    pub slowest: Option<Ratio>,
}

/// A way and how many times longer it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Its name.
    pub way: String,
    /// Geometric mean over all points of its time over the recommended way's.
    pub ratio: f64,
}

/// The best way at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointAdvice {
    /// Bytes each way.
    pub volume_bytes: usize,
    /// Swaps in one timing.
    pub iterations: usize,
    /// Messages each way.
    pub messages: usize,
    /// The fastest way by median.
    pub way: String,
    /// Its median, s.
    pub seconds: f64,
    /// Ways not slower beyond noise: the 95 % interval of the median of the ratios, round by
    /// round, does not lie above 1.
    pub within_noise: Vec<String>,
    /// Ways compared.
    pub ways: usize,
}

/// An engine that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Its name.
    pub engine: String,
    /// Why.
    pub reason: String,
}
