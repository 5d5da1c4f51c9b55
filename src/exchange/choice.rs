//! What the namelist chooses for one exchange.

use crate::swap::order::Order;
use crate::swap::protocol::Protocol;

/// How the blocks of a transpose travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransposeAlgorithm {
    /// Pairwise swaps, partner `me XOR k`.
    Swap,
    /// Shifted send/receive, to `me + k`, from `me - k`.
    SendRecv,
}

impl TransposeAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Swap, Self::SendRecv];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Swap => "swap",
            Self::SendRecv => "send-recv",
        }
    }
}

/// Everything that decides how one transpose moves its data, never what it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeChoice {
    /// The steps.
    pub transpose: TransposeAlgorithm,
    /// Order within a step.
    pub order: Order,
    /// Protocol of a step.
    pub protocol: Protocol,
    /// Signal before each send, also where the protocol itself does not.
    pub handshake: bool,
    /// Cap on outstanding requests; 0: none.
    pub max_requests: usize,
    /// Post every receive, then do every exchange, then every finish.
    pub overlap: bool,
    /// Time a barrier before the movement, so that waiting is told from moving.
    pub barrier: bool,
}

impl Default for ExchangeChoice {
    fn default() -> Self {
        Self {
            transpose: TransposeAlgorithm::Swap,
            order: Order::Ordered,
            protocol: Protocol::NONBLOCKING_RECV,
            handshake: false,
            max_requests: 0,
            overlap: false,
            barrier: false,
        }
    }
}
