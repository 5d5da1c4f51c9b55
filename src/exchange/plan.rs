//! The plan of a transpose: who sends whom how much, and the calls that do it. Plain data.

use std::fmt;
use std::ops::Range;

use super::choice::{ExchangeChoice, TransposeAlgorithm};
use super::logarithmic::Rounds;
use super::steps::{self, Partners};
use crate::swap::error::PlanError;
use crate::swap::schedule::Schedule;
use crate::swap::step::Step;
use crate::transport::{Block, Pattern};

/// The plan of one rank. Blocks lie in the order of ranks in the flat buffers; a block without
/// elements is no message.
#[derive(Clone, Debug)]
pub struct Plan {
    /// This rank.
    pub rank: usize,
    /// Ranks.
    pub size: usize,
    /// How the data move.
    pub choice: ExchangeChoice,
    /// The calls between pairs of ranks: one schedule of all steps, or one for each round; none when
    /// an engine moves the data.
    pub schedules: Vec<Schedule>,
    /// What the messages of each round are made of, where blocks travel through other ranks.
    pub rounds: Rounds,
    /// The block that stays, where it is sent from and where it is received.
    pub own: (Range<usize>, Range<usize>),
    /// Elements of the send buffer.
    pub send_len: usize,
    /// Elements of the receive buffer.
    pub recv_len: usize,
    /// Messages to other ranks.
    pub messages: u64,
    /// Bytes to other ranks.
    pub bytes: u64,
    send: Vec<Block>,
    recv: Vec<Block>,
}

impl Plan {
    /// Plans the transpose in which rank s sends `len(s, d)` elements (f64) to rank d. It is the same
    /// function on every rank, and cheap: it is called 2 P times, and for rounds P (1 + log2(P)/2)
    /// times more, about blocks that pass through.
    ///
    /// # Errors
    /// An order and protocol that need buffering; a rank outside the communicator.
    pub fn new(
        rank: usize,
        size: usize,
        len: impl Fn(usize, usize) -> usize,
        choice: &ExchangeChoice,
    ) -> Result<Self, PlanError> {
        if rank >= size {
            return Err(PlanError::Rank { rank, size });
        }
        let method = choice.method();
        method.check()?;
        let (send, recv) = sides(rank, size, &len);
        // An engine moves each block once, straight to its rank, as swaps would.
        let algorithm = match choice.engine {
            Some(_) => TransposeAlgorithm::Swap,
            None => choice.transpose,
        };
        let (steps, rounds) = steps_and_rounds(rank, algorithm, len, &send, &recv);
        let together = if choice.passes_on() {
            1
        } else {
            steps.len().max(1)
        };
        let groups = match choice.engine {
            Some(_) => [].chunks(1),
            None => steps.chunks(together),
        };
        let schedules = groups.map(|steps| Schedule::new(&method, steps));
        let schedules = schedules.collect::<Result<_, _>>()?;
        let sent = || steps.iter().filter_map(|step| step.send);
        let elements: usize = sent().map(|leg| leg.len).sum();
        Ok(Self {
            rank,
            size,
            choice: *choice,
            schedules,
            rounds,
            own: (send.range(rank), recv.range(rank)),
            send_len: send.len(),
            recv_len: recv.len(),
            messages: sent().count() as u64,
            bytes: (elements * size_of::<f64>()) as u64,
            send: send.blocks(),
            recv: recv.blocks(),
        })
    }

    /// Plans the transpose of blocks that may lie apart, for an engine that moves them as they are.
    /// Blocks are ascending by rank, none empty, the own one among them; beside each side stands
    /// the length of its buffer.
    ///
    /// # Errors
    /// An order and protocol that need buffering; a rank outside the communicator; an own block of
    /// two lengths.
    pub fn of_blocks(
        rank: usize,
        size: usize,
        (send, send_len): (Vec<Block>, usize),
        (recv, recv_len): (Vec<Block>, usize),
        choice: &ExchangeChoice,
    ) -> Result<Self, PlanError> {
        choice.method().check()?;
        let ranks = send.iter().chain(&recv).map(|block| block.peer);
        if let Some(rank) = ranks.chain([rank]).find(|&rank| rank >= size) {
            return Err(PlanError::Rank { rank, size });
        }
        let own = |blocks: &[Block]| {
            let own = blocks.iter().find(|block| block.peer == rank);
            own.map_or(0, Block::len)
        };
        let (sent, received) = (own(&send), own(&recv));
        if sent != received {
            return Err(PlanError::OwnBlock {
                rank,
                send: sent,
                receive: received,
            });
        }
        let others = || send.iter().filter(|block| block.peer != rank);
        let elements: usize = others().map(Block::len).sum();
        Ok(Self {
            rank,
            size,
            choice: *choice,
            schedules: Vec::new(),
            rounds: Rounds::default(),
            own: (0..0, 0..0),
            send_len,
            recv_len,
            messages: others().count() as u64,
            bytes: (elements * size_of::<f64>()) as u64,
            send,
            recv,
        })
    }

    /// The same movement for an engine, the own block included.
    pub fn pattern(&self) -> Pattern {
        Pattern {
            send: self.send.clone(),
            recv: self.recv.clone(),
            messages: 1,
            together: false,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "rank {} of {}: {}, messages: {}, bytes: {}",
            self.rank, self.size, self.choice, self.messages, self.bytes
        )?;
        if !self.own.0.is_empty() {
            writeln!(f, "{:<12} {:?} to {:?}", "copy", self.own.0, self.own.1)?;
        }
        let mut rounds = self.rounds.rounds.iter();
        for schedule in &self.schedules {
            let (pack, unpack) = match rounds.next() {
                Some(round) => (&*round.pack, &*round.unpack),
                None => (&[][..], &[][..]),
            };
            for piece in pack {
                writeln!(f, "{:<12} {piece}", "pack")?;
            }
            write!(f, "{schedule}")?;
            for piece in unpack {
                writeln!(f, "{:<12} {piece}", "unpack")?;
            }
        }
        Ok(())
    }
}

/// The steps of one rank of a transpose in which rank s sends `len(s, d)` elements to rank d; the own
/// block has none.
pub fn steps_of(
    rank: usize,
    size: usize,
    algorithm: TransposeAlgorithm,
    len: impl Fn(usize, usize) -> usize,
) -> Vec<Step> {
    let (send, recv) = sides(rank, size, &len);
    steps_and_rounds(rank, algorithm, len, &send, &recv).0
}

/// The steps, and the rounds if it is in rounds that blocks move: one for each step.
fn steps_and_rounds(
    rank: usize,
    algorithm: TransposeAlgorithm,
    len: impl Fn(usize, usize) -> usize,
    send: &Side,
    recv: &Side,
) -> (Vec<Step>, Rounds) {
    let size = send.counts.len();
    let step = |partners: Partners| partners.step(|to| send.range(to), |from| recv.range(from));
    let straight = |steps| (steps, Rounds::default());
    match algorithm {
        TransposeAlgorithm::Swap => straight(steps::swaps(rank, size).map(step).collect()),
        TransposeAlgorithm::SendRecv => straight(steps::shifts(rank, size).map(step).collect()),
        TransposeAlgorithm::Logarithmic => {
            let rounds = Rounds::new(rank, len, &send.starts, &recv.starts);
            let steps = rounds.rounds.iter().map(|round| round.step).collect();
            (steps, rounds)
        }
    }
}

/// What a rank sends to each rank and receives from each.
fn sides(rank: usize, size: usize, len: impl Fn(usize, usize) -> usize) -> (Side, Side) {
    let send = (0..size).map(|to| len(rank, to)).collect();
    let recv = (0..size).map(|from| len(from, rank)).collect();
    (Side::new(send), Side::new(recv))
}

/// The blocks of a flat buffer, one for each rank.
struct Side {
    counts: Vec<usize>,
    starts: Vec<usize>,
}

impl Side {
    fn new(counts: Vec<usize>) -> Self {
        let start = |next: &mut usize, count: &usize| {
            let start = *next;
            *next += count;
            Some(start)
        };
        Self {
            starts: counts.iter().scan(0, start).collect(),
            counts,
        }
    }

    fn range(&self, peer: usize) -> Range<usize> {
        self.starts[peer]..self.starts[peer] + self.counts[peer]
    }

    fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The blocks with elements.
    fn blocks(&self) -> Vec<Block> {
        let ranges = (0..self.counts.len()).map(|peer| (peer, self.range(peer)));
        ranges
            .filter(|(_, range)| !range.is_empty())
            .map(|(peer, range)| Block::contiguous(peer, range))
            .collect()
    }
}

#[cfg(test)]
mod tests;
