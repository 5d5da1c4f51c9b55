//! Engines: what moves a whole exchange in one go, beside the pairwise messages of a
//! [`Scope`](super::Scope).
//!
//! A [`Pattern`] says which elements go where; [`Transport::engine`](super::Transport::engine)
//! prepares it once (windows, derived datatypes, persistent requests) and [`Exchange::execute`]
//! moves the data as often as wanted. Moving has no rounding, so all engines give the same bits.

use std::ops::Range;

use super::TransportError;

/// What moves an exchange. The names are those of the namelist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EngineKind {
    /// MPI_Alltoallv.
    Alltoallv,
    /// MPI_Ialltoallv, then the wait.
    Ialltoallv,
    /// MPI_Alltoallw with derived datatypes: elements that are apart need no packing.
    Alltoallw,
    /// MPI_Neighbor_alltoallv on the graph of the ranks that have something for each other.
    Neighbour,
    /// Requests made once (MPI_Send_init, MPI_Recv_init) and started every time.
    Persistent,
    /// MPI_Put into the partner's window, between two fences.
    PutFence,
    /// MPI_Put, with post, start, complete and wait between partners only.
    PutPscw,
    /// Loads and stores in memory that the ranks of a node share.
    SharedWindow,
    /// Partitioned messages of MPI-4: each part of a message is marked ready by itself.
    Partitioned,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [Self; 9] = [
        Self::Alltoallv,
        Self::Ialltoallv,
        Self::Alltoallw,
        Self::Neighbour,
        Self::Persistent,
        Self::PutFence,
        Self::PutPscw,
        Self::SharedWindow,
        Self::Partitioned,
    ];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alltoallv => "alltoallv",
            Self::Ialltoallv => "ialltoallv",
            Self::Alltoallw => "alltoallw",
            Self::Neighbour => "neighbour",
            Self::Persistent => "persistent",
            Self::PutFence => "put-fence",
            Self::PutPscw => "put-pscw",
            Self::SharedWindow => "shared-window",
            Self::Partitioned => "partitioned",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether an exchange that it prepares may keep buffers of its own, as large as the data.
    pub fn has_buffers(self) -> bool {
        !matches!(
            self,
            Self::Alltoallv | Self::Ialltoallv | Self::Alltoallw | Self::Neighbour
        )
    }

    /// Whether several messages can be under way together ([`Pattern::together`]): a blocking
    /// collective ends before the next begins.
    pub fn overlaps(self) -> bool {
        !matches!(self, Self::Alltoallv | Self::Alltoallw | Self::Neighbour)
    }
}

/// The elements that one rank has for another, or gets from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The other rank; may be this one.
    pub peer: usize,
    /// The ranges of the buffer, in the order of the elements; they do not overlap.
    pub runs: Vec<Range<usize>>,
}

impl Block {
    /// Elements that lie together.
    pub fn contiguous(peer: usize, range: Range<usize>) -> Self {
        Self {
            peer,
            runs: vec![range],
        }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Range::len).sum()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One rank's part of an exchange: at most one block for and from every rank, none of them empty,
/// ascending by rank. What one rank sends another expects: same length, same number of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What goes out.
    pub send: Vec<Block>,
    /// What comes in. Blocks do not overlap.
    pub recv: Vec<Block>,
    /// Messages that each block is cut into, equally: its length is a multiple. Above 1 only for
    /// blocks of one run.
    pub messages: usize,
    /// All messages in one go (they are started, then completed); otherwise each message is a whole
    /// exchange that ends before the next begins.
    pub together: bool,
}

impl Pattern {
    /// Whether every block is one run.
    pub fn is_contiguous(&self) -> bool {
        let mut blocks = self.send.iter().chain(&self.recv);
        blocks.all(|block| block.runs.len() == 1)
    }

    /// Which of its own rules a pattern breaks, but for overlaps; `None`: none.
    pub fn fault(&self) -> Option<&'static str> {
        let ascending = |blocks: &[Block]| blocks.is_sorted_by(|a, b| a.peer < b.peer);
        let mut blocks = self.send.iter().chain(&self.recv);
        if self.messages == 0 {
            Some("an exchange has at least one message")
        } else if !ascending(&self.send) || !ascending(&self.recv) {
            Some("there is one block for each rank at most, and they ascend by rank")
        } else if blocks.clone().any(Block::is_empty) {
            Some("a block without elements is left out")
        } else if self.messages > 1 && !self.is_contiguous() {
            Some("only a block that lies together can be cut into messages")
        } else if blocks.any(|block| !block.len().is_multiple_of(self.messages)) {
            Some("the messages of a block have the same length")
        } else {
            None
        }
    }

    /// The part of a one-run block that message `index` of `messages` carries.
    pub fn part(&self, block: &Block, index: usize) -> Range<usize> {
        let whole = block.runs.first().cloned().unwrap_or_default();
        let len = whole.len() / self.messages.max(1);
        whole.start + index * len..whole.start + (index + 1) * len
    }
}

/// An exchange that an engine has prepared. Every rank of the communicator drops it in the same
/// order, and before the communicator's transport.
pub trait Exchange {
    /// Moves the data; every rank of the communicator calls it. The buffers have the lengths for
    /// which the pattern was made; elements of `recv` outside the pattern keep their values.
    ///
    /// # Errors
    /// Another rank failed; buffers too short for the pattern; the library refused.
    fn execute(&mut self, send: &[f64], recv: &mut [f64]) -> Result<(), TransportError>;
}
