//! What the namelist chooses for one exchange.

use std::fmt;

use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::EngineKind;

/// How the blocks of a transpose travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransposeAlgorithm {
    /// Pairwise swaps, partner `me XOR k`.
    Swap,
    /// Shifted send/receive, to `me + k`, from `me - k`.
    SendRecv,
    /// Blocks travel through other ranks: log2 P swaps of half the data where P is a power of two,
    /// Bruck's algorithm for other numbers.
    Logarithmic,
}

impl TransposeAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::Swap, Self::SendRecv, Self::Logarithmic];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Swap => "swap",
            Self::SendRecv => "send-recv",
            Self::Logarithmic => "logarithmic",
        }
    }
}

/// Everything that decides how one transpose moves its data, never what it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeChoice {
    /// The steps of a transpose that is made of messages between pairs of ranks.
    pub transpose: TransposeAlgorithm,
    /// What moves the whole transpose in one go; `None`: messages between pairs of ranks, by the
    /// algorithm, order and protocol.
    pub engine: Option<EngineKind>,
    /// Order within a step.
    pub order: Order,
    /// Protocol of a step.
    pub protocol: Protocol,
    /// Signal before each send, also where the protocol itself does not.
    pub handshake: bool,
    /// Cap on outstanding requests when overlapping; 0: none.
    pub max_requests: usize,
    /// Post every receive, then do every exchange, then every finish. Rounds of the logarithmic
    /// transpose cannot overlap: each sends what the one before brought.
    pub overlap: bool,
    /// Time a barrier before the movement, so that waiting is told from moving.
    pub barrier: bool,
}

impl ExchangeChoice {
    /// Whether elements that lie apart are moved as they are, so that nothing packs them.
    pub fn moves_apart(&self) -> bool {
        self.engine == Some(EngineKind::Alltoallw)
    }

    /// Whether blocks travel through other ranks, so that they are moved in rounds.
    pub fn passes_on(&self) -> bool {
        self.engine.is_none() && self.transpose == TransposeAlgorithm::Logarithmic
    }

    /// How the messages between pairs of ranks travel.
    pub fn method(&self) -> Method {
        Method {
            order: self.order,
            protocol: self.protocol,
            handshake: self.handshake,
            max_requests: self.max_requests,
            overlap: self.overlap,
        }
    }
}

/// How the swaps of an exchange in which every rank has one partner at a time travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwapChoice {
    /// Order, protocol and what modifies them; with overlap, work is done while a message travels.
    pub method: Method,
    /// Time a barrier before the movement, so that waiting is told from moving.
    pub barrier: bool,
}

impl Default for SwapChoice {
    fn default() -> Self {
        let choice = ExchangeChoice::default();
        Self {
            method: choice.method(),
            barrier: choice.barrier,
        }
    }
}

impl fmt::Display for SwapChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.method.label().0)
    }
}

impl Default for ExchangeChoice {
    fn default() -> Self {
        Self {
            transpose: TransposeAlgorithm::Swap,
            engine: None,
            order: Order::Ordered,
            protocol: Protocol::NONBLOCKING_RECV,
            handshake: false,
            max_requests: 0,
            overlap: false,
            barrier: false,
        }
    }
}

impl fmt::Display for ExchangeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine {
            Some(engine) => f.write_str(engine.name()),
            None => write!(
                f,
                "{} {}/{}",
                self.transpose.name(),
                self.order.name(),
                self.protocol.name()
            ),
        }
    }
}
