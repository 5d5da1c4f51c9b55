//! What the namelist chooses for the distributed transform.

use crate::decomp::mesh::{MeshChoice, RankOrder};
use crate::exchange::choice::ExchangeChoice;
use crate::swap::method::Method;

/// How the FFT meets the distribution of longitudes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftAlgorithm {
    /// Lines become local by splitting levels, and stay so.
    SingleTranspose,
    /// Lines of any field, level and latitude are dealt out, and go back over wavenumbers.
    DoubleTranspose,
}

impl FftAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::SingleTranspose, Self::DoubleTranspose];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleTranspose => "single-transpose",
            Self::DoubleTranspose => "double-transpose",
        }
    }
}

/// The parallel algorithm of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlgorithmChoice {
    /// PX x PY, or chosen for the problem.
    pub mesh: MeshChoice,
    /// How ranks fill the mesh.
    pub rank_order: RankOrder,
    /// FFT.
    pub fft: FftAlgorithm,
    /// The transposes along a mesh row, for the FFT.
    pub fft_transpose: ExchangeChoice,
    /// The transpose along a mesh column, for the Legendre transform.
    pub legendre_transpose: ExchangeChoice,
    /// Gathering for output.
    pub gather: Method,
    /// Largest message, in bytes, that the threads transport buffers.
    pub eager_limit: usize,
    /// A wait of this many seconds ends the job with a report; 0: never.
    pub watchdog_seconds: f64,
}
