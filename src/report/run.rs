//! The results of `run`, field by field; docs/results.md defines each one.

use serde::{Deserialize, Serialize};

use super::number::{each_or_nan, or_nan};
use super::record::Record;
use crate::measure::{PhaseOverRanks, Summary};

/// The result of `run`.
pub type RunRecord = Record<RunResults>;

/// What a run is, known before its first step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The case, in the namelist's spelling.
    pub case: String,
    /// Truncation M, N, K.
    pub truncation: [usize; 3],
    /// Gaussian latitudes.
    pub nlat: usize,
    /// Longitudes.
    pub nlon: usize,
    /// Independent copies of the problem.
    pub levels: usize,
    /// Time step, s.
    pub dt: f64,
    /// Time steps asked for.
    pub steps: u64,
    /// Simulated days asked for.
    pub days: f64,
    /// Time scheme, in the namelist's spelling.
    pub scheme: String,
    /// Courant numbers of the initial state.
    pub courant: Courant,
    /// Ranks.
    pub ranks: usize,
    /// How they are arranged.
    pub mesh: MeshRecord,
    /// The parallel algorithm.
    pub algorithm: AlgorithmRecord,
    /// Memory of the model's arrays on each rank.
    pub memory_bytes: MemoryRecord,
    /// Wind above which the run is stopped as blown up, m/s.
    #[serde(deserialize_with = "or_nan")]
    pub wind_bound: f64,
}

/// Courant numbers of the shortest wave: `c dt sqrt(K (K + 1)) / a`, K the highest degree.
/// Explicit leapfrog is stable while their sum is below 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Courant {
    /// With c the largest wind.
    #[serde(deserialize_with = "or_nan")]
    pub advective: f64,
    /// With c the speed of gravity waves, `sqrt(Phibar)`.
    #[serde(deserialize_with = "or_nan")]
    pub gravity_wave: f64,
}

impl Courant {
    /// From the largest wind (m/s), Phibar (m2/s2), time step (s), highest degree and radius (m).
    pub fn of(max_wind: f64, phibar: f64, dt: f64, highest_degree: usize, radius: f64) -> Self {
        let k = highest_degree as f64;
        let per_speed = dt * (k * (k + 1.0)).sqrt() / radius;
        Self {
            advective: max_wind * per_speed,
            gravity_wave: phibar.max(0.0).sqrt() * per_speed,
        }
    }
}

/// The mesh of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshRecord {
    /// Ranks that split longitude or wavenumber.
    pub px: usize,
    /// Ranks that split latitude pairs.
    pub py: usize,
    /// `row` or `column`.
    pub rank_order: String,
}

/// The parallel algorithm, in the namelist's spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlgorithmRecord {
    /// Of the FFT.
    pub fft: String,
    /// Of the Legendre transform.
    pub legendre: String,
    /// Transposes along mesh rows; none with a distributed FFT.
    pub fft_transpose: Option<ExchangeRecord>,
    /// Butterflies along mesh rows; of a distributed FFT only.
    pub fft_butterfly: Option<ButterflyRecord>,
    /// Transposes along mesh columns; none with a distributed Legendre transform.
    pub legendre_transpose: Option<ExchangeRecord>,
    /// Vector sum along mesh columns; of a distributed Legendre transform only.
    pub legendre_sum: Option<SumRecord>,
}

/// How the butterflies of a distributed FFT swap, in the namelist's spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ButterflyRecord {
    /// Order of a swap.
    pub order: String,
    /// Protocol of a swap.
    pub protocol: String,
    /// Whether a signal precedes each send, whatever the protocol.
    pub handshake: bool,
    /// Whether half of the lines is computed while the other half travels.
    pub overlap: bool,
}

/// How a distributed Legendre transform adds up, in the namelist's spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumRecord {
    /// Steps of the sum.
    pub sum: String,
    /// Order of a swap; none with the library's own sum, nor any of what follows.
    pub order: Option<String>,
    /// Protocol of a swap.
    pub protocol: Option<String>,
    /// Whether a signal precedes each send, whatever the protocol.
    pub handshake: Option<bool>,
}

/// How a transpose moves its data, in the namelist's spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// Steps of the transpose; `collective`: an engine does it in one go.
    pub transpose: String,
    /// What moves the blocks.
    pub engine: String,
    /// Order of a swap; none with an engine other than `pairwise`, nor any of what follows.
    pub order: Option<String>,
    /// Protocol of a swap.
    pub protocol: Option<String>,
    /// Whether a signal precedes each send, whatever the protocol.
    pub handshake: Option<bool>,
    /// Cap on outstanding requests; 0: none.
    pub max_requests: Option<usize>,
    /// Whether several steps are under way together.
    pub overlap: Option<bool>,
}

/// Bytes of each rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// Smallest.
    pub min: u64,
    /// Mean, rounded down.
    pub mean: u64,
    /// Largest.
    pub max: u64,
    /// In rank order.
    pub per_rank: Vec<u64>,
}

impl MemoryRecord {
    /// Summarises the bytes of each rank.
    pub fn of(per_rank: Vec<u64>) -> Self {
        let count = per_rank.len().max(1) as u64;
        Self {
            min: per_rank.iter().copied().min().unwrap_or(0),
            mean: per_rank.iter().sum::<u64>() / count,
            max: per_rank.iter().copied().max().unwrap_or(0),
            per_rank,
        }
    }
}

/// Most samples a record keeps.
pub const MOST_SAMPLES: usize = 100_000;

/// Seconds per time step: the slowest rank's, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTimes {
    /// Timed steps; the statistics are over all of them.
    pub count: usize,
    /// Smallest.
    #[serde(deserialize_with = "or_nan")]
    pub min: f64,
    /// Median.
    #[serde(deserialize_with = "or_nan")]
    pub median: f64,
    /// Mean.
    #[serde(deserialize_with = "or_nan")]
    pub mean: f64,
    /// Largest.
    #[serde(deserialize_with = "or_nan")]
    pub max: f64,
    /// Median absolute deviation from the median.
    #[serde(deserialize_with = "or_nan")]
    pub mad: f64,
    /// Lower end of the distribution-free 95 % interval of the median; null below 6 samples.
    pub ci95_low: Option<f64>,
    /// Upper end.
    pub ci95_high: Option<f64>,
    /// `samples` holds every so-manieth step, from the first timed one; 1: all.
    pub stride: usize,
    /// Seconds of timed steps, in their order.
    #[serde(deserialize_with = "each_or_nan")]
    pub samples: Vec<f64>,
}

impl StepTimes {
    /// Summarises all timed steps; keeps all samples up to [`MOST_SAMPLES`], else every
    /// `ceil(count / MOST_SAMPLES)`-th.
    pub fn of(samples: Vec<f64>) -> Self {
        let summary = Summary::of(&samples);
        let of = |pick: fn(&Summary) -> f64| summary.as_ref().map_or(f64::NAN, pick);
        let count = samples.len();
        let stride = count.div_ceil(MOST_SAMPLES).max(1);
        let interval = summary.and_then(|s| s.ci95);
        Self {
            count,
            min: of(|s| s.min),
            median: of(|s| s.median),
            mean: of(|s| s.mean),
            max: of(|s| s.max),
            mad: of(|s| s.mad),
            ci95_low: interval.map(|(low, _)| low),
            ci95_high: interval.map(|(_, high)| high),
            stride,
            samples: if stride == 1 {
                samples
            } else {
                samples.into_iter().step_by(stride).collect()
            },
        }
    }
}

/// Scalar transforms in one time step, per level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformCount {
    /// Spectral to grid.
    pub inverse: u32,
    /// Grid to spectral.
    pub forward: u32,
}

/// Least, mean and most over ranks, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Smallest.
    #[serde(deserialize_with = "or_nan")]
    pub min: f64,
    /// Mean.
    #[serde(deserialize_with = "or_nan")]
    pub mean: f64,
    /// Largest.
    #[serde(deserialize_with = "or_nan")]
    pub max: f64,
}

/// One phase over all ranks and timed steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Name.
    pub name: String,
    /// Calls on the rank that made most.
    pub calls: u64,
    /// Seconds over ranks, all timed steps together.
    pub seconds: Spread,
    /// `max / mean - 1`.
    #[serde(deserialize_with = "or_nan")]
    pub imbalance: f64,
    /// The rank of `seconds.max`.
    pub slowest_rank: usize,
    /// Payload bytes sent, all ranks.
    pub bytes_sent: u64,
    /// Messages sent, all ranks.
    pub messages: u64,
}

impl From<&PhaseOverRanks> for PhaseRecord {
    fn from(phase: &PhaseOverRanks) -> Self {
        Self {
            name: phase.name.to_owned(),
            calls: phase.calls,
            seconds: Spread {
                min: phase.seconds.min,
                mean: phase.seconds.mean,
                max: phase.seconds.max,
            },
            imbalance: phase.seconds.imbalance,
            slowest_rank: phase.seconds.slowest,
            bytes_sent: phase.bytes_sent,
            messages: phase.messages,
        }
    }
}

/// Normalised differences from the exact or reference solution (Williamson et al. 1992, eqs 82-84).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Norm {
    /// Mean of the absolute difference over that of the reference.
    #[serde(deserialize_with = "or_nan")]
    pub l1: f64,
    /// Root mean square difference over that of the reference.
    #[serde(deserialize_with = "or_nan")]
    pub l2: f64,
    /// Largest difference over the largest of the reference.
    #[serde(deserialize_with = "or_nan")]
    pub linf: f64,
}

/// Norms of height and wind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Norms {
    /// Of the height.
    pub h: Norm,
    /// Of the vector wind; null where the wind is given (williamson-1).
    pub v: Option<Norm>,
}

/// Williamson-1 only: the advected bell against the exact one (Williamson et al. 1992, eqs 85-88).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advection {
    /// Smallest height less the exact smallest, over the height of the bell.
    #[serde(deserialize_with = "or_nan")]
    pub min: f64,
    /// Largest height less the exact largest, over the height of the bell.
    #[serde(deserialize_with = "or_nan")]
    pub max: f64,
    /// Mean less the exact mean, over the initial mean.
    #[serde(deserialize_with = "or_nan")]
    pub mean: f64,
    /// Variance less the exact variance, over the initial variance.
    #[serde(deserialize_with = "or_nan")]
    pub variance: f64,
}

/// What is computed at an output time, of level 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiagnosticsRecord {
    /// Steps taken.
    pub step: u64,
    /// Simulated days.
    pub day: f64,
    /// Null where no reference solution is known.
    pub norms: Option<Norms>,
    /// Relative change of the mean of H since the start.
    #[serde(deserialize_with = "or_nan")]
    pub mass: f64,
    /// Relative change of the mean total energy.
    #[serde(deserialize_with = "or_nan")]
    pub energy: f64,
    /// Relative change of the mean potential enstrophy.
    #[serde(deserialize_with = "or_nan")]
    pub enstrophy: f64,
    /// Mean relative vorticity, 1/s.
    #[serde(deserialize_with = "or_nan")]
    pub zeta_mean: f64,
    /// Mean divergence, 1/s.
    #[serde(deserialize_with = "or_nan")]
    pub delta_mean: f64,
    /// Largest wind, m/s.
    #[serde(deserialize_with = "or_nan")]
    pub max_wind: f64,
    /// Williamson-1 only, else null.
    pub case1: Option<Advection>,
    /// Kinetic energy by degree n = 0, 1, ..., m2/s2; its sum is the mean of (u2+v2)/2.
    #[serde(deserialize_with = "each_or_nan")]
    pub spectrum: Vec<f64>,
}

/// The state at a point, summed from the spectral series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// Simulated days.
    pub day: f64,
    /// Latitude, degrees north.
    pub lat: f64,
    /// Longitude, degrees east.
    pub lon: f64,
    /// Free-surface height, m.
    #[serde(deserialize_with = "or_nan")]
    pub h: f64,
    /// Eastward wind, m/s.
    #[serde(deserialize_with = "or_nan")]
    pub u: f64,
    /// Northward wind, m/s.
    #[serde(deserialize_with = "or_nan")]
    pub v: f64,
    /// Relative vorticity, 1/s.
    #[serde(deserialize_with = "or_nan")]
    pub zeta: f64,
    /// Divergence, 1/s.
    #[serde(deserialize_with = "or_nan")]
    pub delta: f64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResults {
    /// What was run.
    pub setup: Setup,
    /// Steps taken.
    pub steps: u64,
    /// Steps at the start that are in none of the timings.
    pub warmup_steps: u64,
    /// Wall time of the timed steps.
    pub seconds_per_step: StepTimes,
    /// Simulated days per day of wall time, from the median step.
    #[serde(deserialize_with = "or_nan")]
    pub simulated_days_per_day: f64,
    /// Scalar transforms in a step.
    pub transforms_per_step: TransformCount,
    /// Floating-point operations in a step, by `flops_formula`, all ranks and levels.
    #[serde(deserialize_with = "or_nan")]
    pub flops_per_step: f64,
    /// The formula, in words.
    pub flops_formula: String,
    /// `flops_per_step` over the median step, 1e9/s.
    #[serde(deserialize_with = "or_nan")]
    pub gflops: f64,
    /// Where the time went.
    pub phases: Vec<PhaseRecord>,
    /// One entry per output time.
    pub diagnostics: Vec<DiagnosticsRecord>,
    /// Checksum of the final spectral state, 16 hexadecimal digits.
    pub checksum: String,
    /// Family of arithmetic kernels; checksums compare within one family.
    pub kernel: String,
    /// The points of the namelist at each output time.
    pub points: Vec<PointRecord>,
}

impl RunResults {
    /// Sets the rates that follow from the median step: simulated days per day, GFlop/s.
    pub fn set_rates(&mut self) {
        let median = self.seconds_per_step.median;
        self.simulated_days_per_day = self.setup.dt / median;
        self.gflops = self.flops_per_step / median * 1e-9;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::report::json;

    #[test]
    fn numbers_that_are_not_finite_are_null_and_come_back_as_nan() {
        let mut record = sample::record();
        record.results.diagnostics[0].mass = f64::INFINITY;
        record.results.diagnostics[0].spectrum[1] = f64::NAN;
        let text = json::to_string(&record).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let first = &value["results"]["diagnostics"][0];
        assert!(first["mass"].is_null() && first["spectrum"][1].is_null());
        assert!(value["results"]["points"][0]["delta"].is_null());
        let back: RunRecord = serde_json::from_str(&text).unwrap();
        assert!(back.results.diagnostics[0].mass.is_nan());
        assert!(back.results.diagnostics[0].spectrum[1].is_nan());
        assert_eq!(back.provenance, record.provenance);
        assert_eq!(back.results.setup, record.results.setup);
        assert!(back.results.points[0].delta.is_nan());
    }

    #[test]
    fn up_to_the_limit_all_samples_are_kept_then_every_so_manieth() {
        let all = StepTimes::of(vec![1.0; MOST_SAMPLES]);
        assert_eq!((all.stride, all.samples.len()), (1, MOST_SAMPLES));
        let many: Vec<f64> = (0..=2 * MOST_SAMPLES).map(|i| i as f64).collect();
        let thinned = StepTimes::of(many);
        assert_eq!(thinned.stride, 3);
        assert_eq!(thinned.samples[..3], [0.0, 3.0, 6.0]);
        assert_eq!(
            (thinned.count, thinned.max),
            (2 * MOST_SAMPLES + 1, 200_000.0)
        );
        let none = StepTimes::of(Vec::new());
        assert!(none.median.is_nan() && none.samples.is_empty());
    }

    #[test]
    fn rates_follow_from_the_median_step() {
        let mut results = sample::results();
        results.seconds_per_step = StepTimes::of(vec![0.5; 9]);
        results.flops_per_step = 1e9;
        results.set_rates();
        assert_eq!(
            (results.simulated_days_per_day, results.gflops),
            (2400.0, 2.0)
        );
    }

    #[test]
    fn courant_numbers() {
        let c = Courant::of(40.0, 1e4, 600.0, 42, 6.37122e6);
        assert!((c.advective - 0.1601).abs() < 1e-4, "{c:?}");
        assert!((c.gravity_wave / c.advective - 2.5).abs() < 1e-12);
    }
}
