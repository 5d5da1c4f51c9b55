//! The result of `env` for people: aligned blocks, plain text, no colour.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::env::{EagerRecord, EnvRecord, Rate};
use super::placement::Placed;
use super::text::title;
use super::units::{bytes, count, seconds};

/// Width of the names at the left.
const LABEL: usize = 15;

/// Everything, and at the end what may spoil timings.
pub fn text(record: &EnvRecord) -> String {
    let mut page = Page(title(&record.provenance.build));
    program(&mut page, record);
    transport(&mut page, record);
    engines(&mut page, record);
    ranks(&mut page, record);
    timers(&mut page, record);
    machine(&mut page, record);
    page.block("warnings");
    for warning in &record.provenance.warnings {
        let _ = writeln!(page.0, "  - {warning}");
    }
    if record.provenance.warnings.is_empty() {
        page.0.push_str("  none\n");
    }
    page.0
}

struct Page(String);

impl Page {
    fn block(&mut self, title: &str) {
        let _ = writeln!(self.0, "\n{title}");
    }

    fn line(&mut self, label: &str, value: impl AsRef<str>) {
        let _ = writeln!(self.0, "  {label:<LABEL$}{}", value.as_ref());
    }
}

fn known(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("unknown")
}

/// Names with commas between; `none`.
fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// A library's words with single spaces.
fn plain(library: &str) -> String {
    library.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn program(page: &mut Page, record: &EnvRecord) {
    let (build, results) = (&record.provenance.build, &record.results);
    page.block("program");
    page.line("commit", known(&build.git));
    page.line("compiler", known(&build.rustc));
    page.line(
        "profile",
        format!(
            "{}, optimisation level {}, for {}",
            known(&build.profile),
            known(&build.opt_level),
            known(&build.target)
        ),
    );
    page.line("features", list(&build.features));
    page.line("kernels", &results.kernel);
    page.line(
        "processor has",
        if results.vector_extensions.is_empty() {
            "no vector instructions that are known here".to_owned()
        } else {
            results.vector_extensions.join(", ")
        },
    );
}

fn transport(page: &mut Page, record: &EnvRecord) {
    let (provenance, results) = (&record.provenance, &record.results);
    page.block("transport");
    page.line(
        "in use",
        match &provenance.transport_library {
            Some(library) => format!("{} ({})", provenance.transport, plain(library)),
            None => provenance.transport.clone(),
        },
    );
    let none = "none recognised".to_owned();
    page.line("launcher", provenance.launcher.as_ref().unwrap_or(&none));
    match &results.mpi {
        Some(mpi) => {
            page.line(
                "MPI",
                format!(
                    "built with {} (MPI {}): {}",
                    plain(mpi.library.split(',').next().unwrap_or_default()),
                    mpi.standard,
                    mpi.launcher
                ),
            );
        }
        None => page.line(
            "MPI",
            "not in this build: ranks are threads (--ranks N); for MPI build with --features mpi",
        ),
    }
    if let Some(eager) = &results.eager {
        page.line("eager limit", eager_limit(eager));
        page.line(
            "",
            "(a standard send that completes before its receive is posted was buffered)",
        );
    }
}

fn eager_limit(eager: &EagerRecord) -> String {
    let [from, to] = eager.between;
    let limit = match eager.buffered_bytes {
        0 => "no standard send is buffered".to_owned(),
        most if most >= eager.tried_bytes => {
            format!("standard sends up to {most} bytes, the most that was tried, are buffered")
        }
        most => format!("standard sends up to {most} bytes are buffered"),
    };
    format!("{limit} (rank {from} to rank {to})")
}

fn engines(page: &mut Page, record: &EnvRecord) {
    let results = &record.results;
    page.block("engines");
    page.line(
        "pairwise",
        format!(
            "available: {} orders, {} protocols, {} legal pairs",
            results.orders, results.protocols, results.legal_pairs
        ),
    );
    for engine in &results.engines {
        match &engine.lacks {
            None => page.line(&engine.name, "available"),
            Some(reason) => page.line(&engine.name, format!("not here: {reason}")),
        }
    }
}

/// Lines of ranks that are shown before the rest is only counted.
const MOST_LINES: usize = 32;

fn ranks(page: &mut Page, record: &EnvRecord) {
    page.block("ranks");
    let mut places: Vec<&Placed> = record.results.ranks.iter().collect();
    let left = places.len().saturating_sub(MOST_LINES);
    places.truncate(MOST_LINES);
    for placed in places {
        let names = if placed.first == placed.last {
            format!("{}", placed.first)
        } else {
            format!("{} to {}", placed.first, placed.last)
        };
        page.line(
            &names,
            format!(
                "on {}, may run on processors {}",
                known(&placed.host),
                known(&placed.cpus)
            ),
        );
    }
    if left > 0 {
        page.line("...", format!("{left} more lines; --json FILE has all"));
    }
    if !record.provenance.environment.is_empty() {
        for (name, value) in &record.provenance.environment {
            page.line("environment", format!("{name}={value}"));
        }
    }
}

fn timers(page: &mut Page, record: &EnvRecord) {
    page.block("timers");
    for clock in &record.results.clocks {
        page.line(
            &clock.name,
            format!(
                "resolution {}, {} to read",
                seconds(clock.resolution),
                seconds(clock.overhead)
            ),
        );
    }
    page.line(
        "",
        "(the smallest difference between readings that differ; the median cost of a reading)",
    );
}

fn machine(page: &mut Page, record: &EnvRecord) {
    let (provenance, results) = (&record.provenance, &record.results);
    let cpu = &provenance.cpu;
    let number = |n: Option<usize>| n.map_or("unknown".to_owned(), |n| n.to_string());
    page.block("machine (of rank 0)");
    page.line("processor", known(&cpu.model));
    page.line(
        "cores",
        format!(
            "{}, sockets {}, processors {}, of these for this process {}; threads share a core: {}",
            number(cpu.cores),
            number(cpu.sockets),
            number(cpu.logical),
            number(cpu.available),
            match cpu.smt {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            }
        ),
    );
    let caches = BTreeMap::from([
        ("L1d", results.caches.l1d_bytes),
        ("L2", results.caches.l2_bytes),
        ("L3", results.caches.l3_bytes),
    ]);
    let known_caches: Vec<String> = caches
        .into_iter()
        .filter_map(|(name, size)| Some(format!("{name} {} KiB", size? / 1024)))
        .collect();
    page.line(
        "caches",
        if known_caches.is_empty() {
            "unknown".to_owned()
        } else {
            known_caches.join(", ")
        },
    );
    page.line(
        "memory",
        provenance.memory_bytes.map_or("unknown".to_owned(), bytes),
    );
    page.line("governor", known(&cpu.governor));
    page.line("kernel", known(&provenance.kernel));
    page.line(
        "load",
        provenance
            .load_average
            .map_or("unknown".to_owned(), |load| {
                format!("{load:.2} over the last minute")
            }),
    );
    for copy in &results.copy {
        page.line(
            "copy",
            format!(
                "{} GB/s, buffers of {}",
                rate(&copy.bytes_per_second),
                bytes(copy.buffer_bytes)
            ),
        );
    }
    page.line(
        "",
        "(10^9 bytes copied per second by one core; each byte counts once)",
    );
    page.line("FMA peak", format!("{} Gflop/s", rate(&results.peak_flops)));
    page.line(
        "",
        "(one core, independent multiply-adds in registers, 2 flops each, instructions of the \
         kernels)",
    );
}

/// The median in 10^9/s, and the spread.
fn rate(rate: &Rate) -> String {
    format!(
        "{} ({} to {} in {} samples)",
        count(rate.median / 1e9),
        count(rate.min / 1e9),
        count(rate.max / 1e9),
        rate.count
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn every_block_is_there() {
        let text = text(&sample::env());
        for needed in [
            "\nprogram\n",
            "\ntransport\n",
            "\nengines\n",
            "\nranks\n",
            "\ntimers\n",
            "\nmachine (of rank 0)\n",
            "\nwarnings\n  - the load average",
            "  eager limit    standard sends up to 4096 bytes are buffered (rank 0 to rank 1)\n",
            "  0 to 1         on node, may run on processors 0-1\n",
            "  MPI            built with Open MPI v4.1.4 (MPI 3.1): start it with",
            "  caches         L1d 32 KiB, L2 1024 KiB\n",
            "  alltoallv      available\n",
            "  partitioned    not here: needs MPI 4.0\n",
        ] {
            assert!(text.contains(needed), "{needed:?} in\n{text}");
        }
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }

    #[test]
    fn limits_in_words() {
        let limit = |buffered_bytes| {
            eager_limit(&EagerRecord {
                between: [0, 1],
                buffered_bytes,
                tried_bytes: 4096,
            })
        };
        assert!(limit(0).starts_with("no standard send"));
        assert!(limit(4096).contains("the most that was tried"));
        assert!(limit(8).contains("up to 8 bytes are"));
    }
}
