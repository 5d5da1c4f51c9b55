//! Messages between ranks: what every way of carrying them offers.
//!
//! A [`Transport`] is one rank's end of a communicator. Messages move inside [`Transport::over`],
//! which lends it a send and a receive buffer for as long as a closure runs: whatever was started
//! inside is complete or cancelled when `over` returns, so no request outlives its buffers.
//! Messages match by source and tag, in the order they were sent. All lengths are in elements
//! (f64), all times in seconds.

pub mod engine;
pub mod error;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;

use std::ops::Range;

pub use engine::{Block, EngineKind, Exchange, Pattern};
pub use error::{TransportError, Waiting};

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendMode {
    /// The transport chooses whether to buffer (MPI_Send).
    Standard,
    /// Completes only after the receive has started (MPI_Ssend).
    Synchronous,
    /// The receive must be posted already (MPI_Rsend).
    Ready,
    /// Completes at once, from a buffer of the sender's (MPI_Bsend).
    Buffered,
}

impl SendMode {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Synchronous => "synchronous",
            Self::Ready => "ready",
            Self::Buffered => "buffered",
        }
    }
}

/// A tag. Tags stay below [`TAG_LIMIT`], the least upper bound that MPI guarantees.
pub type Tag = u32;

/// One more than the largest tag.
pub const TAG_LIMIT: Tag = 32768;

/// First of the tags that the collectives use; exchanges stay below it.
pub const COLLECTIVE_TAGS: Tag = 28672;

/// A send or receive under way inside one [`Transport::over`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The transport's slot.
    pub index: u32,
    /// Which use of the slot, so that a request waited for twice is noticed.
    pub serial: u32,
}

/// What an exchange calls itself in the report of a deadlock or a time-out, such as
/// `ordered/ready`. Within one, the tag of a message is its step.
#[derive(Debug, PartialEq, Eq)]
pub struct Label(pub String);

/// One rank's end of a communicator.
pub trait Transport: Sized {
    /// Messages over one pair of buffers.
    type Scope<'a>: Scope
    where
        Self: 'a;

    /// An exchange prepared by one of the engines.
    type Engine: Exchange;

    /// `threads` or `mpi`.
    const NAME: &'static str;

    /// What the library under it says it is; `None`: there is none.
    fn library(&self) -> Option<String>;

    /// This rank, counted from 0.
    fn rank(&self) -> usize;

    /// Ranks of the communicator.
    fn size(&self) -> usize;

    /// Seconds on this rank's monotonic clock.
    fn now(&self) -> f64;

    /// A communicator for each colour, its ranks ordered by key, then by rank. Every rank calls it.
    ///
    /// # Errors
    /// Another rank failed, or the transport could not make the communicator.
    fn split(&self, color: usize, key: usize) -> Result<Self, TransportError>;

    /// Why an engine cannot be had here; `None`: it can.
    fn lacks(engine: EngineKind) -> Option<String>;

    /// Prepares an exchange. Every rank calls it, with the same engine, `messages` and `together`.
    ///
    /// # Errors
    /// [`TransportError::NoEngine`]; a block for a rank that does not exist; another rank failed.
    fn engine(&self, engine: EngineKind, pattern: &Pattern)
    -> Result<Self::Engine, TransportError>;

    /// Adds up `values` over all ranks by the library's own collective (MPI_Allreduce); `None`: there
    /// is no library. Every rank calls it with as many values, and room for as many in `total`.
    ///
    /// The order of the additions is the library's, which need not give every rank the same bits: the
    /// result says whether it did, on every rank the same.
    ///
    /// # Errors
    /// Lengths that differ; more elements than the library can count; the library refused.
    fn allreduce_sum(
        &self,
        values: &[f64],
        total: &mut [f64],
    ) -> Option<Result<bool, TransportError>>;

    /// Runs `body`, which sends from ranges of `send` and receives into ranges of `recv`.
    ///
    /// When `body` succeeds, `over` waits for every request it left; when it fails or panics,
    /// they are cancelled. One rank has one `over` at a time.
    ///
    /// # Errors
    /// Those of `body`; of the waits for what it left; [`TransportError::Nested`].
    fn over<R>(
        &self,
        send: &[f64],
        recv: &mut [f64],
        body: impl FnOnce(&mut Self::Scope<'_>) -> Result<R, TransportError>,
    ) -> Result<R, TransportError>;
}

/// Messages over the pair of buffers of one [`Transport::over`].
///
/// Ranges of receives that are under way together must not overlap. Every call may fail because
/// another rank failed, a rank or range does not exist, or the watchdog ended the wait.
pub trait Scope {
    /// Sends a range of the send buffer; it may be reused afterwards.
    ///
    /// # Errors
    /// See the trait; a ready send whose receive is not posted, where the transport can know.
    fn send(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<(), TransportError>;

    /// Starts a send.
    ///
    /// # Errors
    /// As [`Scope::send`].
    fn isend(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError>;

    /// Receives into a range of the receive buffer; returns the elements received.
    ///
    /// # Errors
    /// See the trait; a message longer than the range.
    fn recv(&mut self, from: usize, tag: Tag, range: Range<usize>)
    -> Result<usize, TransportError>;

    /// Starts a receive.
    ///
    /// # Errors
    /// See the trait.
    fn irecv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError>;

    /// Waits for a request; returns the elements received, or sent.
    ///
    /// # Errors
    /// See the trait; a message longer than the range.
    fn wait(&mut self, request: Request) -> Result<usize, TransportError>;

    /// What has come into a range of the receive buffer, which no receive under way has a part of.
    ///
    /// # Errors
    /// No such range.
    fn arrived(&self, range: Range<usize>) -> Result<&[f64], TransportError>;

    /// Looks whether a request is complete and ends it if so: the elements received, or sent;
    /// `None`: not yet. Never waits.
    ///
    /// # Errors
    /// As [`Scope::wait`].
    fn test(&mut self, request: Request) -> Result<Option<usize>, TransportError>;

    /// What a rank of the communicator is in the whole job; `None`: this rank. For reports.
    fn job_rank(&self, rank: Option<usize>) -> usize;

    /// Says what the calls that follow belong to, for reports.
    fn label(&mut self, label: &'static Label);

    /// Sends and receives in one call, without an order between the two; returns the elements
    /// received.
    ///
    /// # Errors
    /// As [`Scope::send`] and [`Scope::recv`].
    fn sendrecv(
        &mut self,
        to: (usize, Tag, Range<usize>),
        from: (usize, Tag, Range<usize>),
    ) -> Result<usize, TransportError>;

    /// Tells a rank something; never waits for it. Signals have their own space of tags.
    ///
    /// # Errors
    /// See the trait.
    fn signal(&mut self, to: usize, tag: Tag) -> Result<(), TransportError>;

    /// Waits for a signal.
    ///
    /// # Errors
    /// See the trait.
    fn await_signal(&mut self, from: usize, tag: Tag) -> Result<(), TransportError>;
}
