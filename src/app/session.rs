//! A namelist made ready to run: ranks, mesh, kernel family; and the ranks that run it.

use std::path::Path;

use super::launch::Job;
use crate::decomp::auto;
use crate::decomp::mesh::Mesh;
use crate::error::{Error, Result};
use crate::exchange::collective;
use crate::namelist::{self, Namelist};
use crate::pencil::PencilError;
use crate::report::provenance::{Context, Place, Provenance};
use crate::report::{machine, units};
use crate::solver::{Model, SolverError};
use crate::transform::kernels::Family;
use crate::transport::threads::{self, RankFailure, ThreadOptions, ThreadTransport};
use crate::transport::{Transport, TransportError};

/// What every rank of a job runs, whatever carries its messages.
pub trait Program: Sync {
    /// What it returns.
    type Output: Send;

    /// Runs it on one rank.
    ///
    /// # Errors
    /// The failure that ends the job.
    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output>;
}

/// Runs a program on every rank of the job; the first failure ends all. What it returns on the
/// ranks of this process: all of them when they are threads, one when they are processes.
///
/// # Errors
/// The failure.
pub fn on_ranks<P: Program>(
    job: &Job,
    ranks: usize,
    options: ThreadOptions,
    program: &P,
) -> Result<Vec<P::Output>> {
    match job {
        Job::Threads => on_threads(ranks, options, |comm| program.run(comm)),
        #[cfg(feature = "mpi")]
        Job::Mpi(mpi) => {
            mpi.watch(options.watchdog_seconds);
            super::launch::run_on_mpi(mpi, program).map(|output| vec![output])
        }
    }
}

fn on_threads<T: Send>(
    ranks: usize,
    options: ThreadOptions,
    body: impl Fn(ThreadTransport) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    threads::run(ranks, options, body).map_err(|failure| match failure {
        RankFailure::Error { error, .. } => error,
        other => Error::Failed(other.to_string()),
    })
}

/// Where each rank runs, on rank 0: text travels as numbers, a byte each.
pub(super) fn gather_places<T: Transport>(comm: &T) -> Result<Option<Vec<Place>>> {
    let own = serde_json::to_string(&Place::here()).unwrap_or_default();
    let bytes: Vec<f64> = own.bytes().map(f64::from).collect();
    let Some(all) = collective::gather(comm, 0, &bytes)? else {
        return Ok(None);
    };
    let place = |bytes: &[f64]| {
        let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
        serde_json::from_slice(&bytes).unwrap_or(Place {
            host: None,
            cpus: None,
        })
    };
    Ok(Some(all.iter().map(place).collect()))
}

/// Where a result comes from, on rank 0. Every rank calls it.
pub(super) fn provenance<T: Transport>(comm: &T, seed: u64) -> Result<Option<Provenance>> {
    let places = gather_places(comm)?;
    Ok(places.map(|places| {
        Provenance::collect(Context {
            transport: T::NAME.to_owned(),
            transport_library: comm.library(),
            places,
            seed,
        })
    }))
}

/// Everything a rank needs to know.
pub struct Session {
    /// The namelist.
    pub namelist: Namelist,
    /// Ranks.
    pub ranks: usize,
    /// The mesh they form.
    pub mesh: Mesh,
    /// Which machine code runs.
    pub family: Family,
}

impl Session {
    /// Reads a namelist and fits a mesh to the ranks.
    ///
    /// # Errors
    /// Everything wrong with the namelist; a mesh that does not fit.
    pub fn load(path: &Path, sets: &[String], ranks: usize) -> Result<Self> {
        let namelist =
            namelist::load(path, sets).map_err(|error| Error::Input(error.to_string()))?;
        Self::new(namelist, ranks)
    }

    /// Fits a mesh to the ranks.
    ///
    /// # Errors
    /// A mesh that does not fit.
    pub fn new(namelist: Namelist, ranks: usize) -> Result<Self> {
        let mesh = match namelist::check_ranks(&namelist, ranks)? {
            Some(mesh) => mesh,
            None => {
                let problem = &namelist.problem;
                auto::choose(
                    &problem.truncation,
                    (problem.nlat, problem.nlon),
                    problem.levels,
                    ranks,
                    (namelist.algorithm.fft, namelist.algorithm.legendre),
                    namelist.algorithm.rank_order,
                )
                .0
            }
        };
        Ok(Self {
            namelist,
            ranks,
            mesh,
            family: Family::detect(),
        })
    }

    /// Refuses a problem that this machine's memory cannot hold, before anything is allocated.
    ///
    /// # Errors
    /// The arrays, or the times of the steps, need more than the memory there is.
    pub fn check_memory(&self) -> Result<()> {
        let needed = self.estimated_bytes();
        let steps = self.namelist.problem.steps;
        // Every rank keeps the time of each step.
        let times = 8.0 * steps as f64 * self.ranks as f64;
        match machine::memory_bytes() {
            Some(there) if times > there as f64 => Err(Error::Input(format!(
                "{}: the times of {steps} steps need about {}, this machine has {}; run fewer \
                 steps, and go on with --restart",
                self.namelist.at(if self.namelist.sets("problem.steps") {
                    "problem.steps"
                } else {
                    "problem.days"
                }),
                units::bytes(times as u64),
                units::bytes(there),
            ))),
            Some(there) if needed > there as f64 => Err(Error::Input(format!(
                "{} = {}: the arrays of {} at {} need about {}, this machine has {}; use fewer \
                 levels or a smaller truncation",
                self.namelist.at("problem.levels"),
                self.namelist.problem.levels,
                self.namelist.problem.case.name(),
                self.namelist.problem.truncation,
                units::bytes(needed as u64),
                units::bytes(there),
            ))),
            _ => Ok(()),
        }
    }

    /// How many models of this problem fit into half of this machine's memory.
    pub fn models_in_memory(&self) -> usize {
        let there = machine::memory_bytes().unwrap_or(u64::MAX) as f64;
        (0.5 * there / self.estimated_bytes().max(1.0)) as usize
    }

    /// Refuses an engine that this transport or its library does not have.
    ///
    /// # Errors
    /// The key that asks for it, and why it cannot be had.
    pub fn check_engines(&self, job: &Job) -> Result<()> {
        let choice = &self.namelist.algorithm;
        for (stage, exchange) in [
            ("algorithm.fft-transpose", &choice.fft_transpose),
            ("algorithm.legendre-transpose", &choice.legendre_transpose),
        ] {
            if let Some(engine) = exchange.engine
                && let Some(reason) = job.lacks(engine)
            {
                let own = format!("{stage}.engine");
                let key = if self.namelist.sets(&own) {
                    own.as_str()
                } else {
                    "algorithm.engine"
                };
                return Err(Error::Input(format!(
                    "{} = \"{}\": {reason}; `pstswm list` shows what there is here",
                    self.namelist.at(key),
                    engine.name()
                )));
            }
        }
        Ok(())
    }

    /// Bytes of all ranks' large arrays: grid points of nine fields, two working arrays of five
    /// fields of Fourier cells, and some forty numbers per spectral coefficient.
    fn estimated_bytes(&self) -> f64 {
        let p = &self.namelist.problem;
        let points = (p.nlat * p.nlon) as f64;
        let cells = ((p.truncation.m_max() + 1) * p.nlat * 2) as f64;
        let coefficients = p.truncation.coefficients() as f64;
        let arrays = if self.ranks > 1 { 2.0 } else { 1.0 };
        8.0 * p.levels as f64 * (9.0 * points + arrays * 5.0 * cells + 80.0 * coefficients)
    }

    /// Runs a program on every rank of the job: see [`on_ranks`].
    ///
    /// # Errors
    /// The failure.
    pub fn on_ranks<P: Program>(&self, job: &Job, program: &P) -> Result<Vec<P::Output>> {
        on_ranks(job, self.ranks, self.options(), program)
    }

    /// Runs `body` on every rank as a thread; the first failure ends all.
    ///
    /// # Errors
    /// The failure.
    pub fn on_threads<T: Send>(
        &self,
        body: impl Fn(ThreadTransport) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        on_threads(self.ranks, self.options(), body)
    }

    fn options(&self) -> ThreadOptions {
        ThreadOptions {
            eager_limit: self.namelist.algorithm.eager_limit,
            watchdog_seconds: self.namelist.algorithm.watchdog_seconds,
            ..ThreadOptions::default()
        }
    }

    /// The model at its initial state, on one rank. Every rank calls it.
    ///
    /// # Errors
    /// A problem or an algorithm that cannot be had, in the words of the namelist.
    pub fn model<T: Transport>(&self, comm: T) -> Result<Model<T>> {
        let Namelist {
            problem,
            time,
            algorithm,
            ..
        } = &self.namelist;
        Model::new(
            comm,
            problem.clone(),
            *time,
            self.mesh,
            algorithm,
            self.family,
        )
        .map_err(|error| self.explain(error))
    }

    /// A solver's error in the words of the namelist.
    pub fn explain(&self, error: SolverError) -> Error {
        let key = |key: &str| self.namelist.at(key);
        match error {
            SolverError::Start(reason) => {
                Error::Input(format!("{}: {reason}", key("problem.case")))
            }
            SolverError::File { key: place, error } => {
                Error::Input(format!("{}: {error}", key(place)))
            }
            SolverError::Pencil(PencilError::Transport(
                error @ TransportError::NoEngine { .. },
            )) => Error::Input(format!("{}: {error}", key("algorithm.engine"))),
            SolverError::Pencil(PencilError::Mesh(reason)) => {
                Error::Input(format!("{}: {reason}", key("algorithm.mesh")))
            }
            SolverError::Pencil(PencilError::Plan(error)) => {
                Error::Input(format!("{}: {error}", key("algorithm.protocol")))
            }
            other => Error::Failed(other.to_string()),
        }
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        match error {
            TransportError::NoEngine { .. } => Self::Input(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}
