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
    key: Key,
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
        let at = queues.posted.iter().position(matching);
        if let Some(Posted { slot, .. }) = at.and_then(|at| queues.posted.remove(at)) {
            self.deliver(&mut queues, slot, source, key, payload);
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

    /// Posts a receive. A message that is there already is delivered at once, but stays here, where
    /// its sender can take it back, until the owner takes it to copy it.
    pub(super) fn post(&self, source: usize, key: Key, slot: u32) {
        self.post_in(&mut self.lock(), source, key, slot);
    }

    fn post_in(&self, queues: &mut Queues, source: usize, key: Key, slot: u32) {
        let matching = |arrived: &Arrived| arrived.source == source && arrived.key == key;
        let at = queues.arrived.iter().position(matching);
        if let Some(Arrived { payload, .. }) = at.and_then(|at| queues.arrived.remove(at)) {
            self.deliver(queues, slot, source, key, payload);
        } else {
            queues.posted.push_back(Posted { source, key, slot });
        }
    }

    fn deliver(&self, queues: &mut Queues, slot: u32, source: usize, key: Key, payload: Payload) {
        queues.delivered.push(Delivery {
            slot,
            source,
            key,
            payload,
        });
        self.deliveries
            .store(queues.delivered.len(), Ordering::Release);
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

    /// Takes a lent message back, so that its receive waits again; does nothing when the receiver
    /// is copying it.
    pub(super) fn cancel_loan(&self, ended: &Arc<AtomicBool>) {
        let lent = |payload: &Payload| matches!(payload, Payload::Lent(loan) if loan.is_of(ended));
        let mut queues = self.lock();
        queues.arrived.retain(|arrived| !lent(&arrived.payload));
        let at = queues.delivered.iter().position(|d| lent(&d.payload));
        if let Some(at) = at {
            let taken = queues.delivered.remove(at);
            self.deliveries
                .store(queues.delivered.len(), Ordering::Release);
            self.post_in(&mut queues, taken.source, taken.key, taken.slot);
        }
    }
}
