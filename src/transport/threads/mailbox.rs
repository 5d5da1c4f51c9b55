//! Where messages and receives of one rank meet: matching by source and tag, in order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::loan::Loan;
use crate::transport::Tag;

/// What a message matches by beside its source: tags of data and of signals are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A message with data.
    Data(Tag),
    /// A signal.
    Signal(Tag),
}

/// What a message carries.
pub(super) enum Payload {
    /// A copy.
    Owned(Vec<f64>),
    /// The sender's own elements, until the receiver has copied them.
    Lent(Loan),
    /// Nothing.
    Signal,
}

/// A message with the slot of the receive it matched.
pub(super) struct Delivery {
    /// The receiver's slot.
    pub(super) slot: u32,
    /// The sender.
    pub(super) source: usize,
    /// The data.
    pub(super) payload: Payload,
}

struct Posted {
    source: usize,
    key: Key,
    slot: u32,
}

struct Arrived {
    source: usize,
    key: Key,
    payload: Payload,
}

#[derive(Default)]
struct Queues {
    posted: VecDeque<Posted>,
    arrived: VecDeque<Arrived>,
    delivered: Vec<Delivery>,
}

/// One rank's mailbox on one communicator. Only matching is done under its lock, never a copy.
/// Aligned so that no two ranks' mailboxes share a cache line.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Mailbox {
    queues: Mutex<Queues>,
    /// Deliveries not yet taken; lets the owner look without the lock.
    deliveries: AtomicUsize,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        // Nothing panics while the lock is held, and every state in between is valid.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in; gives it back when `posted_only` and no receive waits for it.
    pub(super) fn put(
        &self,
        source: usize,
        key: Key,
        payload: Payload,
        posted_only: bool,
    ) -> Result<(), Payload> {
        let mut queues = self.lock();
        let matching = |posted: &Posted| posted.source == source && posted.key == key;
        if let Some(at) = queues.posted.iter().position(matching) {
            let slot = queues.posted.remove(at).map_or(0, |posted| posted.slot);
            queues.delivered.push(Delivery {
                slot,
                source,
                payload,
            });
            self.deliveries
                .store(queues.delivered.len(), Ordering::Release);
        } else if posted_only {
            return Err(payload);
        } else {
            queues.arrived.push_back(Arrived {
                source,
                key,
                payload,
            });
        }
        Ok(())
    }

    /// Posts a receive; returns the message when it is there already.
    pub(super) fn post(&self, source: usize, key: Key, slot: u32) -> Option<Delivery> {
        let mut queues = self.lock();
        let matching = |arrived: &Arrived| arrived.source == source && arrived.key == key;
        let at = queues.arrived.iter().position(matching);
        if let Some(arrived) = at.and_then(|at| queues.arrived.remove(at)) {
            return Some(Delivery {
                slot,
                source,
                payload: arrived.payload,
            });
        }
        queues.posted.push_back(Posted { source, key, slot });
        None
    }

    /// Whether [`Mailbox::take`] would find something.
    pub(super) fn has_deliveries(&self) -> bool {
        self.deliveries.load(Ordering::Acquire) != 0
    }

    /// Moves what matched posted receives to the end of `into`.
    pub(super) fn take(&self, into: &mut Vec<Delivery>) {
        let mut queues = self.lock();
        into.append(&mut queues.delivered);
        self.deliveries.store(0, Ordering::Release);
    }

    /// Forgets every posted receive and what they matched.
    pub(super) fn cancel_receives(&self) {
        let mut queues = self.lock();
        queues.posted.clear();
        queues.delivered.clear();
        self.deliveries.store(0, Ordering::Release);
    }

    /// Takes a lent message back; does nothing when the receiver has it.
    pub(super) fn cancel_loan(&self, ended: &Arc<AtomicBool>) {
        let lent = |payload: &Payload| matches!(payload, Payload::Lent(loan) if loan.is_of(ended));
        let mut queues = self.lock();
        queues.arrived.retain(|arrived| !lent(&arrived.payload));
        // A delivery taken back leaves its receive without a message: the exchange has failed.
        queues.delivered.retain(|delivery| !lent(&delivery.payload));
        self.deliveries
            .store(queues.delivered.len(), Ordering::Release);
    }
}
