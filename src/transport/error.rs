//! What can go wrong between ranks.

use std::fmt;

use thiserror::Error;

use super::{COLLECTIVE_TAGS, Label, Tag};

/// What a rank waits for. Ranks are those of the whole job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// This rank.
    pub rank: usize,
    /// `to send to`, `to receive from`, `for a signal from`, ...
    pub waiting: &'static str,
    /// The rank waited for.
    pub partner: usize,
    /// What the exchange is called; its tags are its steps.
    pub label: Option<&'static Label>,
    /// Tag of the message or signal.
    pub tag: Tag,
    /// Length of the message, or of the range that receives it.
    pub elements: usize,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rank,
            waiting,
            partner,
            tag,
            ..
        } = self;
        let bytes = self.elements * size_of::<f64>();
        write!(f, "rank {rank} waits {waiting} rank {partner} ")?;
        write!(f, "({}, {bytes} bytes)", place(self.label, *tag))
    }
}

/// Where in an exchange a message is: its tag is the step, but for the tags of collectives.
pub(super) fn place(label: Option<&Label>, tag: Tag) -> String {
    match label {
        _ if tag >= COLLECTIVE_TAGS => format!("tag {tag} of a collective"),
        Some(Label(name)) => format!("{name}, step {tag}"),
        None => format!("tag {tag}"),
    }
}

fn listed(waits: &[Waiting]) -> String {
    let waits: Vec<String> = waits.iter().map(Waiting::to_string).collect();
    waits.join(", ")
}

/// Why a message did not arrive. Ranks are those of the whole job, also on a split communicator.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Another rank failed first.
    #[error("rank {rank}: stopped, because rank {failed} failed")]
    Aborted {
        /// This rank.
        rank: usize,
        /// The rank whose error is the cause.
        failed: usize,
    },
    /// The watchdog ended a wait.
    #[error(
        "{waiting}, for {seconds} s: is the partner stuck, or does the exchange rely on buffering?"
    )]
    Timeout {
        /// What for.
        waiting: Waiting,
        /// The limit, seconds.
        seconds: f64,
    },
    /// The partner ended without taking part.
    #[error("{waiting}, which has ended: the ranks do not agree on the messages")]
    PartnerEnded {
        /// What for.
        waiting: Waiting,
    },
    /// Ranks wait for each other in a ring.
    #[error(
        "deadlock: {}; does the exchange rely on buffering, or do the ranks not agree on the \
         messages?",
        listed(.ring)
    )]
    Deadlock {
        /// Each waits for the next, the last for the first.
        ring: Vec<Waiting>,
    },
    /// A message does not fit.
    #[error(
        "rank {rank}: the message from rank {from} (tag {tag}) has {message} elements, \
         the receive only room for {room}"
    )]
    Truncated {
        /// The receiver.
        rank: usize,
        /// The sender.
        from: usize,
        /// Tag of the message.
        tag: Tag,
        /// Elements sent.
        message: usize,
        /// Elements of the receiving range.
        room: usize,
    },
    /// A message is shorter than the plan says.
    #[error(
        "rank {rank}: the message from rank {from} (tag {tag}) has {message} elements, \
         the plan expects {expected}"
    )]
    Short {
        /// The receiver.
        rank: usize,
        /// The sender.
        from: usize,
        /// Tag of the message.
        tag: Tag,
        /// Elements sent.
        message: usize,
        /// Elements expected.
        expected: usize,
    },
    /// A ready send came too early.
    #[error(
        "rank {rank}: ready send to rank {to} (tag {tag}, {elements} elements), \
         which has posted no receive for it"
    )]
    NotPosted {
        /// The sender.
        rank: usize,
        /// The receiver.
        to: usize,
        /// Tag of the message.
        tag: Tag,
        /// Its length.
        elements: usize,
    },
    /// More elements than the library can count.
    #[error(
        "rank {rank}: a message of {elements} elements is more than MPI can count ({}); use more \
         ranks, or fewer levels",
        i32::MAX
    )]
    CountTooLarge {
        /// This rank.
        rank: usize,
        /// Elements of the message.
        elements: usize,
    },
    /// The communication library refused a call.
    #[error("rank {rank}: {call} failed: {message}")]
    Library {
        /// This rank.
        rank: usize,
        /// The call.
        call: &'static str,
        /// The library's words.
        message: String,
    },
    /// The ranks of an exchange that an engine is to prepare do not mean the same.
    #[error(
        "rank {rank}: rank {partner} brings {sends} to an exchange, {expects} are expected: the \
         ranks do not agree"
    )]
    Unmatched {
        /// This rank.
        rank: usize,
        /// The other.
        partner: usize,
        /// What one end sends, or means.
        sends: String,
        /// What the other end expects, or means.
        expects: String,
    },
    /// An engine that this transport or its library does not have.
    #[error("engine {engine}: {reason}")]
    NoEngine {
        /// The engine.
        engine: &'static str,
        /// Why not.
        reason: String,
    },
    /// No such rank.
    #[error("rank {rank}: no rank {partner}: the communicator has {size} (0 to {})", size - 1)]
    NoSuchRank {
        /// This rank.
        rank: usize,
        /// The rank named, in the communicator.
        partner: usize,
        /// Ranks of the communicator.
        size: usize,
    },
    /// A tag above the limit.
    #[error("rank {rank}: tag {tag} is not below {}", super::TAG_LIMIT)]
    NoSuchTag {
        /// This rank.
        rank: usize,
        /// The tag.
        tag: Tag,
    },
    /// A range outside its buffer.
    #[error("rank {rank}: elements {start}..{end} of a {buffer} buffer of {len}")]
    OutOfRange {
        /// This rank.
        rank: usize,
        /// `send` or `receive`.
        buffer: &'static str,
        /// First element.
        start: usize,
        /// One past the last.
        end: usize,
        /// Elements of the buffer.
        len: usize,
    },
    /// A buffer does not have the length of the plan.
    #[error(
        "rank {rank}: the {buffer} buffer has {found} elements, the plan of the exchange {expected}"
    )]
    BufferLength {
        /// This rank.
        rank: usize,
        /// `send`, `receive` or `total`.
        buffer: &'static str,
        /// Elements of the plan.
        expected: usize,
        /// Elements given.
        found: usize,
    },
    /// A plan is used on a communicator it was not made for.
    #[error(
        "the plan is of rank {plan_rank} of {plan_size}, the communicator's end of rank {rank} \
         of {size}"
    )]
    WrongCommunicator {
        /// Rank in the plan.
        plan_rank: usize,
        /// Ranks in the plan.
        plan_size: usize,
        /// Rank in the communicator.
        rank: usize,
        /// Ranks in the communicator.
        size: usize,
    },
    /// A request that is not under way.
    #[error("rank {rank}: this request was waited for already, or is of another exchange")]
    NoSuchRequest {
        /// This rank.
        rank: usize,
    },
    /// An exchange inside an exchange.
    #[error("rank {rank}: an exchange is under way; it must end before the next begins")]
    Nested {
        /// This rank.
        rank: usize,
    },
}
