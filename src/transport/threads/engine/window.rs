//! Data that go through memory of their own: a window of the receiver, which senders write, or a
//! segment of the sender, which receivers read.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ThreadEngine;
use super::board::State;
use crate::transport::TransportError;

impl ThreadEngine {
    /// The sender puts into the receiver's window, who copies out of it.
    pub(super) fn through_window(
        &mut self,
        send: &[f64],
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        let board = Arc::clone(&self.board);
        let seat = &board.seats[self.comm.rank];
        let fenced = self.row.meets_all;
        if fenced {
            self.fence()?;
        } else {
            seat.posted.store(self.turn, Ordering::Release);
            for incoming in &self.incoming {
                self.wake(incoming.from);
            }
        }
        for (edge, (block, &place)) in seat
            .edges
            .iter()
            .zip(seat.pattern.send.iter().zip(&self.placed))
        {
            if edge.to == self.comm.rank {
                continue;
            }
            let target = &board.seats[edge.to];
            if !fenced {
                self.until("for a window of", edge.to, || {
                    target.posted.load(Ordering::Acquire) >= self.turn
                })?;
            }
            for message in messages.clone() {
                let part = seat.pattern.part(block, message);
                let at = place + part.start - block.runs[0].start;
                // SAFETY: the fence, or the post, says that the owner has copied everything of the
                // exchange before, and it does not read before the next fence, or the state below;
                // only this rank writes this block.
                unsafe { target.window.write(at, &send[part]) };
            }
            if !fenced {
                edge.set(0, self.turn, State::There);
                self.wake(edge.to);
            }
        }
        if fenced {
            self.fence()?;
        }
        for (incoming, block) in self.incoming.iter().zip(&seat.pattern.recv) {
            if incoming.from == self.comm.rank {
                continue;
            }
            let edge = &board.seats[incoming.from].edges[incoming.edge];
            if !fenced {
                self.until("for a put of", incoming.from, || {
                    edge.is(0, self.turn, State::There)
                })?;
            }
            for message in messages.clone() {
                let part = seat.pattern.part(block, message);
                let at = incoming.place + part.start - block.runs[0].start;
                // SAFETY: the fence, or the state, says that the put is done; the next one waits
                // for this rank's next fence or post.
                let put = unsafe { seat.window.read(at..at + part.len()) };
                recv[part].copy_from_slice(put);
            }
        }
        Ok(())
    }

    /// Every rank has come to its fence of this number when this returns.
    fn fence(&mut self) -> Result<(), TransportError> {
        self.fence += 1;
        self.seat().fences.store(self.fence, Ordering::Release);
        let others = 0..self.board.seats.len();
        others.clone().for_each(|other| self.wake(other));
        for other in others {
            let fences = &self.board.seats[other].fences;
            self.until("at a fence for", other, || {
                fences.load(Ordering::Acquire) >= self.fence
            })?;
        }
        Ok(())
    }

    /// The sender stores into its own segment and goes on; the receiver reads it.
    pub(super) fn through_segment(
        &mut self,
        send: &[f64],
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        let board = Arc::clone(&self.board);
        let seat = &board.seats[self.comm.rank];
        let mut place = 0;
        for (edge, block) in seat.edges.iter().zip(&seat.pattern.send) {
            let start = place;
            place += block.len();
            if edge.to == self.comm.rank {
                continue;
            }
            if self.turn > 1 {
                self.until("to be read by", edge.to, || {
                    edge.is(0, self.turn - 1, State::Taken)
                })?;
            }
            for message in messages.clone() {
                let part = seat.pattern.part(block, message);
                let at = start + part.start - block.runs[0].start;
                // SAFETY: the reader of this block has taken what was here before, and reads again
                // only once the state says that it is there.
                unsafe { seat.window.write(at, &send[part]) };
            }
            edge.set(0, self.turn, State::There);
            self.wake(edge.to);
        }
        for (incoming, block) in self.incoming.iter().zip(&seat.pattern.recv) {
            if incoming.from == self.comm.rank {
                continue;
            }
            let sender = &board.seats[incoming.from];
            let edge = &sender.edges[incoming.edge];
            self.until("to read from", incoming.from, || {
                edge.is(0, self.turn, State::There)
            })?;
            for message in messages.clone() {
                let part = seat.pattern.part(block, message);
                let at = incoming.segment + part.start - block.runs[0].start;
                // SAFETY: the state says that the sender has stored; it stores again only once the
                // state says that this rank has taken.
                let stored = unsafe { sender.window.read(at..at + part.len()) };
                recv[part].copy_from_slice(stored);
            }
            edge.set(0, self.turn, State::Taken);
            self.wake(incoming.from);
        }
        Ok(())
    }
}
