//! Engines between threads: rows of a table, and what executes them.
//!
//! Data move through the sender's own buffer, which the receiver reads; through a window of the
//! receiver, into which the sender puts them; or through a segment of the sender, which the
//! receiver reads after the sender has gone on. What differs further is who waits for whom, and in
//! which order blocks are taken.

pub(super) mod board;
mod buffer;
mod copy;
mod window;

use std::ops::Range;
use std::sync::Arc;

use super::ThreadTransport;
use super::wait::{Awaited, Backoff};
use crate::transport::{Block, EngineKind, Exchange, Label, Pattern, TransportError};
use board::{Board, Edge, Offer, Seat};
use copy::{copy, runs};

/// What the data go through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    /// The sender's buffer: it waits until all is taken.
    Buffer,
    /// A window of the receiver.
    Window,
    /// A segment of the sender, who waits for the readers of the exchange before.
    Segment,
}

/// One engine.
struct Row {
    through: Through,
    /// Ranks without a block for each other wait for each other, too.
    meets_all: bool,
    /// Blocks are taken as they come, not in the order of ranks.
    as_they_come: bool,
    /// A message is marked ready, and taken, part by part.
    in_parts: bool,
    /// Elements of a block may lie apart.
    apart: bool,
}

const fn row(kind: EngineKind) -> Row {
    use EngineKind as K;
    Row {
        through: match kind {
            K::PutFence | K::PutPscw => Through::Window,
            K::SharedWindow => Through::Segment,
            _ => Through::Buffer,
        },
        meets_all: matches!(
            kind,
            K::Alltoallv | K::Ialltoallv | K::Alltoallw | K::PutFence
        ),
        as_they_come: matches!(kind, K::Ialltoallv | K::Persistent | K::Partitioned),
        in_parts: matches!(kind, K::Partitioned),
        apart: matches!(kind, K::Alltoallw),
    }
}

/// An exchange prepared by an engine.
pub struct ThreadEngine {
    comm: ThreadTransport,
    label: &'static Label,
    row: Row,
    board: Arc<Board>,
    /// Where each block that comes in is found.
    incoming: Vec<Incoming>,
    /// Of each block that goes out, where it lies in the receiver's window.
    placed: Vec<usize>,
    /// Exchanges so far.
    turn: u64,
    /// Fences so far.
    fence: u64,
    /// Which of the incoming messages still wait, while they are taken as they come.
    waiting: Vec<bool>,
    /// Elements that the buffers need.
    needs: (usize, usize),
    /// Whether all messages go in one.
    together: bool,
    /// The error that ended it: its ranks no longer agree on how far they are.
    failed: Option<TransportError>,
}

/// The other end of a block that comes in.
struct Incoming {
    from: usize,
    /// Its place among the blocks that `from` sends.
    edge: usize,
    /// First element in this rank's window.
    place: usize,
    /// First element in the sender's segment.
    segment: usize,
}

impl ThreadEngine {
    /// Why an engine cannot be had between threads: all can.
    pub(super) fn lacks(_engine: EngineKind) -> Option<String> {
        None
    }

    /// Prepares an exchange with the other ranks of the communicator.
    pub(super) fn new(
        comm: &ThreadTransport,
        kind: EngineKind,
        pattern: &Pattern,
    ) -> Result<Self, TransportError> {
        let row = row(kind);
        let apart = "its blocks must lie together; alltoallw moves elements that are apart";
        let refusal = pattern
            .fault()
            .or((!row.apart && !pattern.is_contiguous()).then_some(apart));
        if let Some(reason) = refusal {
            return Err(TransportError::NoEngine {
                engine: kind.name(),
                reason: reason.to_owned(),
            });
        }
        let offer = Offer {
            kind,
            pattern: pattern.clone(),
        };
        let board = comm.board(offer)?;
        let rank = comm.rank;
        board.check(rank, &comm.group.members)?;
        let before = |blocks: &[Block], peer: usize| -> usize {
            let lens = blocks.iter().take_while(|block| block.peer != peer);
            lens.map(Block::len).sum()
        };
        let incoming = pattern.recv.iter().map(|block| {
            let theirs = &board.seats[block.peer].pattern.send;
            Incoming {
                from: block.peer,
                edge: theirs.iter().take_while(|block| block.peer != rank).count(),
                place: before(&pattern.recv, block.peer),
                segment: before(theirs, rank),
            }
        });
        let placed = pattern.send.iter().map(|block| {
            let theirs = &board.seats[block.peer].pattern.recv;
            before(theirs, rank)
        });
        let end = |blocks: &[Block]| {
            let ends = blocks
                .iter()
                .flat_map(|block| &block.runs)
                .map(|run| run.end);
            ends.max().unwrap_or(0)
        };
        Ok(Self {
            label: label(kind),
            incoming: incoming.collect(),
            placed: placed.collect(),
            turn: 0,
            fence: 0,
            waiting: vec![false; pattern.recv.len() * pattern.messages],
            needs: (end(&pattern.send), end(&pattern.recv)),
            together: pattern.together && kind.overlaps(),
            failed: None,
            comm: ThreadTransport::new(
                Arc::clone(&comm.world),
                Arc::clone(&comm.group),
                rank,
                std::rc::Rc::clone(&comm.local),
            ),
            row,
            board,
        })
    }

    /// Moves some of the messages; none of the next begins before these have ended.
    fn exchange(
        &mut self,
        send: &[f64],
        recv: &mut [f64],
        messages: Range<usize>,
    ) -> Result<(), TransportError> {
        self.turn += 1;
        self.copy_own(send, recv, messages.clone());
        match self.row.through {
            Through::Buffer => self.through_buffer(send, recv, messages),
            Through::Window => self.through_window(send, recv, messages),
            Through::Segment => self.through_segment(send, recv, messages),
        }
    }

    fn seat(&self) -> &Seat {
        &self.board.seats[self.comm.rank]
    }

    fn copy_own(&self, send: &[f64], recv: &mut [f64], messages: Range<usize>) {
        let own = |blocks: &[Block]| {
            let rank = self.comm.rank;
            blocks.iter().position(|block| block.peer == rank)
        };
        let pattern = &self.seat().pattern;
        if let (Some(from), Some(to)) = (own(&pattern.send), own(&pattern.recv)) {
            let (from, to) = (&pattern.send[from], &pattern.recv[to]);
            for message in messages {
                copy(
                    send,
                    runs(pattern, from, message),
                    recv,
                    runs(pattern, to, message),
                );
            }
        }
    }

    /// The edges to other ranks.
    fn outgoing<'a>(&self, seat: &'a Seat) -> impl Iterator<Item = &'a Edge> + use<'a> {
        let rank = self.comm.rank;
        seat.edges.iter().filter(move |edge| edge.to != rank)
    }

    fn wake(&self, rank: usize) {
        self.comm.world.wake(self.comm.group.members[rank]);
    }

    fn awaited(&self, waiting: &'static str, partner: usize) -> Awaited {
        Awaited {
            waiting,
            partner,
            tag: self.turn as u32,
            elements: 0,
            label: Some(self.label),
        }
    }

    /// Waits for another rank until something is so.
    fn until(
        &self,
        waiting: &'static str,
        partner: usize,
        ready: impl Fn() -> bool,
    ) -> Result<(), TransportError> {
        let mut backoff = Backoff::new();
        while !ready() {
            backoff.partner(&self.comm, &self.awaited(waiting, partner), &ready)?;
        }
        Ok(())
    }
}

impl Exchange for ThreadEngine {
    fn execute(&mut self, send: &[f64], recv: &mut [f64]) -> Result<(), TransportError> {
        let lens = [
            ("send", self.needs.0, send.len()),
            ("receive", self.needs.1, recv.len()),
        ];
        for (buffer, expected, found) in lens {
            if found < expected {
                return Err(TransportError::BufferLength {
                    rank: self.comm.job_rank(),
                    buffer,
                    expected,
                    found,
                });
            }
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let messages = self.seat().pattern.messages;
        let result = if self.together {
            self.exchange(send, recv, 0..messages)
        } else {
            (0..messages).try_for_each(|message| self.exchange(send, recv, message..message + 1))
        };
        self.failed = result.as_ref().err().cloned();
        result
    }
}

/// What exchanges of an engine are called in reports.
fn label(kind: EngineKind) -> &'static Label {
    static LABELS: std::sync::LazyLock<Vec<Label>> = std::sync::LazyLock::new(|| {
        let label = |kind: EngineKind| Label(format!("engine {}", kind.name()));
        EngineKind::ALL.into_iter().map(label).collect()
    });
    &LABELS[kind as usize]
}
