//! Engines between threads: rows of a table, and what executes them.
//!
//! Data move through the sender's own buffer, which the receiver reads; through a window of the
//! receiver, into which the sender puts them; or through a segment of the sender, which the
//! receiver reads after the sender has gone on. What differs further is who waits for whom, and in
//! which order blocks are taken.

#![allow(unsafe_code)]

pub(super) mod board;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ThreadTransport;
use super::wait::{Awaited, Backoff};
use crate::transport::{Block, EngineKind, Exchange, Label, Pattern, TransportError};
use board::{Board, Edge, Offer, Seat, State};

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
        if !row.apart && !pattern.is_contiguous() {
            return Err(TransportError::NoEngine {
                engine: kind.name(),
                reason: "its blocks must lie together; alltoallw moves elements that are apart"
                    .to_owned(),
            });
        }
        let offer = Offer {
            kind,
            pattern: pattern.clone(),
        };
        let board = comm.board(offer)?;
        let rank = comm.rank;
        board.check(rank)?;
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

    /// The receiver reads the sender's buffer; the sender waits until it has.
    fn through_buffer(
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
                done = done.max(ready);
                std::hint::spin_loop();
            }
        } else {
            message(messages.start + slot);
        }
        edge.set(slot, self.turn, State::Taken);
        self.wake(incoming.from);
        true
    }

    /// The sender puts into the receiver's window, who copies out of it.
    fn through_window(
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
    fn through_segment(
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
        let Pattern {
            messages, together, ..
        } = self.seat().pattern;
        if together {
            return self.exchange(send, recv, 0..messages);
        }
        (0..messages).try_for_each(|message| self.exchange(send, recv, message..message + 1))
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

/// The ranges of a block that a message carries: a part of the only one, or all of several.
fn runs<'a>(
    pattern: &Pattern,
    block: &'a Block,
    message: usize,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let part = (block.runs.len() == 1).then(|| pattern.part(block, message));
    let all = if part.is_none() {
        block.runs.as_slice()
    } else {
        &[]
    };
    part.into_iter().chain(all.iter().cloned())
}

/// Copies elements from some ranges to others of the same length in all.
fn copy(
    send: &[f64],
    from: impl Iterator<Item = Range<usize>>,
    recv: &mut [f64],
    to: impl Iterator<Item = Range<usize>>,
) {
    // SAFETY: the ranges were checked to lie in `send`.
    unsafe { copy_from(send.as_ptr(), from, recv, to) }
}

/// The same from a buffer that starts at `base`.
///
/// # Safety
/// The ranges `from` must lie in a live buffer at `base` that nobody writes meanwhile.
unsafe fn copy_from(
    base: *const f64,
    from: impl Iterator<Item = Range<usize>>,
    recv: &mut [f64],
    mut to: impl Iterator<Item = Range<usize>>,
) {
    let mut room = 0..0;
    for mut run in from {
        while !run.is_empty() {
            if room.is_empty() {
                room = match to.next() {
                    Some(next) => next,
                    None => return,
                };
            }
            let len = run.len().min(room.len());
            // SAFETY: inside the caller's ranges.
            let elements = unsafe { std::slice::from_raw_parts(base.add(run.start), len) };
            recv[room.start..room.start + len].copy_from_slice(elements);
            run.start += len;
            room.start += len;
        }
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
