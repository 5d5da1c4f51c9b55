//! Sends, receives and waits of one rank over one pair of buffers.

use std::cell::RefMut;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use super::watch::{self, Call, Wait, waiting};
use super::{MpiTransport, checked, count, end_job, f64_type, ffi, is_truncated};
use crate::transport::{Label, Request, Scope, SendMode, TAG_LIMIT, Tag, TransportError};

/// Requests of one rank, reused, so that exchanges allocate nothing once this has grown.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Those taken; none is taken again while another is under way.
    used: usize,
    serial: u32,
}

/// A request; serial 0: free.
struct Slot {
    request: ffi::MPI_Request,
    serial: u32,
    /// Rank in the communicator, tag and elements, for messages about it.
    partner: usize,
    tag: Tag,
    elements: usize,
    receives: bool,
}

/// Messages over one pair of buffers.
pub struct MpiScope<'a> {
    rank: usize,
    members: &'a [usize],
    comm: ffi::MPI_Comm,
    signals: ffi::MPI_Comm,
    send: (*const f64, usize),
    recv: (*mut f64, usize),
    slots: RefMut<'a, Slots>,
    open: usize,
    /// Why the job has to end, where it has.
    cause: Option<Box<TransportError>>,
}

impl Drop for MpiScope<'_> {
    /// After an error or a panic requests may still be under way, and MPI cannot cancel sends
    /// reliably: the buffers must not be freed, so the job ends here.
    fn drop(&mut self) {
        if self.open > 0 {
            end_job(self.rank, self.cause.as_deref());
        }
    }
}

impl<'a> MpiScope<'a> {
    #[inline]
    pub(super) fn new(
        comm: &'a MpiTransport,
        send: &[f64],
        recv: &mut [f64],
        slots: RefMut<'a, Slots>,
    ) -> Self {
        watch::label(None);
        Self {
            rank: comm.job_rank(),
            members: &comm.members,
            comm: comm.data.raw(),
            signals: comm.signals.raw(),
            send: (send.as_ptr(), send.len()),
            recv: (recv.as_mut_ptr(), recv.len()),
            slots,
            open: 0,
            cause: None,
        }
    }

    /// Runs `body`, then waits for what it left. The caller lends the buffers for as long.
    #[inline]
    pub(super) fn run<R>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<R, TransportError>,
    ) -> Result<R, TransportError> {
        let result = body(self).and_then(|result| self.finish().map(|()| result));
        if let Err(error) = &result {
            self.note_cause(error);
        }
        result
    }

    #[cold]
    fn note_cause(&mut self, error: &TransportError) {
        self.cause = Some(Box::new(error.clone()));
    }

    #[inline]
    fn finish(&mut self) -> Result<(), TransportError> {
        if self.open > 0 {
            for index in 0..self.slots.used {
                if self.slots.slots[index].serial != 0 {
                    self.wait_slot(index)?;
                }
            }
        }
        self.slots.used = 0;
        Ok(())
    }

    #[inline]
    fn partner(&self, partner: usize) -> Result<c_int, TransportError> {
        if partner >= self.members.len() {
            return Err(TransportError::NoSuchRank {
                rank: self.rank,
                partner,
                size: self.members.len(),
            });
        }
        Ok(partner as c_int)
    }

    #[inline]
    fn tag(&self, tag: Tag) -> Result<c_int, TransportError> {
        if tag >= TAG_LIMIT {
            return Err(TransportError::NoSuchTag {
                rank: self.rank,
                tag,
            });
        }
        Ok(tag as c_int)
    }

    /// What the watchdog says of a wait for a rank that exists.
    #[inline]
    fn wait_for(&self, partner: usize, tag: Tag, elements: usize) -> Wait {
        Wait::partner(self.members[partner], tag, elements)
    }

    /// Buffered sends need a buffer attached to MPI; no protocol uses them, and none is.
    #[inline]
    fn not_buffered(&self, mode: SendMode) -> Result<(), TransportError> {
        if mode != SendMode::Buffered {
            return Ok(());
        }
        Err(TransportError::Library {
            rank: self.rank,
            call: "MPI_Bsend",
            message: "no buffer is attached: buffered sends are not available over MPI".to_owned(),
        })
    }

    #[inline]
    fn send_range(&self, range: &Range<usize>) -> Result<(*const c_void, c_int), TransportError> {
        self.inside(range, self.send.1, "send")?;
        // SAFETY: `inside` found the range within the buffer.
        let start = unsafe { self.send.0.add(range.start) };
        Ok((start.cast(), count(range.len(), self.rank)?))
    }

    #[inline]
    fn recv_range(&self, range: &Range<usize>) -> Result<(*mut c_void, c_int), TransportError> {
        self.inside(range, self.recv.1, "receive")?;
        // SAFETY: `inside` found the range within the buffer.
        let start = unsafe { self.recv.0.add(range.start) };
        Ok((start.cast(), count(range.len(), self.rank)?))
    }

    #[inline]
    fn inside(
        &self,
        range: &Range<usize>,
        len: usize,
        buffer: &'static str,
    ) -> Result<(), TransportError> {
        if range.start <= range.end && range.end <= len {
            return Ok(());
        }
        Err(TransportError::OutOfRange {
            rank: self.rank,
            buffer,
            start: range.start,
            end: range.end,
            len,
        })
    }

    #[inline]
    fn checked(&self, code: c_int, call: &'static str) -> Result<(), TransportError> {
        checked(code, call, self.rank)
    }

    /// Remembers a request.
    #[inline]
    fn keep(
        &mut self,
        request: ffi::MPI_Request,
        (partner, tag): (usize, Tag),
        elements: usize,
        receives: bool,
    ) -> Request {
        let slots = &mut *self.slots;
        if self.open == 0 {
            slots.used = 0;
        }
        slots.serial = slots.serial.wrapping_add(1).max(1);
        let slot = Slot {
            request,
            serial: slots.serial,
            partner,
            tag,
            elements,
            receives,
        };
        let index = slots.used;
        match slots.slots.get_mut(index) {
            Some(free) => *free = slot,
            None => slots.slots.push(slot),
        }
        slots.used += 1;
        self.open += 1;
        Request {
            index: index as u32,
            serial: slots.serial,
        }
    }

    /// The slot of a request that is under way.
    #[inline]
    fn known(&self, request: Request) -> Result<usize, TransportError> {
        let index = request.index as usize;
        match self.slots.slots.get(index) {
            Some(slot) if slot.serial == request.serial && slot.serial != 0 => Ok(index),
            _ => Err(TransportError::NoSuchRequest { rank: self.rank }),
        }
    }

    #[inline]
    fn wait_slot(&mut self, index: usize) -> Result<usize, TransportError> {
        let slot = &mut self.slots.slots[index];
        let wait = Wait::partner(self.members[slot.partner], slot.tag, slot.elements);
        if !slot.receives {
            let elements = slot.elements;
            // SAFETY: a request under way; its buffer is borrowed by the `over` that made this
            // scope.
            let code = waiting(&Call("MPI_Wait (send)"), wait, || unsafe {
                ffi::MPI_Wait(&mut slot.request, ffi::RSMPI_STATUS_IGNORE)
            });
            slot.serial = 0;
            self.open -= 1;
            return self.checked(code, "MPI_Wait").map(|()| elements);
        }
        let mut status = MaybeUninit::uninit();
        // SAFETY: as above.
        let code = waiting(&Call("MPI_Wait (receive)"), wait, || unsafe {
            ffi::MPI_Wait(&mut slot.request, status.as_mut_ptr())
        });
        self.ended(index, (code, "MPI_Wait"), &status)
    }

    fn test_slot(&mut self, index: usize) -> Result<Option<usize>, TransportError> {
        let mut status = MaybeUninit::uninit();
        let mut complete = 0;
        let slot = &mut self.slots.slots[index];
        // SAFETY: as in `wait_slot`.
        let code = unsafe { ffi::MPI_Test(&mut slot.request, &mut complete, status.as_mut_ptr()) };
        if code == ffi::MPI_SUCCESS as c_int && complete == 0 {
            return Ok(None);
        }
        self.ended(index, (code, "MPI_Test"), &status).map(Some)
    }

    /// Frees the slot of a request that is over; the elements it moved.
    #[inline]
    fn ended(
        &mut self,
        index: usize,
        (code, call): (c_int, &'static str),
        status: &MaybeUninit<ffi::MPI_Status>,
    ) -> Result<usize, TransportError> {
        let slot = &mut self.slots.slots[index];
        slot.serial = 0;
        let (partner, tag, elements, receives) =
            (slot.partner, slot.tag, slot.elements, slot.receives);
        self.open -= 1;
        if !receives {
            self.checked(code, call)?;
            return Ok(elements);
        }
        self.received(code, call, (partner, tag), elements, status)
    }

    /// The elements that a completed receive got.
    #[inline]
    fn received(
        &self,
        code: c_int,
        call: &'static str,
        (from, tag): (usize, Tag),
        room: usize,
        status: &MaybeUninit<ffi::MPI_Status>,
    ) -> Result<usize, TransportError> {
        if is_truncated(code) {
            // MPI does not say how long the message was.
            return Err(TransportError::Truncated {
                rank: self.rank,
                from: self.members[from],
                tag,
                message: room + 1,
                room,
            });
        }
        self.checked(code, call)?;
        let mut count = 0;
        // SAFETY: the call that filled the status succeeded.
        let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), f64_type(), &mut count) };
        self.checked(code, "MPI_Get_count")?;
        Ok(count.max(0) as usize)
    }
}

impl Scope for MpiScope<'_> {
    #[inline]
    fn send(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<(), TransportError> {
        self.not_buffered(mode)?;
        let (start, count) = self.send_range(&range)?;
        let (peer, tag_value) = (self.partner(to)?, self.tag(tag)?);
        let (make, call): (unsafe extern "C" fn(_, _, _, _, _, _) -> _, _) = match mode {
            SendMode::Standard => (ffi::MPI_Send, &Call("MPI_Send")),
            SendMode::Synchronous => (ffi::MPI_Ssend, &Call("MPI_Ssend")),
            SendMode::Ready => (ffi::MPI_Rsend, &Call("MPI_Rsend")),
            SendMode::Buffered => (ffi::MPI_Bsend, &Call("MPI_Bsend")),
        };
        // SAFETY: the range lies in the buffer; the call returns when it may be reused.
        let code = waiting(call, self.wait_for(to, tag, range.len()), || unsafe {
            make(start, count, f64_type(), peer, tag_value, self.comm)
        });
        self.checked(code, call.0)
    }

    #[inline]
    fn isend(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        self.not_buffered(mode)?;
        let (start, count) = self.send_range(&range)?;
        let (peer, tag_value) = (self.partner(to)?, self.tag(tag)?);
        let (make, name): (unsafe extern "C" fn(_, _, _, _, _, _, _) -> _, _) = match mode {
            SendMode::Standard => (ffi::MPI_Isend, "MPI_Isend"),
            SendMode::Synchronous => (ffi::MPI_Issend, "MPI_Issend"),
            SendMode::Ready => (ffi::MPI_Irsend, "MPI_Irsend"),
            SendMode::Buffered => (ffi::MPI_Ibsend, "MPI_Ibsend"),
        };
        let mut request = MaybeUninit::uninit();
        // SAFETY: the range stays borrowed until the request is complete (`wait`, `finish`).
        let code = unsafe {
            let at = request.as_mut_ptr();
            make(start, count, f64_type(), peer, tag_value, self.comm, at)
        };
        self.checked(code, name)?;
        // SAFETY: the call succeeded.
        let request = unsafe { request.assume_init() };
        Ok(self.keep(request, (to, tag), range.len(), false))
    }

    #[inline]
    fn recv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<usize, TransportError> {
        let (start, count) = self.recv_range(&range)?;
        let (peer, tag_value) = (self.partner(from)?, self.tag(tag)?);
        let mut status = MaybeUninit::uninit();
        let (call, wait) = (&Call("MPI_Recv"), self.wait_for(from, tag, range.len()));
        // SAFETY: the range lies in the buffer, which this scope borrows mutably.
        let code = waiting(call, wait, || unsafe {
            let at = status.as_mut_ptr();
            ffi::MPI_Recv(start, count, f64_type(), peer, tag_value, self.comm, at)
        });
        self.received(code, call.0, (from, tag), range.len(), &status)
    }

    #[inline]
    fn irecv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        let (start, count) = self.recv_range(&range)?;
        let (peer, tag_value) = (self.partner(from)?, self.tag(tag)?);
        let mut request = MaybeUninit::uninit();
        // SAFETY: the range stays borrowed until the request is complete (`wait`, `finish`).
        let code = unsafe {
            let at = request.as_mut_ptr();
            ffi::MPI_Irecv(start, count, f64_type(), peer, tag_value, self.comm, at)
        };
        self.checked(code, "MPI_Irecv")?;
        // SAFETY: the call succeeded.
        let request = unsafe { request.assume_init() };
        Ok(self.keep(request, (from, tag), range.len(), true))
    }

    #[inline]
    fn wait(&mut self, request: Request) -> Result<usize, TransportError> {
        let index = self.known(request)?;
        self.wait_slot(index)
    }

    #[inline]
    fn test(&mut self, request: Request) -> Result<Option<usize>, TransportError> {
        let index = self.known(request)?;
        self.test_slot(index)
    }

    #[inline]
    fn arrived(&self, range: Range<usize>) -> Result<&[f64], TransportError> {
        self.inside(&range, self.recv.1, "receive")?;
        // SAFETY: `inside` found the range within the buffer, which the `over` that made this scope
        // borrows for as long as `self`; no receive under way writes there (see the trait).
        Ok(unsafe { std::slice::from_raw_parts(self.recv.0.add(range.start), range.len()) })
    }

    fn job_rank(&self, rank: Option<usize>) -> usize {
        rank.map_or(self.rank, |rank| self.members[rank])
    }

    fn label(&mut self, label: &'static Label) {
        watch::label(Some(label));
    }

    #[inline]
    fn sendrecv(
        &mut self,
        to: (usize, Tag, Range<usize>),
        from: (usize, Tag, Range<usize>),
    ) -> Result<usize, TransportError> {
        let (out, out_count) = self.send_range(&to.2)?;
        let (into, into_count) = self.recv_range(&from.2)?;
        let (to_peer, to_tag) = (self.partner(to.0)?, self.tag(to.1)?);
        let (from_peer, from_tag) = (self.partner(from.0)?, self.tag(from.1)?);
        let mut status = MaybeUninit::uninit();
        let (call, wait) = (
            &Call("MPI_Sendrecv"),
            self.wait_for(from.0, from.1, from.2.len()),
        );
        // SAFETY: both ranges lie in their buffers, which are different borrows.
        let code = waiting(call, wait, || unsafe {
            ffi::MPI_Sendrecv(
                out,
                out_count,
                f64_type(),
                to_peer,
                to_tag,
                into,
                into_count,
                f64_type(),
                from_peer,
                from_tag,
                self.comm,
                status.as_mut_ptr(),
            )
        });
        self.received(code, call.0, (from.0, from.1), from.2.len(), &status)
    }

    #[inline]
    fn signal(&mut self, to: usize, tag: Tag) -> Result<(), TransportError> {
        let (peer, tag_value) = (self.partner(to)?, self.tag(tag)?);
        let (call, wait) = (&Call("MPI_Send (signal)"), self.wait_for(to, tag, 0));
        // SAFETY: a message without data; every library buffers it.
        let code = waiting(call, wait, || unsafe {
            ffi::MPI_Send(ptr::null(), 0, f64_type(), peer, tag_value, self.signals)
        });
        self.checked(code, call.0)
    }

    #[inline]
    fn await_signal(&mut self, from: usize, tag: Tag) -> Result<(), TransportError> {
        let (peer, tag_value) = (self.partner(from)?, self.tag(tag)?);
        let (call, wait) = (&Call("MPI_Recv (signal)"), self.wait_for(from, tag, 0));
        // SAFETY: a message without data.
        let code = waiting(call, wait, || unsafe {
            let (none, ignore) = (ptr::null_mut(), ffi::RSMPI_STATUS_IGNORE);
            ffi::MPI_Recv(none, 0, f64_type(), peer, tag_value, self.signals, ignore)
        });
        self.checked(code, call.0)
    }
}
