//! What the ranks of one prepared exchange share.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::transport::{Block, EngineKind, Pattern, TransportError};

/// What one rank brings when an exchange is prepared.
pub(in crate::transport::threads) struct Offer {
    pub(super) kind: EngineKind,
    pub(super) pattern: Pattern,
}

/// All ranks of one exchange.
pub(in crate::transport::threads) struct Board {
    pub(super) seats: Vec<Seat>,
}

/// One rank's part: its counters are written by it alone, its edges by their two ends.
/// Aligned so that no two ranks' counters share a cache line.
#[repr(align(128))]
pub(super) struct Seat {
    pub(super) pattern: Pattern,
    kind: EngineKind,
    /// Start of the send buffer of the exchange under way.
    pub(super) base: AtomicPtr<f64>,
    /// Exchanges that this rank has entered.
    pub(super) entered: AtomicU64,
    /// Fences that this rank has come to.
    pub(super) fences: AtomicU64,
    /// The exchange for which this rank's window may be written.
    pub(super) posted: AtomicU64,
    /// To every rank that gets a block from this one, in the order of `pattern.send`.
    pub(super) edges: Vec<Edge>,
    /// Memory of this rank that others write (put) or read (shared window).
    pub(super) window: Window,
}

/// A block on its way from one rank to another: who may touch it.
pub(super) struct Edge {
    /// The receiver.
    pub(super) to: usize,
    /// A state for every message under way together.
    slots: Vec<AtomicU64>,
    /// Parts that are ready, of a message in parts: exchange in the upper half, count in the lower.
    ready: AtomicU64,
}

/// States of a slot, in the lowest two bits; above them stands the number of the exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The data are there, and wait.
    There = 0,
    /// The receiver is copying them.
    Copying = 1,
    /// The receiver has them.
    Taken = 2,
    /// The sender failed and took them back.
    Withdrawn = 3,
}

impl Edge {
    fn code(turn: u64, state: State) -> u64 {
        turn << 2 | state as u64
    }

    /// Whether a slot is in this state of this exchange.
    pub(super) fn is(&self, slot: usize, turn: u64, state: State) -> bool {
        self.slots[slot].load(Ordering::Acquire) == Self::code(turn, state)
    }

    /// Enters a state; what was written before is seen by whoever sees the state.
    pub(super) fn set(&self, slot: usize, turn: u64, state: State) {
        self.slots[slot].store(Self::code(turn, state), Ordering::Release);
    }

    /// Enters a state from another; false: the other end was first.
    pub(super) fn change(&self, slot: usize, turn: u64, from: State, to: State) -> bool {
        let (from, to) = (Self::code(turn, from), Self::code(turn, to));
        let slot = &self.slots[slot];
        slot.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Says how many parts are ready.
    pub(super) fn set_ready(&self, turn: u64, parts: usize) {
        self.ready
            .store(turn << 32 | parts as u64, Ordering::Release);
    }

    /// How many parts are ready.
    pub(super) fn ready(&self, turn: u64) -> usize {
        let ready = self.ready.load(Ordering::Acquire);
        if ready >> 32 == turn & u64::from(u32::MAX) {
            (ready & u64::from(u32::MAX)) as usize
        } else {
            0
        }
    }
}

/// Memory that other ranks write or read.
pub(super) struct Window {
    cells: Vec<UnsafeCell<f64>>,
}

// SAFETY: every access states that the protocol of the exchange gives it the range alone, or for
// reading (see `write` and `read`).
unsafe impl Sync for Window {}

impl Window {
    fn new(len: usize) -> Self {
        Self {
            cells: (0..len).map(|_| UnsafeCell::new(0.0)).collect(),
        }
    }

    /// Stores elements at `start`.
    ///
    /// # Safety
    /// No other thread may read or write the range until it has synchronised with this one.
    pub(super) unsafe fn write(&self, start: usize, elements: &[f64]) {
        let cells = &self.cells[start..start + elements.len()];
        let to = UnsafeCell::raw_get(cells.as_ptr());
        // SAFETY: `cells` has the length of `elements`, is other memory, and is this thread's alone
        // by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len()) };
    }

    /// The elements of a range.
    ///
    /// # Safety
    /// No thread may write the range while the result is used.
    pub(super) unsafe fn read(&self, range: Range<usize>) -> &[f64] {
        let cells = &self.cells[range];
        // SAFETY: `UnsafeCell<f64>` has the layout of f64; nobody writes by the caller's promise.
        unsafe { std::slice::from_raw_parts(UnsafeCell::raw_get(cells.as_ptr()), cells.len()) }
    }
}

impl Board {
    /// The exchange of all ranks' offers, in the order of ranks.
    pub(in crate::transport::threads) fn new(offers: Vec<Offer>) -> Self {
        let seat = |Offer { kind, pattern }| {
            let slots = match (pattern.together, kind) {
                (true, EngineKind::Partitioned) | (false, _) => 1,
                (true, _) => pattern.messages,
            };
            let edge = |block: &Block| Edge {
                to: block.peer,
                slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
                ready: AtomicU64::new(0),
            };
            let elements = |blocks: &[Block]| blocks.iter().map(Block::len).sum();
            Seat {
                window: Window::new(match kind {
                    EngineKind::PutFence | EngineKind::PutPscw => elements(&pattern.recv),
                    EngineKind::SharedWindow => elements(&pattern.send),
                    _ => 0,
                }),
                edges: pattern.send.iter().map(edge).collect(),
                kind,
                pattern,
                base: AtomicPtr::default(),
                entered: AtomicU64::new(0),
                fences: AtomicU64::new(0),
                posted: AtomicU64::new(0),
            }
        };
        Self {
            seats: offers.into_iter().map(seat).collect(),
        }
    }

    /// Whether all ranks mean the same: what one sends another expects. `members`: what they are in
    /// the whole job.
    ///
    /// # Errors
    /// [`TransportError::Unmatched`] with the first difference that `rank` takes part in.
    pub(super) fn check(&self, rank: usize, members: &[usize]) -> Result<(), TransportError> {
        let own = &self.seats[rank];
        let unmatched = |partner: usize, sends: String, expects: String| {
            Err(TransportError::Unmatched {
                rank: members[rank],
                partner: members[partner],
                sends,
                expects,
            })
        };
        let how = |seat: &Seat| {
            let together = if seat.pattern.together {
                " together"
            } else {
                ""
            };
            let messages = seat.pattern.messages;
            format!("{} in {messages} messages{together}", seat.kind.name())
        };
        if let Some(other) = self.seats.iter().position(|seat| how(seat) != how(own)) {
            return unmatched(other, how(&self.seats[other]), how(own));
        }
        let len = |blocks: &[Block], peer: usize| {
            let block = blocks.iter().find(|block| block.peer == peer);
            block.map_or(0, Block::len)
        };
        let peers = own.pattern.send.iter().chain(&own.pattern.recv);
        for peer in peers.map(|block| block.peer) {
            let Some(other) = self.seats.get(peer) else {
                return Err(TransportError::NoSuchRank {
                    rank,
                    partner: peer,
                    size: self.seats.len(),
                });
            };
            let ends = [
                (len(&own.pattern.send, peer), len(&other.pattern.recv, rank)),
                (len(&other.pattern.send, rank), len(&own.pattern.recv, peer)),
            ];
            if let Some((sent, expected)) = ends.into_iter().find(|(a, b)| a != b) {
                let elements = |count: usize| format!("{count} elements");
                return unmatched(peer, elements(sent), elements(expected));
            }
        }
        Ok(())
    }
}
