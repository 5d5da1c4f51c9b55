//! What is chosen for one vector sum.

use std::fmt;

use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;

/// How a vector is added up over the ranks: P ranks, N elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumAlgorithm {
    /// Recursive doubling: log2 P swaps of N elements.
    Exchange,
    /// Recursive halving, then recursive doubling: 2 log2 P swaps of N/2, N/4, ... elements.
    Halving,
    /// 2 (P - 1) shifts of N/P elements: partial sums go round the ring, then their results.
    Ring,
    /// As [`SumAlgorithm::Ring`]; what a rank adds is computed while the partial sum is on its way.
    PipelinedRing,
    /// The library's collective (MPI_Allreduce); between threads a binomial tree of messages.
    Native,
}

impl SumAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 5] = [
        Self::Exchange,
        Self::Halving,
        Self::Ring,
        Self::PipelinedRing,
        Self::Native,
    ];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Halving => "halving",
            Self::Ring => "ring",
            Self::PipelinedRing => "pipelined-ring",
            Self::Native => "native",
        }
    }

    /// The algorithm with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }
}

/// Everything that decides how one vector sum moves its data. The order of the additions follows from
/// the algorithm alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumChoice {
    /// The steps, and with them the order of the additions.
    pub algorithm: SumAlgorithm,
    /// Order within a step.
    pub order: Order,
    /// Protocol of a step.
    pub protocol: Protocol,
    /// Signal before each send, also where the protocol itself does not.
    pub handshake: bool,
    /// Time a barrier before the movement, so that waiting is told from moving.
    pub barrier: bool,
}

impl SumChoice {
    /// How the messages between pairs of ranks travel. A step needs the result of the one before it,
    /// so steps do not overlap.
    pub fn method(&self) -> Method {
        Method {
            order: self.order,
            protocol: self.protocol,
            handshake: self.handshake,
            max_requests: 0,
            overlap: false,
        }
    }
}

impl Default for SumChoice {
    fn default() -> Self {
        Self {
            algorithm: SumAlgorithm::Exchange,
            order: Order::Ordered,
            protocol: Protocol::NONBLOCKING_RECV,
            handshake: false,
            barrier: false,
        }
    }
}

impl fmt::Display for SumChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name())?;
        if self.algorithm == SumAlgorithm::Native {
            return Ok(());
        }
        write!(f, " {}/{}", self.order.name(), self.protocol.name())
    }
}
