//! `env`: what this build and machine are, measured now.

use std::time::Duration;

use super::cli::EnvOptions;
use super::launch::{self, Job};
use super::print;
use super::session::{Program, gather_places, on_ranks};
use crate::error::Result;
use crate::exchange::eager;
use crate::measure::ClockQuality;
use crate::measure::copy::copy_rates;
use crate::report::env::{
    CopyRecord, EagerRecord, EngineRecord, EnvRecord, EnvResults, MpiRecord, Rate, TimerRecord,
};
use crate::report::machine::{self, Caches};
use crate::report::provenance::{Context, Provenance};
use crate::report::record::{Kind, Record, Verdict};
use crate::report::{env_text, json, placement};
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transform::kernels::Family;
use crate::transform::peak;
use crate::transport::threads::ThreadOptions;
use crate::transport::{EngineKind, Scope, SendMode, Tag, Transport, TransportError};

/// Measures, prints, and writes the result where it is wanted.
///
/// # Errors
/// Bad options; a file that cannot be written; a rank that failed.
pub fn run(options: &EnvOptions, job: &Job) -> Result<()> {
    let ranks = job.ranks(options.ranks)?;
    if let (Some(path), true) = (&options.json, job.is_root()) {
        json::check_writable(path)?;
    }
    let records = on_ranks(job, ranks, ThreadOptions::default(), &Look)?;
    let Some(record) = records.into_iter().flatten().next() else {
        return Ok(());
    };
    print(&env_text::text(&record))?;
    if let Some(path) = &options.json {
        json::write(path, &record)?;
    }
    Ok(())
}

/// What every rank does: rank 0 looks at the machine and measures while the others are idle.
struct Look;

impl Program for Look {
    type Output = Option<EnvRecord>;

    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output> {
        let places = gather_places(&comm)?;
        let ranks = comm.size();
        let limit = match ranks {
            1 => None,
            _ => Some(eager::eager_limit(&comm, 0, 1)?),
        };
        let Some(places) = places else {
            wait_idly(&comm)?;
            return Ok(None);
        };
        let placed = placement::compressed(&places);
        let mut provenance = Provenance::collect(Context {
            transport: T::NAME.to_owned(),
            transport_library: comm.library(),
            places,
            seed: 0,
        });
        let results = EnvResults {
            kernel: Family::detect().name().to_owned(),
            vector_extensions: machine::vector_extensions(),
            mpi: launch::mpi_built_with().map(mpi_record),
            engines: EngineKind::ALL.map(engine::<T>).to_vec(),
            orders: Order::ALL.len(),
            protocols: Protocol::all().count(),
            legal_pairs: legal_pairs(),
            ranks: placed,
            clocks: clocks(&comm),
            caches: Caches::detect(),
            copy: copies(&Caches::detect()),
            peak_flops: Rate::of(&peak::samples(Family::detect(), SAMPLES)),
            eager: limit.map(|limit| EagerRecord {
                between: [0, 1],
                buffered_bytes: limit as u64,
                tried_bytes: eager::LARGEST as u64,
            }),
        };
        wake(&comm)?;
        provenance.finish();
        let input = serde_json::json!({ "ranks": ranks });
        let verdict = Verdict::valid();
        Ok(Some(Record::new(
            Kind::Env,
            verdict,
            provenance,
            input,
            results,
        )))
    }
}

/// Samples of each rate.
const SAMPLES: usize = 21;

/// Samples of a copy that takes long.
const FEW_SAMPLES: usize = 7;

/// Tag of the message that ends the wait of the other ranks.
const WAKE: Tag = 1;

/// Waits for rank 0 without using a processor: MPI's own waits spin.
fn wait_idly<T: Transport>(comm: &T) -> std::result::Result<(), TransportError> {
    comm.over(&[], &mut [0.0], |scope| {
        let request = scope.irecv(0, WAKE, 0..1)?;
        while scope.test(request)?.is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    })
}

/// Ends the wait of all others.
fn wake<T: Transport>(comm: &T) -> std::result::Result<(), TransportError> {
    comm.over(&[0.0], &mut [], |scope| {
        (1..comm.size()).try_for_each(|rank| scope.send(SendMode::Standard, rank, WAKE, 0..1))
    })
}

fn engine<T: Transport>(engine: EngineKind) -> EngineRecord {
    EngineRecord {
        name: engine.name().to_owned(),
        lacks: T::lacks(engine),
    }
}

fn legal_pairs() -> usize {
    let pairs = |order| Protocol::all().filter(move |protocol| protocol.legal_with(order));
    Order::ALL
        .into_iter()
        .map(|order| pairs(order).count())
        .sum()
}

fn clocks<T: Transport>(comm: &T) -> Vec<TimerRecord> {
    let mut clocks = vec![TimerRecord::new("monotonic", ClockQuality::measure())];
    if T::NAME == "mpi" {
        clocks.push(TimerRecord::new(
            "MPI_Wtime",
            ClockQuality::of(|| comm.now()),
        ));
    }
    clocks
}

/// A buffer well inside the second cache, and one of four times the last; half a GB and an eighth
/// of the memory are the most.
fn copies(caches: &Caches) -> Vec<CopyRecord> {
    let small = caches.l2_bytes.unwrap_or(256 << 10) / 8;
    let memory = machine::memory_bytes().unwrap_or(1 << 30);
    let large = (4 * caches.last().unwrap_or(32 << 20))
        .min(512 << 20)
        .min(memory / 8);
    [(small, SAMPLES), (large, FEW_SAMPLES)]
        .map(|(buffer_bytes, samples)| CopyRecord {
            buffer_bytes,
            bytes_per_second: Rate::of(&copy_rates(buffer_bytes as usize, samples)),
        })
        .to_vec()
}

fn mpi_record((library, standard): (String, (i32, i32))) -> MpiRecord {
    let launcher = launcher(&library).to_owned();
    MpiRecord {
        library,
        standard: format!("{}.{}", standard.0, standard.1),
        launcher,
    }
}

/// How to start ranks with a library; another one's launcher starts processes that are each alone.
fn launcher(library: &str) -> &'static str {
    if library.starts_with("Open MPI") {
        "start it with that library's mpirun (mpirun.openmpi where there are several)"
    } else if library.starts_with("MPICH") {
        "start it with that library's mpiexec (mpiexec.mpich or mpirun.mpich where there are several)"
    } else {
        "start it with the mpiexec of that library, or srun"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_fit_the_library() {
        let of = |library: &str| mpi_record((library.to_owned(), (3, 1)));
        assert!(
            of("Open MPI v4.1.4, package")
                .launcher
                .contains("mpirun.openmpi")
        );
        assert!(
            of("MPICH Version: 4.0.2")
                .launcher
                .contains("mpiexec.mpich")
        );
        assert_eq!(of("Other").standard, "3.1");
    }

    #[test]
    fn buffers_fit_the_machine() {
        assert_eq!(legal_pairs(), 29);
        let copies = copies(&Caches {
            l1d_bytes: None,
            l2_bytes: Some(1 << 20),
            l3_bytes: None,
        });
        let sizes: Vec<u64> = copies.iter().map(|copy| copy.buffer_bytes).collect();
        assert_eq!(sizes, [1 << 17, 4 << 20]);
    }
}
