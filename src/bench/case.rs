//! What the swap test measures: plain data.

use std::fmt;

use super::pattern::Pattern;
use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::{EngineKind, SendMode};

/// How the messages of a swap travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Messages between two ranks.
    Pairwise(Order, Protocol),
    /// An engine.
    Engine(EngineKind),
}

impl Way {
    /// Every legal order and protocol, by order.
    pub fn legal() -> impl Iterator<Item = Self> {
        Self::pairs().filter(|way| way.is_legal())
    }

    /// Every order and protocol.
    pub fn pairs() -> impl Iterator<Item = Self> {
        let protocols =
            |order| Protocol::all().map(move |protocol| Self::Pairwise(order, protocol));
        Order::ALL.into_iter().flat_map(protocols)
    }

    /// Whether it ends without buffering.
    pub fn is_legal(self) -> bool {
        match self {
            Self::Pairwise(order, protocol) => protocol.legal_with(order),
            Self::Engine(_) => true,
        }
    }

    /// Whether its sends end only when they are received, whatever the library buffers.
    pub fn is_synchronous(self) -> bool {
        match self {
            Self::Pairwise(_, protocol) => protocol.row().mode == SendMode::Synchronous,
            Self::Engine(_) => false,
        }
    }

    /// Whether several messages can be under way together.
    pub fn overlaps(self) -> bool {
        match self {
            Self::Pairwise(_, protocol) => {
                let row = protocol.row();
                row.early_receive || row.immediate_send
            }
            Self::Engine(engine) => engine.overlaps(),
        }
    }

    /// The order, for messages between two ranks.
    pub fn order(self) -> Option<Order> {
        match self {
            Self::Pairwise(order, _) => Some(order),
            Self::Engine(_) => None,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pairwise(order, protocol) => write!(f, "{}/{}", order.name(), protocol.name()),
            Self::Engine(engine) => f.write_str(engine.name()),
        }
    }
}

/// A curve: one way to swap a volume, over numbers of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// How.
    pub way: Way,
    /// All messages are started, then exchanged, then finished.
    pub overlap: bool,
    /// Bytes each way.
    pub volume: usize,
    /// Swaps back to back in one timing.
    pub iterations: usize,
    /// A signal precedes every message, whatever the protocol.
    pub handshake: bool,
    /// Cap on outstanding requests with overlap; 0: none.
    pub max_requests: usize,
}

impl Case {
    /// What is compared: everything but volume and iterations.
    pub fn candidate(&self) -> Self {
        Self {
            volume: 0,
            iterations: 0,
            ..*self
        }
    }

    /// Its name in tables and advice.
    pub fn name(&self) -> String {
        let mut name = self.way.to_string();
        if self.handshake {
            name.push_str(" handshake");
        }
        if self.overlap {
            name.push_str(" overlap");
        }
        if self.max_requests > 0 {
            name.push_str(&format!(" max-requests {}", self.max_requests));
        }
        name
    }
}

/// What the swap test is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// How messages travel.
    pub ways: Vec<Way>,
    /// With overlap, without, or both.
    pub overlaps: Vec<bool>,
    /// Bytes each way, multiples of 8.
    pub volumes: Vec<usize>,
    /// Numbers of messages, ascending.
    pub messages: Vec<usize>,
    /// Numbers of swaps in one timing.
    pub iterations: Vec<usize>,
    /// Whether a signal precedes every message, whatever the protocol.
    pub handshakes: Vec<bool>,
    /// Caps on outstanding requests with overlap; 0: none.
    pub max_requests: Vec<usize>,
    /// Buffers are evicted from the caches before each timing.
    pub cold: bool,
    /// Ranks of the job.
    pub ranks: usize,
    /// All ranks together; `None`: pairs of them.
    pub pattern: Option<Pattern>,
    /// Who swaps with whom, the lower rank first, no rank twice; all at once. With a pattern the
    /// first and the last rank, which stand for all.
    pub pairs: Vec<(usize, usize)>,
    /// Timed samples of each point.
    pub samples: usize,
    /// Swaps of each point before them, at least 1; the first is checked.
    pub warmup: usize,
    /// Cap on the time of one curve, s; 0: none.
    pub max_seconds: f64,
    /// Seed of the order of samples.
    pub seed: u64,
    /// Whether all ways are wanted: where an engine cannot be had, nothing is measured. Otherwise it
    /// is left out.
    pub all_ways: bool,
}

impl Request {
    /// The place of a rank of the job among those that take part: rank 0, and all that swap.
    pub fn group_rank(&self, rank: usize) -> usize {
        if self.pattern.is_some() {
            return rank;
        }
        let swapping = self.pairs.iter().flat_map(|&(a, b)| [a, b]);
        let below = swapping.filter(|&other| other != 0 && other < rank).count();
        below + usize::from(rank > 0)
    }

    /// Which of the pairs a rank belongs to; with a pattern all are one.
    pub fn pair_of(&self, rank: usize) -> Option<usize> {
        if self.pattern.is_some() {
            return Some(0);
        }
        self.pairs.iter().position(|&(a, b)| a == rank || b == rank)
    }

    /// The ranks of a pair; with a pattern all.
    pub fn members(&self, pair: usize) -> Vec<usize> {
        if self.pattern.is_some() {
            return (0..self.ranks).collect();
        }
        let (a, b) = self.pairs[pair];
        vec![a, b]
    }

    /// How the messages of a case between two ranks travel; `None`: an engine moves them.
    pub fn method(&self, case: &Case) -> Option<Method> {
        match case.way {
            Way::Pairwise(order, protocol) => Some(Method {
                order,
                protocol,
                handshake: case.handshake,
                max_requests: case.max_requests,
                overlap: case.overlap,
            }),
            Way::Engine(_) => None,
        }
    }

    /// The curves of one volume. Overlap only where several messages can be under way together.
    pub fn cases(&self, volume: usize) -> Vec<Case> {
        let mut cases = Vec::new();
        for &iterations in &self.iterations {
            for &overlap in &self.overlaps {
                for &way in self.ways.iter().filter(|way| !overlap || way.overlaps()) {
                    // Signals and windows are of messages between two ranks.
                    let pairwise = matches!(way, Way::Pairwise(..));
                    let handshakes = if pairwise {
                        &*self.handshakes
                    } else {
                        &[false]
                    };
                    let windows = pairwise && overlap;
                    let caps = if windows { &*self.max_requests } else { &[0] };
                    for &handshake in handshakes {
                        for &max_requests in caps {
                            cases.push(Case {
                                way,
                                overlap,
                                volume,
                                iterations,
                                handshake,
                                max_requests,
                            });
                        }
                    }
                }
            }
        }
        cases
    }

    /// The numbers of messages that cut a volume into equal parts of whole doubles.
    pub fn messages(&self, volume: usize) -> impl Iterator<Item = usize> + '_ {
        let cuts = move |&n: &usize| self.cuts(volume, n);
        self.messages.iter().copied().filter(cuts)
    }

    /// The numbers of messages that do not: left out for this volume.
    pub fn left_out(&self, volume: usize) -> impl Iterator<Item = usize> + '_ {
        let left_out = move |&n: &usize| !self.cuts(volume, n);
        self.messages.iter().copied().filter(left_out)
    }

    fn cuts(&self, volume: usize, messages: usize) -> bool {
        let parts = self.pattern.map_or(1, |pattern| pattern.parts(self.ranks));
        let (elements, pieces) = (volume / size_of::<f64>(), parts * messages);
        elements.is_multiple_of(pieces) && pieces <= elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_every_legal_pair() {
        assert_eq!(Way::legal().count(), 29);
        assert_eq!(Way::pairs().count(), 33);
        let request = Request {
            ways: Way::legal().collect(),
            overlaps: vec![false, true],
            volumes: vec![8192],
            messages: (0..=10).map(|e| 1 << e).collect(),
            iterations: vec![1, 10],
            handshakes: vec![false],
            max_requests: vec![0],
            cold: false,
            ranks: 2,
            pattern: None,
            pairs: vec![(0, 1)],
            samples: 1,
            warmup: 1,
            max_seconds: 0.0,
            seed: 1,
            all_ways: true,
        };
        // Overlap: neither blocking protocol, nor sendrecv.
        assert_eq!(request.cases(8192).len(), 2 * (29 + 8 * 3));
        assert_eq!(request.messages(8192).count(), 11);
        assert_eq!(request.messages(4096).last(), Some(512));
        assert_eq!(request.messages(24).collect::<Vec<_>>(), [1]);
        let windows = Request {
            handshakes: vec![false, true],
            max_requests: vec![0, 4],
            ..request.clone()
        };
        // Windows only with overlap.
        assert_eq!(windows.cases(8192).len(), 2 * 2 * (29 + 2 * 8 * 3));
        assert_eq!(request.left_out(4096).collect::<Vec<_>>(), [1024]);
    }
}
