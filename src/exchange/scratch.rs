//! The buffers of a logarithmic transpose: its messages, and slots for blocks that pass through.

use super::logarithmic::{Piece, Place, Rounds};

/// Buffers of one rank; empty for transposes that need none.
pub(super) struct Scratch {
    /// The message sent.
    pub(super) outgoing: Vec<f64>,
    /// The message received.
    pub(super) incoming: Vec<f64>,
    slots: Vec<f64>,
}

impl Scratch {
    /// Room for these rounds.
    pub(super) fn new(rounds: &Rounds) -> Self {
        let (sent, received) = rounds.longest();
        Self {
            outgoing: vec![0.0; sent],
            incoming: vec![0.0; received],
            slots: vec![0.0; rounds.slots],
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let all = [&self.outgoing, &self.incoming, &self.slots];
        all.iter()
            .map(|buffer| size_of_val(buffer.as_slice()))
            .sum()
    }

    /// Puts the message sent together, from the caller's send buffer and the slots.
    pub(super) fn pack(&mut self, pieces: &[Piece], send: &[f64]) {
        for &Piece {
            place,
            start,
            at,
            len,
        } in pieces
        {
            let from = match place {
                Place::Caller => send,
                Place::Slot => &self.slots,
            };
            self.outgoing[at..at + len].copy_from_slice(&from[start..start + len]);
        }
    }

    /// Takes the message received apart, into the slots and the caller's receive buffer.
    pub(super) fn unpack(&mut self, pieces: &[Piece], recv: &mut [f64]) {
        for &Piece {
            place,
            start,
            at,
            len,
        } in pieces
        {
            let into = match place {
                Place::Caller => &mut *recv,
                Place::Slot => &mut self.slots,
            };
            into[start..start + len].copy_from_slice(&self.incoming[at..at + len]);
        }
    }
}
