//! Ranks as MPI processes. The only file that knows MPI.
//!
//! The crate `mpi` starts and ends MPI and makes communicators; messages go through its raw
//! bindings, because its safe calls drop return codes. Every return code is checked: the
//! communicators return errors instead of aborting. Signals travel on a duplicate communicator,
//! which is their own space of tags. Messages longer than an MPI count are refused.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::rc::Rc;

use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::{Color, Communicator, SimpleCommunicator};

use super::{
    EngineKind, Exchange, Label, Pattern, Request, Scope, SendMode, TAG_LIMIT, Tag, Transport,
    TransportError,
};

/// MPI, from its start to the end of the program.
pub struct MpiJob {
    universe: Universe,
}

impl MpiJob {
    /// Starts MPI; `None` if it was started before.
    pub fn start() -> Option<Self> {
        mpi::initialize().map(|universe| Self { universe })
    }

    /// This rank of the job and their number.
    pub fn rank_and_size(&self) -> (usize, usize) {
        let world = self.universe.world();
        (world.rank() as usize, world.size() as usize)
    }

    /// A transport over all ranks. Every rank calls it.
    ///
    /// # Errors
    /// The library refused to make a communicator.
    pub fn world(&self) -> Result<MpiTransport, TransportError> {
        let world = self.universe.world();
        MpiTransport::over_communicator(&world)
    }
}

/// What the library says it is, in one line.
pub fn library() -> String {
    let version = mpi::environment::library_version().unwrap_or_default();
    let line = version.lines().next().unwrap_or_default();
    line.trim_matches(char::from(0)).trim().to_owned()
}

/// The version of the MPI standard that the library implements; may be asked before MPI starts.
pub fn standard() -> (i32, i32) {
    mpi::environment::version()
}

/// Ends the whole job at once: MPI would otherwise wait for ever for a rank that failed.
pub fn abort_job(code: i32) {
    // SAFETY: MPI_Abort may be called at any time between start and end of MPI.
    unsafe {
        ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code);
    }
}

/// One rank's end of an MPI communicator.
pub struct MpiTransport {
    data: SimpleCommunicator,
    signals: SimpleCommunicator,
    slots: Rc<RefCell<Slots>>,
}

/// Requests of this rank, reused; borrowed by the one `over` that is under way.
#[derive(Default)]
struct Slots {
    slots: Vec<Slot>,
    serial: u32,
}

struct Slot {
    request: ffi::MPI_Request,
    serial: u32,
    /// Rank, tag and elements, for messages about it.
    partner: usize,
    tag: Tag,
    elements: usize,
    receives: bool,
}

impl MpiTransport {
    /// A transport over the ranks of any communicator of the crate `mpi`, for library users.
    ///
    /// # Errors
    /// The library refused to duplicate it.
    pub fn over_communicator(comm: &impl Communicator) -> Result<Self, TransportError> {
        let result = Self {
            data: comm.duplicate(),
            signals: comm.duplicate(),
            slots: Rc::default(),
        };
        for comm in [&result.data, &result.signals] {
            // SAFETY: a live communicator and a predefined error handler.
            let code =
                unsafe { ffi::MPI_Comm_set_errhandler(comm.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
            checked(code, "MPI_Comm_set_errhandler", result.rank())?;
        }
        Ok(result)
    }
}

impl Transport for MpiTransport {
    type Scope<'a> = MpiScope<'a>;
    type Engine = MpiEngine;

    const NAME: &'static str = "mpi";

    fn library(&self) -> Option<String> {
        Some(library())
    }

    fn rank(&self) -> usize {
        self.data.rank() as usize
    }

    fn size(&self) -> usize {
        self.data.size() as usize
    }

    fn now(&self) -> f64 {
        mpi::time()
    }

    fn split(&self, color: usize, key: usize) -> Result<Self, TransportError> {
        let value = |value: usize| {
            i32::try_from(value).map_err(|_| TransportError::Library {
                rank: self.rank(),
                call: "MPI_Comm_split",
                message: format!("colour or key {value} is above {}", i32::MAX),
            })
        };
        let (color, key) = (value(color)?, value(key)?);
        match self
            .data
            .split_by_color_with_key(Color::with_value(color), key)
        {
            Some(part) => Self::over_communicator(&part),
            None => Err(TransportError::Library {
                rank: self.rank(),
                call: "MPI_Comm_split",
                message: "returned no communicator".to_owned(),
            }),
        }
    }

    fn lacks(engine: EngineKind) -> Option<String> {
        MpiEngine::lacks(engine)
    }

    fn engine(&self, engine: EngineKind, pattern: &Pattern) -> Result<MpiEngine, TransportError> {
        MpiEngine::new(self, engine, pattern)
    }

    fn over<R>(
        &self,
        send: &[f64],
        recv: &mut [f64],
        body: impl FnOnce(&mut Self::Scope<'_>) -> Result<R, TransportError>,
    ) -> Result<R, TransportError> {
        let slots = self
            .slots
            .try_borrow_mut()
            .map_err(|_| TransportError::Nested { rank: self.rank() })?;
        let mut scope = MpiScope {
            rank: self.data.rank() as usize,
            size: self.data.size() as usize,
            comm: self.data.as_raw(),
            signals: self.signals.as_raw(),
            send: (send.as_ptr(), send.len()),
            recv: (recv.as_mut_ptr(), recv.len()),
            slots,
            open: 0,
        };
        let result = body(&mut scope)?;
        scope.finish()?;
        Ok(result)
    }
}

/// An exchange prepared by an engine.
pub enum MpiEngine {}

impl MpiEngine {
    fn lacks(_engine: EngineKind) -> Option<String> {
        Some("unavailable in this version over MPI".to_owned())
    }

    fn new(
        _comm: &MpiTransport,
        engine: EngineKind,
        _pattern: &Pattern,
    ) -> Result<Self, TransportError> {
        Err(TransportError::NoEngine {
            engine: engine.name(),
            reason: Self::lacks(engine).unwrap_or_default(),
        })
    }
}

impl Exchange for MpiEngine {
    fn execute(&mut self, _send: &[f64], _recv: &mut [f64]) -> Result<(), TransportError> {
        match *self {}
    }
}

/// Messages over one pair of buffers.
pub struct MpiScope<'a> {
    rank: usize,
    size: usize,
    comm: ffi::MPI_Comm,
    signals: ffi::MPI_Comm,
    send: (*const f64, usize),
    recv: (*mut f64, usize),
    slots: std::cell::RefMut<'a, Slots>,
    open: usize,
}

impl Drop for MpiScope<'_> {
    /// After an error or a panic requests may still be under way, and MPI cannot cancel sends
    /// reliably: the buffers must not be freed, so the job ends here.
    fn drop(&mut self) {
        if self.open > 0 {
            abort_job(1);
        }
    }
}

impl MpiScope<'_> {
    /// Waits for what the body left.
    fn finish(&mut self) -> Result<(), TransportError> {
        for index in 0..self.slots.slots.len() {
            if self.slots.slots[index].serial != 0 {
                self.wait_slot(index)?;
            }
        }
        Ok(())
    }

    fn partner(&self, partner: usize) -> Result<c_int, TransportError> {
        if partner >= self.size {
            return Err(TransportError::NoSuchRank {
                rank: self.rank,
                partner,
                size: self.size,
            });
        }
        Ok(partner as c_int)
    }

    fn tag(&self, tag: Tag) -> Result<c_int, TransportError> {
        if tag >= TAG_LIMIT {
            return Err(TransportError::NoSuchTag {
                rank: self.rank,
                tag,
            });
        }
        Ok(tag as c_int)
    }

    /// Buffered sends need a buffer attached to MPI; no protocol uses them, and none is.
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

    fn count(&self, elements: usize) -> Result<c_int, TransportError> {
        c_int::try_from(elements).map_err(|_| TransportError::CountTooLarge {
            rank: self.rank,
            elements,
        })
    }

    fn send_range(&self, range: &Range<usize>) -> Result<(*const c_void, c_int), TransportError> {
        self.inside(range, self.send.1, "send")?;
        // SAFETY: `inside` found the range within the buffer.
        let start = unsafe { self.send.0.add(range.start) };
        Ok((start.cast(), self.count(range.len())?))
    }

    fn recv_range(&self, range: &Range<usize>) -> Result<(*mut c_void, c_int), TransportError> {
        self.inside(range, self.recv.1, "receive")?;
        // SAFETY: `inside` found the range within the buffer.
        let start = unsafe { self.recv.0.add(range.start) };
        Ok((start.cast(), self.count(range.len())?))
    }

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

    fn checked(&self, code: c_int, call: &'static str) -> Result<(), TransportError> {
        checked(code, call, self.rank)
    }

    /// Remembers a request.
    fn keep(
        &mut self,
        request: ffi::MPI_Request,
        (partner, tag): (usize, Tag),
        elements: usize,
        receives: bool,
    ) -> Request {
        let slots = &mut *self.slots;
        slots.serial = slots.serial.wrapping_add(1).max(1);
        let slot = Slot {
            request,
            serial: slots.serial,
            partner,
            tag,
            elements,
            receives,
        };
        let index = match slots.slots.iter().position(|slot| slot.serial == 0) {
            Some(index) => {
                slots.slots[index] = slot;
                index
            }
            None => {
                slots.slots.push(slot);
                slots.slots.len() - 1
            }
        };
        self.open += 1;
        Request {
            index: index as u32,
            serial: slots.serial,
        }
    }

    fn wait_slot(&mut self, index: usize) -> Result<usize, TransportError> {
        let mut status = MaybeUninit::uninit();
        let slot = &mut self.slots.slots[index];
        // SAFETY: a request under way; its buffer is borrowed by the `over` that made this scope.
        let code = unsafe { ffi::MPI_Wait(&mut slot.request, status.as_mut_ptr()) };
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
    fn ended(
        &mut self,
        index: usize,
        (code, call): (c_int, &'static str),
        status: &MaybeUninit<ffi::MPI_Status>,
    ) -> Result<usize, TransportError> {
        let slot = &mut self.slots.slots[index];
        slot.serial = 0;
        self.open -= 1;
        let (partner, tag, elements, receives) =
            (slot.partner, slot.tag, slot.elements, slot.receives);
        if !receives {
            self.checked(code, call)?;
            return Ok(elements);
        }
        self.received(code, call, (partner, tag), elements, status)
    }

    /// The elements that a completed receive got.
    fn received(
        &self,
        code: c_int,
        call: &'static str,
        (from, tag): (usize, Tag),
        room: usize,
        status: &MaybeUninit<ffi::MPI_Status>,
    ) -> Result<usize, TransportError> {
        if code != ffi::MPI_SUCCESS as c_int && error_class(code) == ffi::MPI_ERR_TRUNCATE as c_int
        {
            // MPI does not say how long the message was.
            return Err(TransportError::Truncated {
                rank: self.rank,
                from,
                tag,
                message: room + 1,
                room,
            });
        }
        self.checked(code, call)?;
        let mut count = 0;
        // SAFETY: the call that filled the status succeeded.
        let code = unsafe {
            ffi::MPI_Get_count(
                status.as_ptr(),
                f64::equivalent_datatype().as_raw(),
                &mut count,
            )
        };
        self.checked(code, "MPI_Get_count")?;
        Ok(count.max(0) as usize)
    }
}

impl Scope for MpiScope<'_> {
    fn send(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<(), TransportError> {
        self.not_buffered(mode)?;
        let (start, count) = self.send_range(&range)?;
        let (peer, tag) = (self.partner(to)?, self.tag(tag)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        let (call, name): (unsafe extern "C" fn(_, _, _, _, _, _) -> _, _) = match mode {
            SendMode::Standard => (ffi::MPI_Send, "MPI_Send"),
            SendMode::Synchronous => (ffi::MPI_Ssend, "MPI_Ssend"),
            SendMode::Ready => (ffi::MPI_Rsend, "MPI_Rsend"),
            SendMode::Buffered => (ffi::MPI_Bsend, "MPI_Bsend"),
        };
        // SAFETY: the range lies in the buffer; the call returns when it may be reused.
        let code = unsafe { call(start, count, f64_type, peer, tag, self.comm) };
        self.checked(code, name)
    }

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
        let f64_type = f64::equivalent_datatype().as_raw();
        let (call, name): (unsafe extern "C" fn(_, _, _, _, _, _, _) -> _, _) = match mode {
            SendMode::Standard => (ffi::MPI_Isend, "MPI_Isend"),
            SendMode::Synchronous => (ffi::MPI_Issend, "MPI_Issend"),
            SendMode::Ready => (ffi::MPI_Irsend, "MPI_Irsend"),
            SendMode::Buffered => (ffi::MPI_Ibsend, "MPI_Ibsend"),
        };
        let mut request = MaybeUninit::uninit();
        // SAFETY: the range stays borrowed until the request is complete (`wait`, `finish`).
        let code = unsafe {
            call(
                start,
                count,
                f64_type,
                peer,
                tag_value,
                self.comm,
                request.as_mut_ptr(),
            )
        };
        self.checked(code, name)?;
        // SAFETY: the call succeeded.
        let request = unsafe { request.assume_init() };
        Ok(self.keep(request, (to, tag), range.len(), false))
    }

    fn recv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<usize, TransportError> {
        let (start, count) = self.recv_range(&range)?;
        let (peer, tag_value) = (self.partner(from)?, self.tag(tag)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        let mut status = MaybeUninit::uninit();
        // SAFETY: the range lies in the buffer, which this scope borrows mutably.
        let code = unsafe {
            ffi::MPI_Recv(
                start,
                count,
                f64_type,
                peer,
                tag_value,
                self.comm,
                status.as_mut_ptr(),
            )
        };
        self.received(code, "MPI_Recv", (from, tag), range.len(), &status)
    }

    fn irecv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        let (start, count) = self.recv_range(&range)?;
        let (peer, tag_value) = (self.partner(from)?, self.tag(tag)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        let mut request = MaybeUninit::uninit();
        // SAFETY: the range stays borrowed until the request is complete (`wait`, `finish`).
        let code = unsafe {
            ffi::MPI_Irecv(
                start,
                count,
                f64_type,
                peer,
                tag_value,
                self.comm,
                request.as_mut_ptr(),
            )
        };
        self.checked(code, "MPI_Irecv")?;
        // SAFETY: the call succeeded.
        let request = unsafe { request.assume_init() };
        Ok(self.keep(request, (from, tag), range.len(), true))
    }

    fn wait(&mut self, request: Request) -> Result<usize, TransportError> {
        let index = request.index as usize;
        match self.slots.slots.get(index) {
            Some(slot) if slot.serial == request.serial && slot.serial != 0 => {
                self.wait_slot(index)
            }
            _ => Err(TransportError::NoSuchRequest { rank: self.rank }),
        }
    }

    fn test(&mut self, request: Request) -> Result<Option<usize>, TransportError> {
        let index = request.index as usize;
        match self.slots.slots.get(index) {
            Some(slot) if slot.serial == request.serial && slot.serial != 0 => {
                self.test_slot(index)
            }
            _ => Err(TransportError::NoSuchRequest { rank: self.rank }),
        }
    }

    fn label(&mut self, _label: &'static Label) {}

    fn sendrecv(
        &mut self,
        to: (usize, Tag, Range<usize>),
        from: (usize, Tag, Range<usize>),
    ) -> Result<usize, TransportError> {
        let (out, out_count) = self.send_range(&to.2)?;
        let (into, into_count) = self.recv_range(&from.2)?;
        let (to_peer, to_tag) = (self.partner(to.0)?, self.tag(to.1)?);
        let (from_peer, from_tag) = (self.partner(from.0)?, self.tag(from.1)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        let mut status = MaybeUninit::uninit();
        // SAFETY: both ranges lie in their buffers, which are different borrows.
        let code = unsafe {
            ffi::MPI_Sendrecv(
                out,
                out_count,
                f64_type,
                to_peer,
                to_tag,
                into,
                into_count,
                f64_type,
                from_peer,
                from_tag,
                self.comm,
                status.as_mut_ptr(),
            )
        };
        self.received(
            code,
            "MPI_Sendrecv",
            (from.0, from.1),
            from.2.len(),
            &status,
        )
    }

    fn signal(&mut self, to: usize, tag: Tag) -> Result<(), TransportError> {
        let (peer, tag) = (self.partner(to)?, self.tag(tag)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        // SAFETY: a message without data; every library buffers it.
        let code = unsafe { ffi::MPI_Send(std::ptr::null(), 0, f64_type, peer, tag, self.signals) };
        self.checked(code, "MPI_Send (signal)")
    }

    fn await_signal(&mut self, from: usize, tag: Tag) -> Result<(), TransportError> {
        let (peer, tag) = (self.partner(from)?, self.tag(tag)?);
        let f64_type = f64::equivalent_datatype().as_raw();
        // SAFETY: a message without data.
        let code = unsafe {
            ffi::MPI_Recv(
                std::ptr::null_mut(),
                0,
                f64_type,
                peer,
                tag,
                self.signals,
                ffi::RSMPI_STATUS_IGNORE,
            )
        };
        self.checked(code, "MPI_Recv (signal)")
    }
}

fn checked(code: c_int, call: &'static str, rank: usize) -> Result<(), TransportError> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the size that MPI asks for.
    unsafe {
        ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length);
    }
    let message = String::from_utf8_lossy(&text[..length.max(0) as usize])
        .trim()
        .to_owned();
    Err(TransportError::Library {
        rank,
        call,
        message,
    })
}

fn error_class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: any code may be asked about.
    unsafe {
        ffi::MPI_Error_class(code, &mut class);
    }
    class
}
