//! Data that go through the sender's own buffer: the receiver reads it, with one copy, while the
//! sender waits.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ThreadEngine;
use super::board::{Edge, State};
use super::copy::{copy_from, runs};
use crate::transport::TransportError;
use crate::transport::threads::wait::Backoff;

impl ThreadEngine {
    /// The receiver reads the sender's buffer; the sender waits until it has.
    pub(super) fn through_buffer(
        &mut self,
        send: &[f64],
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        let board = Arc::clone(&self.board);
        let seat = &board.seats[self.comm.rank];
        let slots = if self.row.in_parts { 1 } else { messages.len() };
        seat.base.store(send.as_ptr().cast_mut(), Ordering::Relaxed);
        // From here on other ranks read `send`, until the guard is dropped.
        let _lent = Lent {
            edges: &seat.edges,
            slots,
            turn: self.turn,
            rank: self.comm.rank,
        };
        for edge in self.outgoing(seat) {
            for slot in 0..slots {
                edge.set(slot, self.turn, State::There);
            }
            self.wake(edge.to);
        }
        if self.row.in_parts {
            for edge in self.outgoing(seat) {
                for parts in 1..=messages.len() {
                    edge.set_ready(self.turn, parts);
                }
            }
        }
        if self.row.meets_all {
            seat.entered.store(self.turn, Ordering::Release);
        }
        if self.row.as_they_come {
            self.take_as_they_come(recv, messages)?;
        } else {
            self.take_in_order(recv, messages)?;
        }
        for edge in self.outgoing(seat) {
            for slot in 0..slots {
                self.until("to be read by", edge.to, || {
                    edge.is(slot, self.turn, State::Taken)
                })?;
            }
        }
        if self.row.meets_all {
            for other in 0..board.seats.len() {
                let entered = &board.seats[other].entered;
                self.until("to be joined by", other, || {
                    entered.load(Ordering::Acquire) >= self.turn
                })?;
            }
        }
        Ok(())
    }

    /// Takes the blocks of the ranks before this one, beginning with the nearest.
    fn take_in_order(
        &self,
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        let rank = self.comm.rank;
        let split = self
            .incoming
            .partition_point(|incoming| incoming.from < rank);
        let after = split..self.incoming.len();
        for index in (0..split).rev().chain(after.rev()) {
            let incoming = &self.incoming[index];
            if incoming.from == rank {
                continue;
            }
            for slot in 0..messages.len() {
                let edge = &self.board.seats[incoming.from].edges[incoming.edge];
                // Not taken: the sender failed and took it back, which ends the next wait.
                while !self.try_take(recv, index, slot, &messages) {
                    self.until("to read from", incoming.from, || {
                        edge.is(slot, self.turn, State::There)
                    })?;
                }
            }
        }
        Ok(())
    }

    fn take_as_they_come(
        &mut self,
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        let slots = if self.row.in_parts { 1 } else { messages.len() };
        let total = self.incoming.len() * slots;
        let mut left = 0;
        for index in 0..total {
            let waits = self.incoming[index / slots].from != self.comm.rank;
            self.waiting[index] = waits;
            left += usize::from(waits);
        }
        let mut backoff = Backoff::new();
        while left > 0 {
            let mut first = None;
            let before = left;
            for index in 0..total {
                if !self.waiting[index] {
                    continue;
                }
                if self.try_take(recv, index / slots, index % slots, &messages) {
                    self.waiting[index] = false;
                    left -= 1;
                } else {
                    first.get_or_insert(self.incoming[index / slots].from);
                }
            }
            match first {
                Some(from) if left == before => {
                    backoff.partner(&self.comm, &self.awaited("to read from", from), || {
                        self.any_there(total, slots)
                    })?;
                }
                _ => backoff = Backoff::new(),
            }
        }
        Ok(())
    }

    /// Whether a message that is waited for is there.
    fn any_there(&self, total: usize, slots: usize) -> bool {
        (0..total).any(|index| {
            let incoming = &self.incoming[index / slots];
            let edge = &self.board.seats[incoming.from].edges[incoming.edge];
            self.waiting[index] && edge.is(index % slots, self.turn, State::There)
        })
    }

    /// Copies a message out of the sender's buffer, if it is there.
    fn try_take(
        &self,
        recv: &mut [f64],
        index: usize,
        slot: usize,
        messages: &Range<usize>,
    ) -> bool {
        let incoming = &self.incoming[index];
        let sender = &self.board.seats[incoming.from];
        let edge = &sender.edges[incoming.edge];
        if !edge.change(slot, self.turn, State::There, State::Copying) {
            return false;
        }
        let base = sender.base.load(Ordering::Relaxed).cast_const();
        let (block, own) = (
            &sender.pattern.send[incoming.edge],
            &self.seat().pattern.recv[index],
        );
        let mut message = |message: usize| {
            let from = runs(&sender.pattern, block, message);
            let to = runs(&self.seat().pattern, own, message);
            // SAFETY: the slot says Copying, so the sender keeps its buffer alive and unchanged
            // until it says Taken (`Lent`); it checked that its runs lie in the buffer.
            unsafe { copy_from(base, from, recv, to) };
        };
        if self.row.in_parts {
            let mut done = 0;
            // The sender marks all parts without waiting for anything.
            while done < messages.len() {
                let ready = edge.ready(self.turn);
                (done..ready).for_each(|part| message(messages.start + part));
                if ready == done {
                    // It marks them without waiting, but may have no processor.
                    std::thread::yield_now();
                }
                done = done.max(ready);
            }
        } else {
            message(messages.start + slot);
        }
        edge.set(slot, self.turn, State::Taken);
        self.wake(incoming.from);
        true
    }
}

/// A send buffer that other ranks may read. Dropping it takes back what nobody reads, and waits for
/// those that do.
struct Lent<'a> {
    edges: &'a [Edge],
    slots: usize,
    turn: u64,
    rank: usize,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for edge in self.edges.iter().filter(|edge| edge.to != self.rank) {
            for slot in 0..self.slots {
                edge.change(slot, self.turn, State::There, State::Withdrawn);
                // A copy that has begun is short, and cannot fail.
                while edge.is(slot, self.turn, State::Copying) {
                    std::thread::yield_now();
                }
            }
        }
    }
}
