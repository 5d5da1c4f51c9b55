//! `swap`: the standalone swap test.

mod advice;
pub mod options;
pub(in crate::app) mod results;

use std::io::Write;
use std::path::Path;

pub use options::SwapOptions;

use super::launch::Job;
use super::print;
use super::result_files;
use super::session::{self, Program};
use crate::bench::case::Request;
use crate::bench::sweep::{self, News, Sweep};
use crate::error::{Error, Result};
use crate::exchange::eager;
use crate::measure::ClockQuality;
use crate::report::provenance::Provenance;
use crate::report::record::{Kind, Record, Verdict};
use crate::report::swap::{ClockRecord, SwapResults, Unavailable};
use crate::report::{csv, json, machine, swap_text, text, units};
use crate::transport::Transport;
use crate::transport::threads::ThreadOptions;

/// Bytes of the last cache level; a guess where the system does not tell.
pub(in crate::app) fn cache_bytes() -> usize {
    machine::last_cache_bytes().unwrap_or(64 << 20)
}

/// The record of a swap test.
type SwapRecord = Record<SwapResults>;

/// Swaps, prints the tables, writes the result.
///
/// # Errors
/// Bad options, a failed exchange, wrong data.
pub fn run(options: &SwapOptions, job: &Job) -> Result<()> {
    let ranks = options.rank_count(job)?;
    let (request, mut unavailable) = options.request(job, ranks)?;
    if job.is_root() {
        check_files(options)?;
    }
    let threads = ThreadOptions {
        eager_limit: options.eager_limit,
        watchdog_seconds: options.watchdog,
        ..ThreadOptions::default()
    };
    let test = SwapTest { request: &request };
    let outcomes = session::on_ranks(job, ranks, threads, &test)?;
    let Some(Outcome {
        sweep,
        mut provenance,
        clock,
        eager_limit,
    }) = outcomes.into_iter().flatten().next()
    else {
        return Ok(());
    };
    for (engine, reason) in &sweep.refused {
        if request.all_ways {
            return Err(Error::Input(format!(
                "--engine {}: {reason}",
                engine.name()
            )));
        }
        unavailable.push(Unavailable {
            engine: engine.name().to_owned(),
            reason: reason.clone(),
        });
    }
    if sweep.points.iter().all(|point| point.quota == 0) {
        return Err(Error::Input(format!(
            "--max-seconds {}: holds no six samples of any point; raise it, or ask for less",
            request.max_seconds
        )));
    }
    provenance.finish();
    let found = results::results(&sweep, &request, clock, eager_limit, unavailable);
    let verdict = verdict(&sweep, &found);
    let shown = format!(
        "{}\n{}",
        swap_text::results(&found),
        text::verdict(&verdict)
    );
    let record = Record::new(
        Kind::Swap,
        verdict,
        provenance,
        input(options, &request),
        found,
    );
    // The files first: nobody may be there to read the text.
    let written = write(options, &record);
    print(&shown)?;
    written?;
    if record.verdict.is_valid() {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "the swaps ended, but their result is INVALID: {}",
        record.verdict.reasons.join("; ")
    )))
}

/// Which ranks exchange with which, in words.
fn who(request: &Request) -> String {
    if let Some(pattern) = request.pattern {
        return format!("pattern {pattern}");
    }
    let names: Vec<String> = request
        .pairs
        .iter()
        .map(|(a, b)| format!("{a}-{b}"))
        .collect();
    let shown = names.iter().take(16).cloned().collect::<Vec<_>>().join(" ");
    let more = if names.len() > 16 { " ..." } else { "" };
    format!("swapping at once: {shown}{more}")
}

/// What every rank runs.
struct SwapTest<'a> {
    request: &'a Request,
}

/// What rank 0 has in the end.
struct Outcome {
    sweep: Sweep,
    provenance: Provenance,
    clock: ClockRecord,
    eager_limit: Option<usize>,
}

impl Program for SwapTest<'_> {
    type Output = Option<Outcome>;

    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output> {
        let provenance = session::provenance(&comm, self.request.seed)?;
        if let Some(provenance) = &provenance {
            print(&format!(
                "{}\n",
                swap_text::header(provenance, &who(self.request))
            ))?;
        }
        let speaks = provenance.is_some();
        let eager_limit = self.announce(&comm, speaks)?;
        let sweep = sweep::run(&comm, self.request, cache_bytes(), |news| {
            if speaks {
                say(news);
            }
        })?;
        let (Some(sweep), Some(provenance)) = (sweep, provenance) else {
            return Ok(None);
        };
        let quality = ClockQuality::of(|| comm.now());
        let clock = ClockRecord {
            resolution: quality.resolution,
            overhead: quality.overhead,
            shortest_reliable: quality.shortest_reliable(0.01),
            uncertainty: sweep.clock_uncertainty,
        };
        Ok(Some(Outcome {
            sweep,
            provenance,
            clock,
            eager_limit,
        }))
    }
}

impl SwapTest<'_> {
    /// Says which exchanges rely on buffering, and up to what size this library buffers: measured
    /// between the first two ranks that swap. Nothing where none does.
    fn announce<T: Transport>(&self, comm: &T, speaks: bool) -> Result<Option<usize>> {
        let illegal = || self.request.ways.iter().filter(|way| !way.is_legal());
        let Some(&(a, b)) = self
            .request
            .pairs
            .first()
            .filter(|_| illegal().next().is_some())
        else {
            return Ok(None);
        };
        let limit = eager::eager_limit(comm, a, b)?;
        if speaks {
            let names: Vec<String> = illegal().map(ToString::to_string).collect();
            let volumes = self.request.volumes.iter();
            let largest = volumes.filter_map(|&volume| {
                let fewest = self.request.messages(volume).next()?;
                Some(volume / fewest)
            });
            let largest = largest.max().unwrap_or(0);
            let never: Vec<String> = illegal()
                .filter(|way| way.is_synchronous())
                .map(ToString::to_string)
                .collect();
            let mut text = format!(
                "relies on buffering: {}; standard sends between ranks {a} and {b} were buffered \
                 up to {limit} bytes (measured now), synchronous ones never are",
                names.join(", ")
            );
            if !never.is_empty() {
                text.push_str(&format!(
                    "; a deadlock at any size, which is reported and ends the job: {}",
                    never.join(", ")
                ));
            } else if largest > limit {
                text.push_str(&format!(
                    "; messages of up to {largest} bytes are asked for: expect a deadlock, which is \
                     reported and ends the job"
                ));
            }
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        Ok(Some(limit))
    }
}

/// Progress goes to stderr, between timings.
fn say(news: News) {
    let line = match news {
        News::Checking { points } => {
            format!("{points} points: first swaps, with their data checked")
        }
        News::Timing {
            seconds,
            left_out: 0,
        } => {
            format!("timings, about {}", units::seconds(seconds))
        }
        News::Timing { seconds, left_out } => format!(
            "timings, about {}; {left_out} {} left out: --max-seconds does not hold the six \
             samples that an interval needs",
            units::seconds(seconds),
            if left_out == 1 { "point" } else { "points" }
        ),
        News::Round { done, all } if done == all || done == (all / 2).max(1) => {
            format!("round {done} of {all}")
        }
        News::Round { .. } => return,
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn verdict(sweep: &Sweep, found: &SwapResults) -> Verdict {
    let wrong = found
        .cases
        .iter()
        .filter(|case| case.verified == Some(false))
        .count();
    let mut reasons = Vec::new();
    if wrong > 0 {
        reasons.push(format!(
            "wrong data in {wrong} of {} curves",
            found.cases.len()
        ));
        reasons.extend(sweep.wrong.iter().cloned());
    }
    Verdict::from_reasons(reasons)
}

fn input(options: &SwapOptions, request: &Request) -> serde_json::Value {
    let ways: Vec<String> = request.ways.iter().map(ToString::to_string).collect();
    serde_json::json!({
        "ways": ways,
        "overlap": request.overlaps,
        "volume_bytes": request.volumes,
        "messages": request.messages,
        "iterations": request.iterations,
        "handshake": request.handshakes,
        "max_requests": request.max_requests,
        "cold": request.cold,
        "pairs": request.pairs,
        "pattern": options.pattern,
        "samples": request.samples,
        "warmup": request.warmup,
        "max_seconds": request.max_seconds,
        "unsafe_order": options.unsafe_order,
        "watchdog_seconds": options.watchdog,
        "eager_limit_bytes_of_threads": options.eager_limit,
    })
}

fn check_files(options: &SwapOptions) -> Result<()> {
    if let (Some(json), Some(csv)) = (&options.json, &options.csv)
        && result_files::same(json, csv)
    {
        return Err(Error::Input(format!(
            "--csv {}: is the file of --json, too; give each a file of its own",
            csv.display()
        )));
    }
    let files = [&options.json, &options.csv];
    files
        .into_iter()
        .flatten()
        .try_for_each(|path: &std::path::PathBuf| json::check_writable(Path::new(path)))?;
    Ok(())
}

fn write(options: &SwapOptions, record: &SwapRecord) -> Result<()> {
    if let Some(path) = &options.json {
        json::write(path, record)?;
    }
    if let Some(path) = &options.csv {
        json::write_atomically(path, csv::swap(&record.results).as_bytes())?;
    }
    Ok(())
}
