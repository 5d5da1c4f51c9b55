//! The calls one rank makes: plain data, printable and comparable.

use std::fmt;
use std::ops::Range;

use crate::transport::{SendMode, Tag};

/// One message, seen from one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The rank at the other end.
    pub peer: usize,
    /// Its tag.
    pub tag: Tag,
    /// First element in this rank's buffer.
    pub start: usize,
    /// Elements.
    pub len: usize,
}

impl Leg {
    /// The elements in this rank's buffer.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = self.range();
        write!(
            f,
            "{} tag {} {}..{}",
            self.peer, self.tag, range.start, range.end
        )
    }
}

/// One call of one rank. `step` names the request that a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Start a receive (MPI_Irecv).
    PostReceive {
        /// The message.
        leg: Leg,
        /// Step of the exchange.
        step: usize,
    },
    /// Receive (MPI_Recv).
    Receive {
        /// The message.
        leg: Leg,
    },
    /// Wait for a started receive.
    WaitReceive {
        /// The message.
        leg: Leg,
        /// Step of the exchange.
        step: usize,
    },
    /// Send and wait until the buffer is free (MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend).
    Send {
        /// How.
        mode: SendMode,
        /// The message.
        leg: Leg,
    },
    /// Start a send (MPI_Isend, MPI_Issend, MPI_Irsend).
    PostSend {
        /// How.
        mode: SendMode,
        /// The message.
        leg: Leg,
        /// Step of the exchange.
        step: usize,
    },
    /// Wait for a started send.
    WaitSend {
        /// The message.
        leg: Leg,
        /// Step of the exchange.
        step: usize,
    },
    /// Both in one call (MPI_Sendrecv).
    SendReceive {
        /// The message sent.
        send: Leg,
        /// The message received.
        recv: Leg,
    },
    /// Tell a rank that it may send.
    Signal {
        /// The rank.
        to: usize,
        /// Tag of the message it may send.
        tag: Tag,
    },
    /// Wait until told that the message may be sent.
    AwaitSignal {
        /// The rank that tells.
        from: usize,
        /// Tag of the message.
        tag: Tag,
    },
}

impl Call {
    /// The name the protocol tables use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PostReceive { .. } => "irecv",
            Self::Receive { .. } => "recv",
            Self::WaitReceive { .. } => "wait recv",
            Self::Send { mode, .. } => match mode {
                SendMode::Standard => "send",
                SendMode::Synchronous => "ssend",
                SendMode::Ready => "rsend",
                SendMode::Buffered => "bsend",
            },
            Self::PostSend { mode, .. } => match mode {
                SendMode::Standard => "isend",
                SendMode::Synchronous => "issend",
                SendMode::Ready => "irsend",
                SendMode::Buffered => "ibsend",
            },
            Self::WaitSend { .. } => "wait send",
            Self::SendReceive { .. } => "sendrecv",
            Self::Signal { .. } => "signal",
            Self::AwaitSignal { .. } => "await signal",
        }
    }

    /// The MPI call; signals are messages without data on a communicator of their own.
    pub fn mpi_name(&self) -> &'static str {
        match self {
            Self::PostReceive { .. } => "MPI_Irecv",
            Self::Receive { .. } | Self::AwaitSignal { .. } => "MPI_Recv",
            Self::Send { mode, .. } => match mode {
                SendMode::Standard => "MPI_Send",
                SendMode::Synchronous => "MPI_Ssend",
                SendMode::Ready => "MPI_Rsend",
                SendMode::Buffered => "MPI_Bsend",
            },
            Self::PostSend { mode, .. } => match mode {
                SendMode::Standard => "MPI_Isend",
                SendMode::Synchronous => "MPI_Issend",
                SendMode::Ready => "MPI_Irsend",
                SendMode::Buffered => "MPI_Ibsend",
            },
            Self::WaitReceive { .. } | Self::WaitSend { .. } => "MPI_Wait",
            Self::SendReceive { .. } => "MPI_Sendrecv",
            Self::Signal { .. } => "MPI_Send",
        }
    }
}

/// In columns; `{:#}` as a phrase.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if f.alternate() { 0 } else { 12 };
        write!(f, "{:<width$} ", self.name())?;
        match self {
            Self::PostReceive { leg, .. }
            | Self::Receive { leg }
            | Self::WaitReceive { leg, .. } => write!(f, "from {leg}"),
            Self::Send { leg, .. } | Self::PostSend { leg, .. } | Self::WaitSend { leg, .. } => {
                write!(f, "to {leg}")
            }
            Self::SendReceive { send, recv } => write!(f, "to {send}, from {recv}"),
            Self::Signal { to, tag } => write!(f, "to {to} tag {tag}"),
            Self::AwaitSignal { from, tag } => write!(f, "from {from} tag {tag}"),
        }
    }
}
