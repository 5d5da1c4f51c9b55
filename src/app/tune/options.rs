//! The options of `tune`.

use std::path::PathBuf;

use clap::Args;

use super::production::Target;
use crate::app::launch::Job;
use crate::app::words::{engine_of, input, named, whole};
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::mesh::RankOrder;
use crate::error::Result;
use crate::exchange::choice::TransposeAlgorithm;
use crate::exchange::sum::SumAlgorithm;
use crate::namelist::choices::{nearest, order_of, protocol_of};
use crate::report::swap::Unavailable;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::EngineKind;
use crate::tune::{layout, ways};

/// Options of `tune`.
#[derive(Debug, Args)]
pub struct TuneOptions {
    /// The namelist (TOML) of the problem
    pub file: PathBuf,
    /// Number of ranks, as threads of this process (2); under an MPI launcher it must be the
    /// launcher's number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: Option<u32>,
    /// Seconds that the search may take, models included
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub budget: f64,
    /// Meshes PXxPY to look at, or all
    #[arg(
        long,
        value_name = "PXxPY|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub mesh: Vec<String>,
    /// How ranks fill a mesh: row, column, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "row"
    )]
    pub rank_order: Vec<String>,
    /// FFT algorithms, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub fft: Vec<String>,
    /// Legendre algorithms, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub legendre: Vec<String>,
    /// Transposes: swap, send-recv, logarithmic, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub transpose: Vec<String>,
    /// Vector sums of a distributed Legendre transform, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub sum: Vec<String>,
    /// Orders: simple, ordered, delayed, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub order: Vec<String>,
    /// Protocols by name or number (see `pstswm list`), or all
    #[arg(
        long,
        value_name = "NAME|N|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub protocol: Vec<String>,
    /// Engines: pairwise (order and protocol), the others of `pstswm list`, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub engine: Vec<String>,
    /// All messages of a transpose started before the first is exchanged, where that differs
    #[arg(long, value_name = "yes|no|both", default_value = "both", value_parser = ["yes", "no", "both"])]
    pub overlap: String,
    /// Whole steps of every combination, nothing pruned: to check the search
    #[arg(long)]
    pub exhaustive: bool,
    /// Only the choices of these files (TOML with tables algorithm), as whole steps
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        conflicts_with = "exhaustive"
    )]
    pub only: Vec<PathBuf>,
    /// Settings of a production model or library instead, in its own terms, from patterns like its own
    #[arg(long = "for", value_name = "MODEL", conflicts_with_all = ["exhaustive", "only", "fragment", "journal", "mesh", "rank_order", "fft", "legendre", "transpose", "sum", "order", "protocol", "engine", "overlap"])]
    pub target: Option<Target>,
    /// I/O ranks of --for pio (a quarter of the ranks)
    #[arg(long, value_name = "K", value_parser = whole, requires = "target")]
    pub io_ranks: Option<usize>,
    /// Keep here what is under way; what a run before this one did not end is left out
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Write the tables of the namelist for the fastest
    #[arg(long, value_name = "FILE")]
    pub fragment: Option<PathBuf>,
    /// Override a key of the namelist, for example --set problem.levels=4 (repeatable)
    #[arg(long, value_name = "TABLE.KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of the order of samples
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every candidate as a line of CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl TuneOptions {
    /// The ranks there are: two threads unless told otherwise.
    ///
    /// # Errors
    /// Another number than the launcher's.
    pub fn rank_count(&self, job: &Job) -> Result<usize> {
        job.ranks(match job {
            Job::Threads => Some(self.ranks.unwrap_or(2)),
            #[cfg(feature = "mpi")]
            Job::Mpi(_) => self.ranks,
        })
    }

    /// The budget, s.
    ///
    /// # Errors
    /// Not a positive number.
    pub fn budget(&self) -> Result<f64> {
        if self.budget > 0.0 && self.budget.is_finite() {
            return Ok(self.budget);
        }
        input(format!(
            "--budget {}: must be a number of seconds above 0",
            self.budget
        ))
    }

    /// What layouts are wanted, of so many ranks.
    ///
    /// # Errors
    /// Unknown names; a mesh that is not of these ranks.
    pub fn layouts(&self, ranks: usize) -> Result<layout::Wanted> {
        let mut meshes = Vec::new();
        for word in self.mesh.iter().filter(|word| *word != "all") {
            let parts = word.split_once(['x', 'X']);
            let mesh = parts.and_then(|(px, py)| Some((px.parse().ok()?, py.parse().ok()?)));
            match mesh {
                Some((px, py)) if usize::checked_mul(px, py) == Some(ranks) => {
                    meshes.push((px, py));
                }
                _ => {
                    let fit: Vec<String> = (1..=ranks)
                        .filter(|px| ranks.is_multiple_of(*px))
                        .map(|px| format!("{px}x{}", ranks / px))
                        .collect();
                    return input(format!(
                        "--mesh {word}: must be all or among {}, the meshes of {ranks} {}",
                        fit.join(", "),
                        if ranks == 1 { "rank" } else { "ranks" }
                    ));
                }
            }
        }
        let orders = vec![("row", RankOrder::Row), ("column", RankOrder::Column)];
        Ok(layout::Wanted {
            meshes,
            orders: choose("--rank-order", &self.rank_order, &orders)?,
            ffts: choose(
                "--fft",
                &self.fft,
                &FftAlgorithm::ALL.map(|a| (a.name(), a)),
            )?,
            legendres: choose(
                "--legendre",
                &self.legendre,
                &LegendreAlgorithm::ALL.map(|a| (a.name(), a)),
            )?,
        })
    }

    /// What ways are wanted, and the engines that cannot be had here.
    ///
    /// # Errors
    /// Unknown names; an engine asked for by name that cannot be had; no legal pair.
    pub fn ways(&self, job: &Job) -> Result<(ways::Wanted, Vec<Unavailable>)> {
        let every = self.engine.iter().any(|name| name == "all");
        let all = std::iter::once(None)
            .chain(EngineKind::ALL.map(Some))
            .collect();
        let mut engines = Vec::new();
        let mut unavailable = Vec::new();
        for engine in named("--engine", &self.engine, all, engine_of)? {
            match engine.and_then(|engine| Some((engine, job.lacks(engine)?))) {
                None => engines.push(engine),
                Some((engine, reason)) if every => unavailable.push(Unavailable {
                    engine: engine.name().to_owned(),
                    reason,
                }),
                Some((engine, reason)) => {
                    return input(format!(
                        "--engine {}: {reason}; `pstswm list` shows what there is here",
                        engine.name()
                    ));
                }
            }
        }
        let wanted = ways::Wanted {
            orders: named("--order", &self.order, Order::ALL.to_vec(), order_of)?,
            protocols: named(
                "--protocol",
                &self.protocol,
                Protocol::all().collect(),
                protocol_of,
            )?,
            transposes: choose(
                "--transpose",
                &self.transpose,
                &TransposeAlgorithm::ALL.map(|a| (a.name(), a)),
            )?,
            engines,
            sums: choose(
                "--sum",
                &self.sum,
                &SumAlgorithm::ALL.map(|a| (a.name(), a)),
            )?,
            overlaps: match self.overlap.as_str() {
                "yes" => vec![true],
                "no" => vec![false],
                _ => vec![false, true],
            },
        };
        let legal = |order: &Order| wanted.protocols.iter().any(|p| p.legal_with(*order));
        if !wanted.orders.iter().any(legal) {
            return input(format!(
                "--order {} --protocol {}: no pair of them is legal; `pstswm list` shows which are",
                self.order.join(","),
                self.protocol.join(",")
            ));
        }
        Ok((wanted, unavailable))
    }
}

/// What the words name among these, each once; `all` is all.
fn choose<T: Copy + PartialEq>(
    option: &str,
    words: &[String],
    there: &[(&'static str, T)],
) -> Result<Vec<T>> {
    let all = there.iter().map(|(_, value)| *value).collect();
    named(option, words, all, |word| {
        let found = there.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = there.iter().map(|(name, _)| *name).collect();
            let meant = nearest(word, names.iter().copied());
            let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
            format!("must be all or among {}{meant}", names.join(", "))
        })
    })
}
