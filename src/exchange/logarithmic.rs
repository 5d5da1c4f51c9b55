//! The logarithmic transpose: log2 P messages a rank, larger ones, since blocks travel through other
//! ranks. Pure arithmetic.
//!
//! A block from rank s to rank d has a *distance* b: s XOR d where P is a power of two, otherwise
//! d - s modulo P. Round i moves every block whose distance has bit i by 2^i: so a block has gone
//! the bits of its distance below i when round i begins, and arrives with its highest bit. Rank r
//! holds one block of each distance at any time, in the slot of that distance: what it sends of it in
//! a round is replaced by what it receives.
//!
//! For a power of two a round is a swap (Johnsson and Ho, IEEE Trans. Computers 38, 1989), for other
//! numbers a shift (Bruck and others, IEEE Trans. Parallel Distrib. Syst. 8, 1997).

use std::fmt;

use super::steps::{self, Partners};
use crate::swap::call::Leg;
use crate::swap::step::Step;

/// Where a block lies while it is in no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the caller's buffer: the send buffer before its first message, the receive buffer after
    /// its last.
    Caller,
    /// In a slot, on a rank that it passes through.
    Slot,
}

/// A block of a message, and where it lies on this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From where it is packed, or to where it is unpacked.
    pub place: Place,
    /// First element there.
    pub start: usize,
    /// First element in the message.
    pub at: usize,
    /// Elements, at least 1.
    pub len: usize,
}

/// One message sent and one received, each of many blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// What the message sent is made of.
    pub pack: Vec<Piece>,
    /// The messages, each from the start of a buffer of its own.
    pub step: Step,
    /// What becomes of the message received.
    pub unpack: Vec<Piece>,
}

/// The rounds of one rank and the room they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// Elements of all slots.
    pub slots: usize,
}

impl Rounds {
    /// The rounds of a rank. `len(s, d)` is the length of the block from s to d, the same function on
    /// every rank, called P (1 + log2(P)/2) times at most. Blocks lie in the caller's buffers from
    /// `send_starts[d]` and `recv_starts[s]` on, one start for each rank.
    pub fn new(
        rank: usize,
        len: impl Fn(usize, usize) -> usize,
        send_starts: &[usize],
        recv_starts: &[usize],
    ) -> Self {
        let size = send_starts.len();
        let partners: Vec<Partners> = steps::doublings(rank, size).collect();
        let mut messages = vec![Messages::default(); partners.len()];
        let mut slots = 0;
        for distance in 1..size {
            // The block of this distance that has come here over `gone`.
            let held = |gone: usize| {
                let from = steps::before(rank, gone, size);
                (from, len(from, steps::after(from, distance, size)))
            };
            let to = steps::after(rank, distance, size);
            let (mut place, mut start, mut elements) = (Place::Caller, send_starts[to], held(0).1);
            let mut capacity = 0;
            let bits = distance.trailing_zeros()..=distance.ilog2();
            for bit in bits.filter(|bit| distance >> bit & 1 == 1) {
                let Messages { sent, received } = &mut messages[bit as usize];
                sent.add(place, start, elements);
                // All bits up to this one.
                let gone = distance & ((2 << bit) - 1);
                let (from, arriving) = held(gone);
                (place, start) = if gone == distance {
                    (Place::Caller, recv_starts[from])
                } else {
                    capacity = capacity.max(arriving);
                    (Place::Slot, slots)
                };
                received.add(place, start, arriving);
                elements = arriving;
            }
            slots += capacity;
        }
        let round = |(partners, Messages { sent, received }): (Partners, Messages)| Round {
            step: partners.step(|_| 0..sent.len, |_| 0..received.len),
            pack: sent.pieces,
            unpack: received.pieces,
        };
        Self {
            rounds: partners.into_iter().zip(messages).map(round).collect(),
            slots,
        }
    }

    /// Elements of the longest message sent and of the longest received.
    pub fn longest(&self) -> (usize, usize) {
        let longest = |leg: fn(&Step) -> Option<Leg>| {
            let legs = self.rounds.iter().filter_map(|round| leg(&round.step));
            legs.map(|leg| leg.len).max().unwrap_or(0)
        };
        (longest(|step| step.send), longest(|step| step.recv))
    }
}

/// The two messages of a round, while they are put together.
#[derive(Clone, Default)]
struct Messages {
    sent: Message,
    received: Message,
}

#[derive(Clone, Default)]
struct Message {
    pieces: Vec<Piece>,
    len: usize,
}

impl Message {
    fn add(&mut self, place: Place, start: usize, len: usize) {
        if len == 0 {
            return;
        }
        self.pieces.push(Piece {
            place,
            start,
            at: self.len,
            len,
        });
        self.len += len;
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Caller => "buffer",
            Place::Slot => "slots",
        };
        let (there, message) = (self.start, self.at);
        write!(
            f,
            "{place} {there}..{}, message {message}..{}",
            there + self.len,
            message + self.len
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    type Shape = fn(usize, usize) -> usize;
    const SHAPES: [Shape; 4] = [
        |_, _| 2,
        |from, to| 1 + (3 * from + 5 * to) % 7,
        |from, to| (from * to + from + 2 * to) % 3,
        |from, to| if from < to { 4 } else { 0 },
    ];

    fn starts(lens: impl Iterator<Item = usize>) -> Vec<usize> {
        let start = |next: &mut usize, len: usize| Some(std::mem::replace(next, *next + len));
        lens.scan(0, start).collect()
    }

    fn rounds(rank: usize, size: usize, len: impl Fn(usize, usize) -> usize) -> Rounds {
        let send = starts((0..size).map(|to| len(rank, to)));
        let recv = starts((0..size).map(|from| len(from, rank)));
        Rounds::new(rank, len, &send, &recv)
    }

    /// Elements that name their block and their place in it.
    fn block(len: Shape, from: usize, to: usize) -> impl Iterator<Item = [usize; 3]> {
        (0..len(from, to)).map(move |index| [from, to, index])
    }

    /// What a rank has while the rounds are played.
    struct Player {
        rounds: Rounds,
        send: Vec<[usize; 3]>,
        recv: Vec<[usize; 3]>,
        slots: Vec<[usize; 3]>,
    }

    impl Player {
        fn new(rank: usize, size: usize, len: Shape) -> Self {
            let rounds = rounds(rank, size, len);
            let unset = [usize::MAX; 3];
            Self {
                send: (0..size).flat_map(|to| block(len, rank, to)).collect(),
                recv: vec![unset; (0..size).map(|from| len(from, rank)).sum()],
                slots: vec![unset; rounds.slots],
                rounds,
            }
        }

        fn pack(&self, round: usize) -> Vec<[usize; 3]> {
            let piece = |piece: &Piece| match piece.place {
                Place::Caller => self.send[piece.start..][..piece.len].iter(),
                Place::Slot => self.slots[piece.start..][..piece.len].iter(),
            };
            let pieces = self.rounds.rounds[round].pack.iter();
            pieces.flat_map(piece).copied().collect()
        }

        fn unpack(&mut self, round: usize, message: &[[usize; 3]]) {
            for piece in &self.rounds.rounds[round].unpack {
                let into = match piece.place {
                    Place::Caller => &mut self.recv,
                    Place::Slot => &mut self.slots,
                };
                let arrived = &message[piece.at..][..piece.len];
                into[piece.start..][..piece.len].copy_from_slice(arrived);
            }
        }
    }

    #[test]
    fn every_block_arrives() {
        for (size, len) in (1..=20).flat_map(|size| SHAPES.map(|len| (size, len))) {
            let mut players: Vec<Player> =
                (0..size).map(|rank| Player::new(rank, size, len)).collect();
            for round in 0..players[0].rounds.rounds.len() {
                let messages: Vec<_> = players.iter().map(|player| player.pack(round)).collect();
                for (rank, message) in messages.iter().enumerate() {
                    let step = players[rank].rounds.rounds[round].step;
                    assert_eq!(step.send.map_or(0, |leg| leg.len), message.len());
                    if let Some(leg) = step.send {
                        let there = &mut players[leg.peer];
                        let back = there.rounds.rounds[round].step.recv.unwrap();
                        let same = (leg.tag, leg.len) == (back.tag, back.len);
                        assert!(same && back.peer == rank, "{leg} meets {back}");
                        there.unpack(round, message);
                    }
                }
            }
            for (rank, player) in players.iter().enumerate() {
                let mut start = 0;
                for from in 0..size {
                    let found = &player.recv[start..][..len(from, rank)];
                    let expected: Vec<_> = block(len, from, rank).collect();
                    assert!(
                        from == rank || found == expected,
                        "{from} to {rank} of {size}"
                    );
                    start += expected.len();
                }
            }
        }
    }

    #[test]
    fn a_rank_asks_for_few_lengths_and_keeps_few() {
        for size in [1000, 1024] {
            let asked = Cell::new(0);
            let len = |from: usize, to: usize| {
                asked.set(asked.get() + 1);
                (from * 7 + to * 3) % 5
            };
            let send = starts((0..size).map(|to| len(17, to)));
            let recv = starts((0..size).map(|from| len(from, 17)));
            asked.set(0);
            let rounds = Rounds::new(17, len, &send, &recv);
            assert_eq!(rounds.rounds.len(), 10);
            assert!(asked.get() <= 6 * size, "{} of {size}", asked.get());
            let pieces = rounds
                .rounds
                .iter()
                .map(|round| round.pack.len() + round.unpack.len());
            assert!(pieces.sum::<usize>() <= 10 * size);
            // A slot is as long as the longest block that it ever holds, 4 elements here.
            assert!(rounds.slots <= 4 * size);
        }
    }

    #[test]
    fn slots_hold_only_what_passes_through() {
        // Of eight ranks: distances 3, 5, 6, 7.
        assert_eq!(rounds(0, 8, |_, _| 10).slots, 40);
        assert_eq!(rounds(0, 2, |_, _| 10).slots, 0);
        assert_eq!(rounds(0, 8, |_, _| 10).longest(), (40, 40));
        // All that rank 3 sends is what it passes on.
        let through = rounds(3, 4, |from, _| if from == 3 { 0 } else { 1 });
        assert_eq!(through.longest(), (1, 2));
    }
}
