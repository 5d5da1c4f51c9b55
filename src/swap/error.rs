//! Why an exchange cannot be planned.

use thiserror::Error;

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// An order and a protocol that together need buffering.
    #[error(
        "protocol {protocol} with order {order}: both ranks would send before either receives, \
         which ends only if the messages are buffered; use order ordered, or another protocol"
    )]
    Illegal {
        /// The order.
        order: &'static str,
        /// The protocol.
        protocol: &'static str,
    },
    /// Segments of a vector that are not one per rank.
    #[error("segments of a vector: {found} given, {expected} needed, one for each rank")]
    Segments {
        /// Ranks.
        expected: usize,
        /// Segments.
        found: usize,
    },
    /// A rank outside its communicator.
    #[error("rank {rank} of {size}")]
    Rank {
        /// The rank.
        rank: usize,
        /// Ranks.
        size: usize,
    },
    /// A rank that sends itself another number of elements than it receives from itself.
    #[error("rank {rank} keeps a block of {send} elements but expects {receive} from itself")]
    OwnBlock {
        /// The rank.
        rank: usize,
        /// Elements sent.
        send: usize,
        /// Elements received.
        receive: usize,
    },
}
