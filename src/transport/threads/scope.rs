//! Sends, receives and waits of one rank over one pair of buffers.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ThreadTransport;
use super::loan::Loan;
use super::mailbox::{Delivery, Key, Payload};
use super::wait::{Awaited, Backoff};
use crate::transport::{Label, Request, Scope, SendMode, TAG_LIMIT, Tag, TransportError};

/// Copies of small messages kept for reuse.
const SPARE_COPIES: usize = 64;

/// What one rank keeps between exchanges, so that they allocate nothing once it has grown.
#[derive(Default)]
pub(super) struct RankLocal {
    slots: Vec<Slot>,
    free: Vec<u32>,
    inbox: Vec<Delivery>,
    spare: Vec<Vec<f64>>,
    /// What the calls belong to.
    label: Option<&'static Label>,
}

#[derive(Default)]
struct Slot {
    serial: u32,
    state: State,
    /// Whether the loan of a send has ended.
    ended: Arc<AtomicBool>,
}

/// What a slot is used for. Lengths in elements, ranks in the communicator.
#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Free,
    Lent {
        to: usize,
        tag: Tag,
        len: usize,
    },
    Posted {
        from: usize,
        key: Key,
        start: usize,
        len: usize,
    },
    Done {
        count: usize,
    },
}

/// The sends and receives of one exchange.
pub struct ThreadScope<'a> {
    pub(super) comm: &'a ThreadTransport,
    send: &'a [f64],
    recv: &'a mut [f64],
    local: &'a mut RankLocal,
}

impl<'a> ThreadScope<'a> {
    /// A scope over two buffers.
    ///
    /// # Safety
    /// The scope must be dropped before `send` may be written or freed.
    pub(super) unsafe fn new(
        comm: &'a ThreadTransport,
        send: &'a [f64],
        recv: &'a mut [f64],
        local: &'a mut RankLocal,
    ) -> Self {
        local.label = None;
        Self {
            comm,
            send,
            recv,
            local,
        }
    }

    /// Waits for everything under way.
    pub(super) fn finish(&mut self) -> Result<(), TransportError> {
        for index in 0..self.local.slots.len() as u32 {
            if !matches!(self.slot(index).state, State::Free) {
                self.complete(index)?;
            }
        }
        Ok(())
    }

    fn rank(&self) -> usize {
        self.comm.job_rank()
    }

    fn slot(&mut self, index: u32) -> &mut Slot {
        &mut self.local.slots[index as usize]
    }

    fn occupy(&mut self, state: State) -> u32 {
        let index = self.local.free.pop().unwrap_or_else(|| {
            self.local.slots.push(Slot::default());
            self.local.slots.len() as u32 - 1
        });
        self.slot(index).state = state;
        index
    }

    fn release(&mut self, index: u32) {
        let slot = self.slot(index);
        slot.state = State::Free;
        slot.serial = slot.serial.wrapping_add(1);
        self.local.free.push(index);
    }

    fn request(&mut self, index: u32) -> Request {
        let serial = self.slot(index).serial;
        Request { index, serial }
    }

    /// The slot of a request that is under way.
    fn known(&self, request: Request) -> Result<u32, TransportError> {
        let slot = self.local.slots.get(request.index as usize);
        let known =
            |slot: &&Slot| slot.serial == request.serial && !matches!(slot.state, State::Free);
        match slot.filter(known) {
            Some(_) => Ok(request.index),
            None => Err(TransportError::NoSuchRequest { rank: self.rank() }),
        }
    }

    fn check(&self, partner: usize, tag: Tag) -> Result<(), TransportError> {
        let (rank, size) = (self.rank(), self.comm.group.members.len());
        if partner >= size {
            return Err(TransportError::NoSuchRank {
                rank,
                partner,
                size,
            });
        }
        if tag >= TAG_LIMIT {
            return Err(TransportError::NoSuchTag { rank, tag });
        }
        Ok(())
    }

    fn out_of_range(
        &self,
        buffer: &'static str,
        range: &Range<usize>,
        len: usize,
    ) -> TransportError {
        TransportError::OutOfRange {
            rank: self.rank(),
            buffer,
            start: range.start,
            end: range.end,
            len,
        }
    }

    /// Sends; returns the slot of the loan, unless the message was copied.
    fn start_send(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Option<u32>, TransportError> {
        self.check(to, tag)?;
        let elements = self
            .send
            .get(range.clone())
            .ok_or_else(|| self.out_of_range("send", &range, self.send.len()))?;
        let limit = self.comm.world.options.eager_limit;
        let copied = match mode {
            SendMode::Buffered => true,
            SendMode::Synchronous => false,
            SendMode::Standard | SendMode::Ready => limit > 0 && size_of_val(elements) <= limit,
        };
        let (payload, slot) = if copied {
            let mut copy = self.local.spare.pop().unwrap_or_default();
            copy.clear();
            copy.extend_from_slice(elements);
            (Payload::Owned(copy), None)
        } else {
            let len = elements.len();
            let index = self.occupy(State::Lent { to, tag, len });
            let ended = &self.local.slots[index as usize].ended;
            // SAFETY: `send` stays as it is until this scope is dropped (see `new`), and dropping
            // it takes the loan back or waits until it has ended.
            let loan = unsafe { Loan::new(elements, ended) };
            (Payload::Lent(loan), Some(index))
        };
        let elements = elements.len();
        if self
            .put(to, Key::Data(tag), payload, mode == SendMode::Ready)
            .is_err()
        {
            if let Some(index) = slot {
                self.release(index);
            }
            return Err(TransportError::NotPosted {
                rank: self.rank(),
                to: self.comm.group.members[to],
                tag,
                elements,
            });
        }
        Ok(slot)
    }

    fn put(
        &mut self,
        to: usize,
        key: Key,
        payload: Payload,
        posted_only: bool,
    ) -> Result<(), Payload> {
        let group = &self.comm.group;
        group.mailboxes[to].put(self.comm.rank, key, payload, posted_only)?;
        self.comm.world.wake(group.members[to]);
        Ok(())
    }

    fn start_recv(&mut self, from: usize, key: Key, start: usize, len: usize) -> u32 {
        let index = self.occupy(State::Posted {
            from,
            key,
            start,
            len,
        });
        // A message that is there already is copied later, in a wait: a partner that receives from
        // this rank need not wait for this copy.
        self.comm.group.mailboxes[self.comm.rank].post(from, key, index);
        index
    }

    fn checked_recv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<u32, TransportError> {
        self.check(from, tag)?;
        if self.recv.get(range.clone()).is_none() {
            return Err(self.out_of_range("receive", &range, self.recv.len()));
        }
        Ok(self.start_recv(from, Key::Data(tag), range.start, range.len()))
    }

    /// Copies every message that matched a receive.
    fn progress(&mut self) -> Result<(), TransportError> {
        let mailbox = &self.comm.group.mailboxes[self.comm.rank];
        if mailbox.has_deliveries() {
            mailbox.take(&mut self.local.inbox);
        }
        while let Some(delivery) = self.local.inbox.pop() {
            self.deliver(delivery)?;
        }
        Ok(())
    }

    fn deliver(&mut self, delivery: Delivery) -> Result<(), TransportError> {
        let state = self.slot(delivery.slot).state;
        let State::Posted {
            from,
            key,
            start,
            len,
        } = state
        else {
            return Ok(());
        };
        let elements = match &delivery.payload {
            Payload::Owned(copy) => copy.as_slice(),
            Payload::Lent(loan) => loan.elements(),
            Payload::Signal => &[],
        };
        let count = elements.len();
        if count > len {
            let (Key::Data(tag) | Key::Signal(tag)) = key;
            return Err(TransportError::Truncated {
                rank: self.rank(),
                from: self.comm.group.members[from],
                tag,
                message: count,
                room: len,
            });
        }
        self.recv[start..start + count].copy_from_slice(elements);
        self.slot(delivery.slot).state = State::Done { count };
        match delivery.payload {
            Payload::Owned(copy) if self.local.spare.len() < SPARE_COPIES => {
                self.local.spare.push(copy);
            }
            Payload::Lent(loan) => {
                drop(loan);
                let world = &self.comm.world;
                world.wake(self.comm.group.members[delivery.source]);
            }
            Payload::Owned(_) | Payload::Signal => {}
        }
        Ok(())
    }

    /// Elements moved, once the slot's send or receive is complete.
    pub(super) fn outcome(&self, index: u32) -> Option<usize> {
        let slot = &self.local.slots[index as usize];
        match slot.state {
            State::Done { count } => Some(count),
            State::Lent { len, .. } => slot.ended.load(Ordering::Acquire).then_some(len),
            State::Free | State::Posted { .. } => None,
        }
    }

    /// Waits for a slot and frees it.
    fn complete(&mut self, index: u32) -> Result<usize, TransportError> {
        let mut backoff = Backoff::new();
        loop {
            self.progress()?;
            if let Some(count) = self.outcome(index) {
                self.release(index);
                return Ok(count);
            }
            backoff.wait(self, index)?;
        }
    }

    /// What a slot waits for.
    pub(super) fn waiting(&self, index: u32) -> Awaited {
        let awaited = |waiting, partner, tag, elements| Awaited {
            waiting,
            partner,
            tag,
            elements,
            label: self.local.label,
        };
        match self.local.slots[index as usize].state {
            State::Lent { to, tag, len } => awaited("to send to", to, tag, len),
            State::Posted { from, key, len, .. } => match key {
                Key::Data(tag) => awaited("to receive from", from, tag, len),
                Key::Signal(tag) => awaited("for a signal from", from, tag, 0),
            },
            State::Free | State::Done { .. } => awaited("for", self.comm.rank, 0, 0),
        }
    }
}

impl Drop for ThreadScope<'_> {
    fn drop(&mut self) {
        self.local.inbox.clear();
        let all = self.local.slots.len() as u32;
        if self.local.free.len() as u32 == all {
            return;
        }
        let group = &self.comm.group;
        group.mailboxes[self.comm.rank].cancel_receives();
        for index in 0..all {
            let slot = self.slot(index);
            if let State::Lent { to, .. } = slot.state {
                let mailbox = &group.mailboxes[to];
                mailbox.cancel_loan(&slot.ended);
                // Only a receiver that is copying still has it.
                while !slot.ended.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            }
            if !matches!(slot.state, State::Free) {
                self.release(index);
            }
        }
    }
}

impl Scope for ThreadScope<'_> {
    fn send(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<(), TransportError> {
        if let Some(index) = self.start_send(mode, to, tag, range)? {
            self.complete(index)?;
        }
        Ok(())
    }

    fn isend(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        let count = range.len();
        let index = match self.start_send(mode, to, tag, range)? {
            Some(index) => index,
            None => self.occupy(State::Done { count }),
        };
        Ok(self.request(index))
    }

    fn recv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<usize, TransportError> {
        let index = self.checked_recv(from, tag, range)?;
        self.complete(index)
    }

    fn irecv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        let index = self.checked_recv(from, tag, range)?;
        Ok(self.request(index))
    }

    fn wait(&mut self, request: Request) -> Result<usize, TransportError> {
        let index = self.known(request)?;
        self.complete(index)
    }

    fn test(&mut self, request: Request) -> Result<Option<usize>, TransportError> {
        let index = self.known(request)?;
        self.progress()?;
        let outcome = self.outcome(index);
        if outcome.is_some() {
            self.release(index);
        }
        Ok(outcome)
    }

    fn arrived(&self, range: Range<usize>) -> Result<&[f64], TransportError> {
        let arrived = self.recv.get(range.clone());
        arrived.ok_or_else(|| self.out_of_range("receive", &range, self.recv.len()))
    }

    fn job_rank(&self, rank: Option<usize>) -> usize {
        rank.map_or_else(|| self.rank(), |rank| self.comm.group.members[rank])
    }

    fn label(&mut self, label: &'static Label) {
        self.local.label = Some(label);
    }

    fn sendrecv(
        &mut self,
        to: (usize, Tag, Range<usize>),
        from: (usize, Tag, Range<usize>),
    ) -> Result<usize, TransportError> {
        let receive = self.checked_recv(from.0, from.1, from.2)?;
        if let Some(send) = self.start_send(SendMode::Standard, to.0, to.1, to.2)? {
            self.complete(send)?;
        }
        self.complete(receive)
    }

    fn signal(&mut self, to: usize, tag: Tag) -> Result<(), TransportError> {
        self.check(to, tag)?;
        // Refused only when it asked for a posted receive.
        let _ = self.put(to, Key::Signal(tag), Payload::Signal, false);
        Ok(())
    }

    fn await_signal(&mut self, from: usize, tag: Tag) -> Result<(), TransportError> {
        self.check(from, tag)?;
        let index = self.start_recv(from, Key::Signal(tag), 0, 0);
        self.complete(index)?;
        Ok(())
    }
}
