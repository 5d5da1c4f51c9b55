//! What the namelist chooses for the distributed transform.

use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::mesh::{MeshChoice, RankOrder};
use crate::exchange::choice::{ExchangeChoice, SwapChoice};
use crate::exchange::sum::SumChoice;
use crate::swap::method::Method;

/// The parallel algorithm of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlgorithmChoice {
    /// PX x PY, or chosen for the problem.
    pub mesh: MeshChoice,
    /// How ranks fill the mesh.
    pub rank_order: RankOrder,
    /// FFT.
    pub fft: FftAlgorithm,
    /// Legendre transform.
    pub legendre: LegendreAlgorithm,
    /// The transposes along a mesh row, for the FFT.
    pub fft_transpose: ExchangeChoice,
    /// The butterflies along a mesh row, of a distributed FFT.
    pub fft_butterfly: SwapChoice,
    /// The transpose along a mesh column, for the Legendre transform.
    pub legendre_transpose: ExchangeChoice,
    /// The vector sum along a mesh column, of a distributed Legendre transform.
    pub legendre_sum: SumChoice,
    /// Gathering for output.
    pub gather: Method,
    /// Largest message, in bytes, that the threads transport buffers.
    pub eager_limit: usize,
    /// A wait of this many seconds ends the job with a report; 0: never.
    pub watchdog_seconds: f64,
}
