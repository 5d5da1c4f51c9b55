//! The results of `env`, field by field; docs/results.md defines each one.

use serde::{Deserialize, Serialize};

use super::machine::Caches;
use super::number::or_nan;
use super::placement::Placed;
use super::record::Record;
use crate::measure::{ClockQuality, Summary};

/// The result of `env`.
pub type EnvRecord = Record<EnvResults>;

/// What build and machine are, beside what the provenance says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvResults {
    /// Family of arithmetic kernels that would run.
    pub kernel: String,
    /// Vector instructions of the processor, narrowest first.
    pub vector_extensions: Vec<String>,
    /// The MPI library of this build; null: built without.
    pub mpi: Option<MpiRecord>,
    /// Every engine, on the transport in use.
    pub engines: Vec<EngineRecord>,
    /// Orders of the pairwise messages.
    pub orders: usize,
    /// Rows of the protocol table.
    pub protocols: usize,
    /// Legal pairs of order and protocol.
    pub legal_pairs: usize,
    /// Ranks in order, neighbours with the same host and processors together.
    pub ranks: Vec<Placed>,
    /// Clocks of rank 0.
    pub clocks: Vec<TimerRecord>,
    /// Data caches of the first processor.
    pub caches: Caches,
    /// Copying memory, one entry per size of buffer.
    pub copy: Vec<CopyRecord>,
    /// Arithmetic peak of one core, flop/s.
    pub peak_flops: Rate,
    /// The eager limit; null with one rank.
    pub eager: Option<EagerRecord>,
}

/// An MPI library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiRecord {
    /// What it says it is.
    pub library: String,
    /// Version of the standard it implements, such as `3.1`.
    pub standard: String,
    /// How to start ranks with it.
    pub launcher: String,
}

/// An engine and whether it can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// The namelist's spelling.
    pub name: String,
    /// Why it cannot be had; null: it can.
    pub lacks: Option<String>,
}

/// A clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerRecord {
    /// Which one.
    pub name: String,
    /// Smallest difference between readings that differ, s.
    #[serde(deserialize_with = "or_nan")]
    pub resolution: f64,
    /// Median cost of a reading, s.
    #[serde(deserialize_with = "or_nan")]
    pub overhead: f64,
}

impl TimerRecord {
    /// A measured clock.
    pub fn new(name: &str, quality: ClockQuality) -> Self {
        Self {
            name: name.to_owned(),
            resolution: quality.resolution,
            overhead: quality.overhead,
        }
    }
}

/// Samples of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Samples.
    pub count: usize,
    /// Smallest.
    #[serde(deserialize_with = "or_nan")]
    pub min: f64,
    /// Median.
    #[serde(deserialize_with = "or_nan")]
    pub median: f64,
    /// Largest.
    #[serde(deserialize_with = "or_nan")]
    pub max: f64,
}

impl Rate {
    /// Summarises samples.
    pub fn of(samples: &[f64]) -> Self {
        let summary = Summary::of(samples);
        let of = |pick: fn(&Summary) -> f64| summary.as_ref().map_or(f64::NAN, pick);
        Self {
            count: samples.len(),
            min: of(|s| s.min),
            median: of(|s| s.median),
            max: of(|s| s.max),
        }
    }
}

/// How fast one core copies a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRecord {
    /// Bytes of the buffer that is copied, and of the one that it is copied to.
    pub buffer_bytes: u64,
    /// Bytes copied per second.
    pub bytes_per_second: Rate,
}

/// The eager limit between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EagerRecord {
    /// Sender and receiver.
    pub between: [usize; 2],
    /// Bytes of the largest standard send that was buffered; 0: none.
    pub buffered_bytes: u64,
    /// Bytes of the largest message tried: the limit may be above.
    pub tried_bytes: u64,
}
