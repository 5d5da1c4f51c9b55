//! Commands and options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::swap::SwapOptions;
use super::tune::TuneOptions;
use crate::exchange::choice::TransposeAlgorithm;

/// Parallel spectral transform shallow water model and communication benchmark.
#[derive(Debug, Parser)]
#[command(name = "pstswm", version, propagate_version = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// How ranks talk: threads of this process, or MPI.
    #[arg(long, global = true, value_parser = ["threads", "mpi"])]
    pub transport: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Integrate the case of a namelist; print diagnostics and timing, write history files
    Run(RunOptions),
    /// Run the standard cases against reference values; PASS or FAIL per figure
    Validate(ValidateOptions),
    /// Time swaps between ranks by every order, protocol and engine: which one to use here
    Swap(SwapOptions),
    /// Find the best mesh, algorithms, orders and protocols for a problem on this machine
    Tune(TuneOptions),
    /// Print a commented namelist of a case
    Init {
        /// williamson-1 ... williamson-7, galewsky, galewsky-balanced or file
        case: String,
    },
    /// Show and measure what this build and machine are, with warnings that say the remedy
    Env(EnvOptions),
    /// Show the calls that an order and a protocol make on each rank, and whether they need buffers
    Explain(ExplainOptions),
    /// List every case, algorithm, order, protocol and engine, and what is unavailable here
    List,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The namelist (TOML)
    pub file: PathBuf,
    /// Number of ranks, as threads of this process (1); under an MPI launcher it must be the
    /// launcher's number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: Option<u32>,
    /// Go on from a checkpoint
    #[arg(long, value_name = "CHECKPOINT")]
    pub restart: Option<PathBuf>,
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the table of diagnostics as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Override a key of the namelist, for example --set problem.levels=4 (repeatable)
    #[arg(long, value_name = "TABLE.KEY=VALUE")]
    pub set: Vec<String>,
    /// Steps at the start that are left out of the timing (measure.warmup)
    #[arg(long, value_name = "STEPS")]
    pub warmup: Option<u64>,
    /// Seed (measure.seed)
    #[arg(long)]
    pub seed: Option<u64>,
}

/// Options of `validate`.
#[derive(Debug, Args)]
pub struct ValidateOptions {
    /// What to check: transform, williamson-1 ... williamson-7, galewsky, galewsky-balanced
    /// (default: all)
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// Everything, also what takes long (an hour or more), not only the short set
    #[arg(long)]
    pub full: bool,
    /// Number of ranks, as threads of this process
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: u32,
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Options of `env`.
#[derive(Debug, Args)]
pub struct EnvOptions {
    /// Number of ranks, as threads of this process (1); under an MPI launcher it must be the
    /// launcher's number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: Option<u32>,
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// Order and protocol by name or number, for example ordered/ready or 1/4
    #[arg(value_name = "ORDER/PROTOCOL")]
    pub pair: String,
    /// Every rank of a whole transpose of N ranks, instead of a swap of two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub ranks: Option<u32>,
    /// Steps of the transpose: swap (partner me XOR k), send-recv (to me + k, from me - k) or
    /// logarithmic (k = 1, 2, 4, ...)
    #[arg(long, default_value = "swap", requires = "ranks",
          value_parser = TransposeAlgorithm::ALL.map(TransposeAlgorithm::name))]
    pub transpose: String,
    /// Messages that the swap is cut into
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "ranks",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub messages: u32,
    /// Bytes of a message, a multiple of 8
    #[arg(long, value_name = "B", default_value_t = 2048)]
    pub bytes: u64,
    /// Start several messages before the first is exchanged
    #[arg(long)]
    pub overlap: bool,
    /// Cap on requests under way with --overlap (0: none)
    #[arg(long, value_name = "R", default_value_t = 0, requires = "overlap")]
    pub max_requests: u32,
    /// Signal before every send, also where the protocol itself does not
    #[arg(long)]
    pub handshake: bool,
    /// Show also a pair that relies on buffering, for study
    #[arg(long)]
    pub unsafe_order: bool,
}

impl RunOptions {
    /// Overrides of the namelist, those of the short options last.
    pub fn sets(&self) -> Vec<String> {
        let mut sets = self.set.clone();
        sets.extend(self.warmup.map(|steps| format!("measure.warmup={steps}")));
        sets.extend(self.seed.map(|seed| format!("measure.seed={seed}")));
        sets
    }
}
