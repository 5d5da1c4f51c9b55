//! A namelist made ready to run: ranks, mesh, kernel family; and the ranks that run it.

use std::path::Path;

use crate::decomp::auto;
use crate::decomp::mesh::Mesh;
use crate::error::{Error, Result};
use crate::namelist::{self, Namelist};
use crate::pencil::PencilError;
use crate::pencil::choice::FftAlgorithm;
use crate::solver::SolverError;
use crate::transform::kernels::Family;
use crate::transport::TransportError;
use crate::transport::threads::{self, RankFailure, ThreadOptions, ThreadTransport};

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
                    namelist.algorithm.fft == FftAlgorithm::SingleTranspose,
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

    /// Runs `body` on every rank; the first failure ends all.
    ///
    /// # Errors
    /// The failure.
    pub fn on_ranks<T: Send>(
        &self,
        body: impl Fn(ThreadTransport) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let options = ThreadOptions {
            eager_limit: self.namelist.algorithm.eager_limit,
            watchdog_seconds: self.namelist.algorithm.watchdog_seconds,
            ..ThreadOptions::default()
        };
        threads::run(self.ranks, options, body).map_err(|failure| match failure {
            RankFailure::Error { error, .. } => error,
            other => Error::Failed(other.to_string()),
        })
    }

    /// A solver's error in the words of the namelist.
    pub fn explain(&self, error: SolverError) -> Error {
        let key = |key: &str| self.namelist.at(key);
        match error {
            SolverError::Start(reason) => {
                Error::Input(format!("{}: {reason}", key("problem.case")))
            }
            SolverError::File(error) => {
                let place = if self.namelist.problem.file.is_some() {
                    "problem.file.path"
                } else {
                    "problem.mountain"
                };
                Error::Input(format!("{}: {error}", key(place)))
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
        Self::Failed(error.to_string())
    }
}
