//! What the check of an exchange says.

use std::fmt;

use thiserror::Error;

use crate::swap::call::Call;

/// How an exchange ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every rank makes all of its calls.
    Ends,
    /// Ranks wait for each other for ever.
    Deadlock(Deadlock),
    /// The schedules do not agree, or are wrong in themselves.
    Faults(Vec<Fault>),
}

/// One call of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The rank.
    pub rank: usize,
    /// Which of its calls, from 0.
    pub index: usize,
    /// The call.
    pub call: Call,
}

/// A rank that waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The call it is in.
    pub at: Site,
    /// The call of another rank that it waits for.
    pub until: Site,
}

/// Ranks that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Every rank that does not end, in the order of ranks.
    pub waits: Vec<Wait>,
    /// Ranks each of which waits for the next, the last for the first.
    pub cycle: Vec<usize>,
}

/// Why an exchange cannot be right, whatever is buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A message or signal without a receiver.
    #[error("{0}: nothing receives it")]
    NoReceive(Site),
    /// A receive, or a wait for a signal, without a sender.
    #[error("{0}: nothing is sent to it")]
    NoSend(Site),
    /// The two ends of a message disagree.
    #[error("{send}: {sent} elements, but the receive has {room} ({receive})")]
    Lengths {
        /// The send.
        send: Site,
        /// Elements sent.
        sent: usize,
        /// The receive.
        receive: Site,
        /// Elements expected.
        room: usize,
    },
    /// A ready send whose receive need not be posted yet; of each rank the first.
    #[error("{send}: nothing tells that the receive is posted ({receive})")]
    TooEarly {
        /// The send.
        send: Site,
        /// Its receive.
        receive: Site,
    },
    /// A wait for a request that was not started, or was waited for before.
    #[error("{0}: waits for a request that is not under way")]
    NoRequest(Site),
    /// A request that is never waited for.
    #[error("{0}: is started, but never waited for")]
    NoWait(Site),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} call {}: {:#}", self.rank, self.index, self.call)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {}", self.at, self.until)
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycle: Vec<String> = self.cycle.iter().map(usize::to_string).collect();
        writeln!(f, "ranks that wait for each other: {}", cycle.join(", "))?;
        self.waits.iter().try_for_each(|wait| writeln!(f, "{wait}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends => writeln!(f, "ends"),
            Self::Deadlock(deadlock) => write!(f, "{deadlock}"),
            Self::Faults(faults) => faults.iter().try_for_each(|fault| writeln!(f, "{fault}")),
        }
    }
}
