//! The options of `swap`, checked as a whole into a request.

use clap::Args;
use std::path::PathBuf;

use super::cache_bytes;
use crate::app::launch::Job;
use crate::app::words::{engine_of, input, joined, named, seconds, unique, whole};
use crate::bench::case::{Request, Way};
use crate::bench::data::Eviction;
use crate::bench::pattern::Pattern;
use crate::error::Result;
use crate::namelist::choices::{legal_orders, order_of, protocol_of};
use crate::report::swap::Unavailable;
use crate::report::{machine, units};
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::EngineKind;

/// Largest number of messages of a swap.
const MOST_MESSAGES: usize = 1 << 20;

/// Options of `swap`.
#[derive(Debug, Args)]
pub struct SwapOptions {
    /// Number of ranks, as threads of this process (2); under an MPI launcher it must be the
    /// launcher's number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: Option<u32>,
    /// Orders: simple, ordered, delayed, or all
    #[arg(
        long,
        value_name = "NAME|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub order: Vec<String>,
    /// Protocols by name or number (0 to 10; see `pstswm list`), or all
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
        default_value = "pairwise"
    )]
    pub engine: Vec<String>,
    /// Bytes each way, multiples of 8; KiB and MiB may follow the number
    #[arg(
        long,
        value_name = "BYTES",
        value_delimiter = ',',
        default_value = "2MiB,128KiB,8KiB"
    )]
    pub volume: Vec<String>,
    /// Numbers of equal messages that a volume is cut into
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,2,4,8,16,32,64,128,256,512,1024",
        value_parser = whole
    )]
    pub messages: Vec<usize>,
    /// Numbers of swaps back to back in one timing
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,10",
        value_parser = whole
    )]
    pub iterations: Vec<usize>,
    /// All messages started, then exchanged, then finished, where the protocol posts requests
    #[arg(long, value_name = "yes|no|both", default_value = "both", value_parser = ["yes", "no", "both"])]
    pub overlap: String,
    /// A signal before every message, whatever the protocol; --handshake both: with and without
    #[arg(long, value_name = "yes|no|both", default_value = "no", default_missing_value = "yes",
          num_args = 0..=1, value_parser = ["yes", "no", "both"])]
    pub handshake: String,
    /// Caps on outstanding requests with overlap; 0: none
    #[arg(
        long,
        value_name = "R",
        value_delimiter = ',',
        default_value = "0",
        value_parser = whole
    )]
    pub max_requests: Vec<usize>,
    /// Evict the buffers from the caches before each timing
    #[arg(long)]
    pub cold: bool,
    /// Who exchanges with whom: pair (two ranks swap), all-to-all, gather:K (every rank sends to K I/O
    /// ranks), scatter:K (K I/O ranks send to every rank); V bytes a rank, in one message each
    #[arg(long, value_name = "PATTERN", default_value = "pair", conflicts_with_all = ["all_pairs", "ranks_of"])]
    pub pattern: String,
    /// Every rank swaps at once: rank r with rank r + P/2
    #[arg(long, conflicts_with = "ranks_of")]
    pub all_pairs: bool,
    /// The ranks that swap: A with B, and, when more are given, C with D, ... at once (0,1)
    #[arg(long, value_name = "A,B[,..]", value_delimiter = ',', value_parser = whole)]
    pub ranks_of: Vec<usize>,
    /// Allow order and protocol pairs that end only where messages are buffered, for study
    #[arg(long)]
    pub unsafe_order: bool,
    /// Timed samples of each point
    #[arg(long, alias = "samples", value_name = "N", default_value_t = 20, value_parser = whole)]
    pub repeat: usize,
    /// Swaps of each point before them that are not kept
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole)]
    pub warmup: usize,
    /// Cap on the time of one curve, s; 0: none
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub max_seconds: f64,
    /// Seed of the order of samples
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A wait as long as this ends the job with a report of who waits for whom, s; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub watchdog: f64,
    /// Largest message in bytes that ranks as threads buffer
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = whole)]
    pub eager_limit: usize,
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every point as a line of CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl SwapOptions {
    /// The ranks there are: two threads unless told otherwise.
    ///
    /// # Errors
    /// Fewer than two; another number than the launcher's.
    pub fn rank_count(&self, job: &Job) -> Result<usize> {
        let asked = match job {
            Job::Threads => Some(self.ranks.unwrap_or(2)),
            #[cfg(feature = "mpi")]
            Job::Mpi(_) => self.ranks,
        };
        let ranks = job.ranks(asked)?;
        if ranks >= 2 {
            return Ok(ranks);
        }
        input(format!(
            "swap needs two ranks at least, there is {ranks}: mpirun -n 2 pstswm swap, or, for \
             ranks as threads, pstswm swap --ranks 2{}",
            match job {
                Job::Threads => "",
                #[cfg(feature = "mpi")]
                Job::Mpi(_) => " without a launcher and without --transport mpi",
            }
        ))
    }

    /// The request, and the engines of `--engine all` that cannot be had here.
    ///
    /// # Errors
    /// Everything wrong with the options, one at a time.
    pub fn request(&self, job: &Job, ranks: usize) -> Result<(Request, Vec<Unavailable>)> {
        let (ways, unavailable) = self.ways(job)?;
        let pattern = self.pattern(ranks)?;
        let request = Request {
            ways,
            overlaps: match self.overlap.as_str() {
                "yes" => vec![true],
                "no" => vec![false],
                _ => vec![false, true],
            },
            volumes: unique(self.volumes()?),
            messages: self.message_counts(pattern)?,
            iterations: counts("--iterations", &self.iterations, 1_000_000)?,
            handshakes: match self.handshake.as_str() {
                "yes" => vec![true],
                "both" => vec![false, true],
                _ => vec![false],
            },
            max_requests: unique(self.max_requests.clone()),
            cold: self.cold,
            ranks,
            pattern,
            pairs: match pattern {
                Some(_) => vec![(0, ranks - 1)],
                None => self.pairs(ranks)?,
            },
            samples: within("--repeat", self.repeat, 1_000_000)?,
            warmup: within("--warmup", self.warmup, 1_000_000)?,
            max_seconds: seconds("--max-seconds", self.max_seconds)?,
            seed: self.seed,
            all_ways: !self.engine.iter().any(|name| name == "all"),
        };
        seconds("--watchdog", self.watchdog)?;
        self.check(&request)?;
        Ok((request, unavailable))
    }

    /// What only the whole request shows.
    fn check(&self, request: &Request) -> Result<()> {
        for &volume in &request.volumes {
            if request.messages(volume).next().is_none() {
                if let Some(pattern) = request.pattern {
                    return input(format!(
                        "--volume {volume}: --pattern {pattern} cuts it into {} equal parts of \
                         whole doubles; take a multiple of {} bytes",
                        pattern.parts(request.ranks),
                        pattern.parts(request.ranks) * size_of::<f64>()
                    ));
                }
                return input(format!(
                    "--messages {}: none of them cuts the {volume} bytes of --volume into equal \
                     messages of whole doubles; {} doubles can be cut into 1, 2, ...",
                    joined(&request.messages),
                    volume / size_of::<f64>()
                ));
            }
        }
        if request.volumes.iter().all(|&v| request.cases(v).is_empty()) {
            return input(
                "--overlap yes: none of the chosen protocols and engines can have several \
                 messages under way; use --overlap no"
                    .to_owned(),
            );
        }
        let largest = request.volumes.iter().max().copied().unwrap_or(0);
        let ranks = match request.pattern {
            Some(_) => request.ranks,
            None => 2 * request.pairs.len(),
        };
        let needed = ranks as f64 * bytes_of_a_rank(request);
        match machine::memory_bytes() {
            Some(there) if needed > there as f64 => input(format!(
                "--volume {largest}: the buffers{} need about {}, this machine has {}; ask for \
                 smaller volumes, or for fewer engines and --messages at once",
                if request.cold {
                    " and the walk of --cold"
                } else {
                    ""
                },
                units::bytes(needed as u64),
                units::bytes(there)
            )),
            _ => Ok(()),
        }
    }

    fn ways(&self, job: &Job) -> Result<(Vec<Way>, Vec<Unavailable>)> {
        // Looked at with engines alone, too: a slip is told, not passed over.
        let pairwise = self.pairwise()?;
        let every = self.engine.iter().any(|name| name == "all");
        let all = std::iter::once(None)
            .chain(EngineKind::ALL.map(Some))
            .collect();
        let wanted = named("--engine", &self.engine, all, engine_of)?;
        let mut ways = Vec::new();
        let mut unavailable = Vec::new();
        for engine in wanted {
            let Some(engine) = engine else {
                ways.extend_from_slice(&pairwise);
                continue;
            };
            match job.lacks(engine) {
                None => ways.push(Way::Engine(engine)),
                Some(reason) if every => unavailable.push(Unavailable {
                    engine: engine.name().to_owned(),
                    reason,
                }),
                Some(reason) => {
                    return input(format!(
                        "--engine {}: {reason}; `pstswm list` shows what there is here",
                        engine.name()
                    ));
                }
            }
        }
        Ok((ways, unavailable))
    }

    fn pairwise(&self) -> Result<Vec<Way>> {
        let (all_orders, all_protocols) = (Order::ALL.to_vec(), Protocol::all().collect());
        let orders = named("--order", &self.order, all_orders, order_of)?;
        let protocols = named("--protocol", &self.protocol, all_protocols, protocol_of)?;
        let is_all = |words: &[String]| words.iter().any(|word| word == "all");
        let meant = !is_all(&self.order) && !is_all(&self.protocol);
        let mut ways = Vec::new();
        for order in orders {
            for &protocol in &protocols {
                let way = Way::Pairwise(order, protocol);
                if self.unsafe_order || way.is_legal() {
                    ways.push(way);
                } else if meant {
                    return input(format!(
                        "{way} ends only where messages are buffered; legal orders of this \
                         protocol: {}; --unsafe-order runs it for study",
                        legal_orders(protocol)
                    ));
                }
            }
        }
        if ways.is_empty() {
            return input(format!(
                "--order {} --protocol {}: no pair of them is legal; `pstswm list` shows which are",
                self.order.join(","),
                self.protocol.join(",")
            ));
        }
        Ok(ways)
    }

    fn volumes(&self) -> Result<Vec<usize>> {
        self.volume.iter().map(|text| volume(text)).collect()
    }

    /// The pattern of all ranks; `None`: pairs.
    fn pattern(&self, ranks: usize) -> Result<Option<Pattern>> {
        let word = self.pattern.as_str();
        if word == "pair" {
            return Ok(None);
        }
        let refuse = |why: String| input(format!("--pattern {word}: {why}"));
        let pattern = match Pattern::parse(word) {
            Ok(pattern) => pattern,
            Err(why) => return refuse(why),
        };
        match pattern.io_ranks() {
            Some(count) if count > ranks => refuse(format!(
                "{count} I/O ranks, there are {ranks} ranks; at most as many"
            )),
            _ if self.unsafe_order => {
                refuse("--unsafe-order is for pairs of ranks; leave it out".to_owned())
            }
            _ => Ok(Some(pattern)),
        }
    }

    /// Numbers of messages. A pattern sends every partner one.
    fn message_counts(&self, pattern: Option<Pattern>) -> Result<Vec<usize>> {
        let list = counts("--messages", &self.messages, MOST_MESSAGES)?;
        match pattern {
            None => Ok(list),
            Some(_) if list.contains(&1) => Ok(vec![1]),
            Some(pattern) => input(format!(
                "--messages {}: --pattern {pattern} sends every partner one message; leave it out",
                joined(&list)
            )),
        }
    }

    fn pairs(&self, ranks: usize) -> Result<Vec<(usize, usize)>> {
        if self.all_pairs {
            if !ranks.is_multiple_of(2) {
                return input(format!(
                    "--all-pairs: {ranks} ranks leave one without a partner; start an even number"
                ));
            }
            return Ok((0..ranks / 2)
                .map(|rank| (rank, rank + ranks / 2))
                .collect());
        }
        let list = match self.ranks_of.as_slice() {
            [] => &[0, 1],
            list => list,
        };
        let text = joined(list);
        if !list.len().is_multiple_of(2) {
            return input(format!(
                "--ranks-of {text}: ranks come in pairs, A,B or A,B,C,D"
            ));
        }
        for (at, &rank) in list.iter().enumerate() {
            if rank >= ranks {
                return input(format!(
                    "--ranks-of {text}: there is no rank {rank}; there are {ranks} (0 to {})",
                    ranks - 1
                ));
            }
            if list[..at].contains(&rank) {
                return input(format!("--ranks-of {text}: rank {rank} is named twice"));
            }
        }
        let pair = |pair: &[usize]| (pair[0].min(pair[1]), pair[0].max(pair[1]));
        Ok(list.chunks_exact(2).map(pair).collect())
    }
}

/// Bytes that one rank needs, at most: a buffer to send and one to receive, those of every exchange
/// that an engine prepares (kept until the end), and the memory of `--cold`.
fn bytes_of_a_rank(request: &Request) -> f64 {
    let largest = request.volumes.iter().max().copied().unwrap_or(0);
    let prepared = |volume: &usize| {
        let mut exchanges: Vec<(EngineKind, bool)> = Vec::new();
        for case in request.cases(*volume) {
            if let Way::Engine(engine) = case.way
                && engine.has_buffers()
                && !exchanges.contains(&(engine, case.overlap))
            {
                exchanges.push((engine, case.overlap));
            }
        }
        exchanges.len() * request.messages(*volume).count() * 2 * volume
    };
    let cold = if request.cold {
        Eviction::bytes(cache_bytes())
    } else {
        0
    };
    (2 * largest + request.volumes.iter().map(prepared).sum::<usize>() + cold) as f64
}

/// Bytes with or without a unit.
fn volume(text: &str) -> Result<usize> {
    let lower = text.trim().to_ascii_lowercase();
    let units = [("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30)];
    let unit = units.iter().find(|(name, _)| lower.ends_with(name));
    let (digits, unit) = match unit {
        Some((name, unit)) => (lower.trim_end_matches(name), *unit),
        None => (lower.as_str(), 1),
    };
    let bytes = digits.trim().parse::<usize>().ok();
    match bytes.and_then(|bytes| bytes.checked_mul(unit)) {
        Some(bytes) if bytes > 0 && bytes.is_multiple_of(size_of::<f64>()) => Ok(bytes),
        _ => input(format!(
            "--volume {text}: must be a positive multiple of 8 bytes, such as 8192, 128KiB or 2MiB"
        )),
    }
}

fn counts(option: &str, list: &[usize], most: usize) -> Result<Vec<usize>> {
    let list: Result<Vec<usize>> = list.iter().map(|&n| within(option, n, most)).collect();
    let mut list = list?;
    list.sort_unstable();
    Ok(unique(list))
}

fn within(option: &str, value: usize, most: usize) -> Result<usize> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    input(format!(
        "{option} {value}: must be a whole number from 1 to {most}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_have_units() {
        assert_eq!(volume("8192").unwrap(), 8192);
        assert_eq!(volume("128KiB").unwrap(), 131_072);
        assert_eq!(volume("2 mib").unwrap(), 2 << 20);
        for wrong in ["0", "12", "-8", "2MB", "MiB", "99999999999999999999", ""] {
            assert!(volume(wrong).is_err(), "{wrong}");
        }
    }
}
