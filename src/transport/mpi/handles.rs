//! MPI's objects as values that free them.
//!
//! After a failure nothing is freed: freeing waits for ranks that may not come.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;

use super::watch::{Call, Wait, waiting};
use super::{checked, f64_type, ffi};
use crate::transport::TransportError;

/// Whether this rank is on its way out.
fn failing() -> bool {
    std::thread::panicking()
}

/// A communicator that returns errors.
pub(super) struct Comm(ffi::MPI_Comm);

impl Comm {
    /// The handle; it lives as long as this value.
    pub(super) fn raw(&self) -> ffi::MPI_Comm {
        self.0
    }

    /// Makes one. Every rank of the communicator it is made from calls it.
    pub(super) fn make(
        call: &'static Call,
        rank: usize,
        make: impl FnOnce(*mut ffi::MPI_Comm) -> c_int,
    ) -> Result<Self, TransportError> {
        let mut raw = MaybeUninit::uninit();
        let code = waiting(call, Wait::everyone(0), || make(raw.as_mut_ptr()));
        checked(code, call.0, rank)?;
        // SAFETY: the call succeeded.
        let comm = Self(unsafe { raw.assume_init() });
        // SAFETY: a live communicator and a predefined error handler.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(comm.0, ffi::RSMPI_ERRORS_RETURN) };
        checked(code, "MPI_Comm_set_errhandler", rank)?;
        Ok(comm)
    }

    /// A communicator of the same ranks, with messages of its own.
    pub(super) fn duplicate(raw: ffi::MPI_Comm) -> Result<Self, TransportError> {
        // SAFETY: a live communicator.
        Self::make(&Call("MPI_Comm_dup"), 0, |new| unsafe {
            ffi::MPI_Comm_dup(raw, new)
        })
    }

    /// A communicator for each colour.
    pub(super) fn split(&self, color: c_int, key: c_int) -> Result<Self, TransportError> {
        // SAFETY: a live communicator.
        Self::make(&Call("MPI_Comm_split"), self.rank()?, |new| unsafe {
            ffi::MPI_Comm_split(self.0, color, key, new)
        })
    }

    /// A communicator of the ranks that share memory with this one, in the same order.
    pub(super) fn split_shared(&self) -> Result<Self, TransportError> {
        let rank = self.rank()?;
        // SAFETY: a live communicator; no hints.
        Self::make(&Call("MPI_Comm_split_type"), rank, |new| unsafe {
            let kind = ffi::RSMPI_COMM_TYPE_SHARED;
            ffi::MPI_Comm_split_type(self.0, kind, rank as c_int, ffi::RSMPI_INFO_NULL, new)
        })
    }

    /// This rank.
    pub(super) fn rank(&self) -> Result<usize, TransportError> {
        let mut rank = 0;
        // SAFETY: a live communicator.
        let code = unsafe { ffi::MPI_Comm_rank(self.0, &mut rank) };
        checked(code, "MPI_Comm_rank", 0)?;
        Ok(rank as usize)
    }

    /// Ranks.
    pub(super) fn size(&self) -> Result<usize, TransportError> {
        let mut size = 0;
        // SAFETY: a live communicator.
        let code = unsafe { ffi::MPI_Comm_size(self.0, &mut size) };
        checked(code, "MPI_Comm_size", 0)?;
        Ok(size as usize)
    }

    /// Every rank as a rank of the job.
    pub(super) fn members(&self) -> Result<Rc<[usize]>, TransportError> {
        let size = self.size()?;
        let own = Group::of(self.0)?;
        // SAFETY: the communicator of the job lives from start to end of MPI.
        let world = Group::of(unsafe { ffi::RSMPI_COMM_WORLD })?;
        let ranks: Vec<c_int> = (0..size as c_int).collect();
        let mut members = vec![0; size];
        // SAFETY: two live groups, arrays of as many ranks as said.
        let code = unsafe {
            let (from, to) = (ranks.as_ptr(), members.as_mut_ptr());
            ffi::MPI_Group_translate_ranks(own.0, size as c_int, from, world.0, to)
        };
        checked(code, "MPI_Group_translate_ranks", 0)?;
        // Ranks of another job, started by MPI_Comm_spawn, keep the number they have here.
        let known = |(rank, member)| usize::try_from(member).unwrap_or(rank);
        Ok(members.into_iter().enumerate().map(known).collect())
    }

    /// A group of some of the ranks.
    pub(super) fn group(&self, ranks: &[c_int]) -> Result<Group, TransportError> {
        let all = Group::of(self.0)?;
        let mut raw = MaybeUninit::uninit();
        // SAFETY: a live group and an array of as many of its ranks as said.
        let code = unsafe {
            ffi::MPI_Group_incl(
                all.0,
                ranks.len() as c_int,
                ranks.as_ptr(),
                raw.as_mut_ptr(),
            )
        };
        checked(code, "MPI_Group_incl", self.rank()?)?;
        // SAFETY: the call succeeded.
        Ok(Group(unsafe { raw.assume_init() }))
    }
}

/// Ranks of the whole job.
pub(super) fn job_size() -> Result<usize, TransportError> {
    let mut size = 0;
    // SAFETY: the communicator of the job lives from start to end of MPI.
    let code = unsafe { ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &mut size) };
    checked(code, "MPI_Comm_size", 0)?;
    Ok(size as usize)
}

impl Drop for Comm {
    fn drop(&mut self) {
        if !failing() {
            // SAFETY: nothing else holds the handle.
            unsafe { ffi::MPI_Comm_free(&mut self.0) };
        }
    }
}

/// A group of ranks.
pub(super) struct Group(ffi::MPI_Group);

impl Group {
    /// The handle; it lives as long as this value.
    pub(super) fn raw(&self) -> ffi::MPI_Group {
        self.0
    }

    fn of(comm: ffi::MPI_Comm) -> Result<Self, TransportError> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: a live communicator.
        let code = unsafe { ffi::MPI_Comm_group(comm, raw.as_mut_ptr()) };
        checked(code, "MPI_Comm_group", 0)?;
        // SAFETY: the call succeeded.
        Ok(Self(unsafe { raw.assume_init() }))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle. Predefined groups, which are not freed, come from
        // nowhere: MPI_Comm_group and MPI_Group_incl of at least one rank make new handles.
        unsafe { ffi::MPI_Group_free(&mut self.0) };
    }
}

/// A derived datatype of f64.
pub(super) struct Datatype(ffi::MPI_Datatype);

impl Datatype {
    /// The handle; it lives as long as this value.
    pub(super) fn raw(&self) -> ffi::MPI_Datatype {
        self.0
    }

    /// Makes one and commits it.
    pub(super) fn make(
        call: &'static str,
        rank: usize,
        make: impl FnOnce(ffi::MPI_Datatype, *mut ffi::MPI_Datatype) -> c_int,
    ) -> Result<Self, TransportError> {
        let mut raw = MaybeUninit::uninit();
        checked(make(f64_type(), raw.as_mut_ptr()), call, rank)?;
        // SAFETY: the call succeeded.
        let mut datatype = Self(unsafe { raw.assume_init() });
        // SAFETY: a live datatype.
        let code = unsafe { ffi::MPI_Type_commit(&mut datatype.0) };
        checked(code, "MPI_Type_commit", rank)?;
        Ok(datatype)
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle, and no exchange with it is under way.
        unsafe { ffi::MPI_Type_free(&mut self.0) };
    }
}

/// Persistent requests; none is under way when they are freed.
#[derive(Default)]
pub(super) struct Persistent(Vec<ffi::MPI_Request>);

impl Persistent {
    /// Room for requests, so that making them anew allocates nothing.
    pub(super) fn with_capacity(requests: usize) -> Self {
        Self(Vec::with_capacity(requests))
    }

    /// Makes one more.
    pub(super) fn push(
        &mut self,
        call: &'static str,
        rank: usize,
        make: impl FnOnce(*mut ffi::MPI_Request) -> c_int,
    ) -> Result<(), TransportError> {
        let mut raw = MaybeUninit::uninit();
        checked(make(raw.as_mut_ptr()), call, rank)?;
        // SAFETY: the call succeeded.
        self.0.push(unsafe { raw.assume_init() });
        Ok(())
    }

    /// All of them, in the order made.
    pub(super) fn raw(&mut self) -> &mut [ffi::MPI_Request] {
        &mut self.0
    }

    /// Frees all.
    pub(super) fn clear(&mut self) {
        for mut request in self.0.drain(..) {
            // SAFETY: an inactive persistent request.
            unsafe { ffi::MPI_Request_free(&mut request) };
        }
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A window of f64 whose memory MPI allocated.
pub(super) struct Window {
    raw: ffi::MPI_Win,
    base: *mut f64,
    comm: ffi::MPI_Comm,
}

/// Elements of a cache line.
pub(super) const LINE: usize = 8;

/// MPI_Win_allocate or MPI_Win_allocate_shared.
pub(super) type Allocate = unsafe extern "C" fn(
    ffi::MPI_Aint,
    c_int,
    ffi::MPI_Info,
    ffi::MPI_Comm,
    *mut c_void,
    *mut ffi::MPI_Win,
) -> c_int;

impl Window {
    /// A window of `elements`, zero. Every rank of the communicator calls it.
    pub(super) fn new(
        (allocate, call): (Allocate, &'static Call),
        elements: usize,
        comm: &Comm,
    ) -> Result<Self, TransportError> {
        let rank = comm.rank()?;
        // Whole cache lines: where the sizes of a node's ranks are no multiples of 16 bytes, ranks
        // of MPICH 4.0 disagree on where a segment begins. At least one: some libraries do not
        // like windows without memory.
        let elements = elements.max(1).next_multiple_of(LINE);
        let bytes = elements
            .checked_mul(size_of::<f64>())
            .and_then(|bytes| ffi::MPI_Aint::try_from(bytes).ok())
            .ok_or(TransportError::CountTooLarge { rank, elements })?;
        let mut raw = MaybeUninit::uninit();
        let mut base: *mut f64 = ptr::null_mut();
        let unit = size_of::<f64>() as c_int;
        // SAFETY: a live communicator; MPI stores the address of the memory in `base`.
        let code = waiting(call, Wait::everyone(0), || unsafe {
            let (info, at) = (ffi::RSMPI_INFO_NULL, ptr::from_mut(&mut base).cast());
            allocate(bytes, unit, info, comm.raw(), at, raw.as_mut_ptr())
        });
        checked(code, call.0, rank)?;
        let window = Self {
            // SAFETY: the call succeeded.
            raw: unsafe { raw.assume_init() },
            base,
            comm: comm.raw(),
        };
        // SAFETY: a live window and a predefined error handler.
        let code = unsafe { ffi::MPI_Win_set_errhandler(window.raw, ffi::RSMPI_ERRORS_RETURN) };
        checked(code, "MPI_Win_set_errhandler", rank)?;
        // SAFETY: this rank's own memory of the window, which nobody accesses yet.
        unsafe { base.write_bytes(0, elements) };
        window.barrier(rank)?;
        Ok(window)
    }

    /// The handle; it lives as long as this value.
    pub(super) fn raw(&self) -> ffi::MPI_Win {
        self.raw
    }

    /// This rank's memory.
    pub(super) fn base(&self) -> *mut f64 {
        self.base
    }

    /// Waits for all ranks of the window.
    pub(super) fn barrier(&self, rank: usize) -> Result<(), TransportError> {
        // SAFETY: the communicator outlives the window, see the engines.
        let code = waiting(&Call("MPI_Barrier"), Wait::everyone(0), || unsafe {
            ffi::MPI_Barrier(self.comm)
        });
        checked(code, "MPI_Barrier", rank)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if !failing() {
            // SAFETY: nothing else holds the handle, and no access is under way.
            waiting(&Call("MPI_Win_free"), Wait::everyone(0), || unsafe {
                ffi::MPI_Win_free(&mut self.raw)
            });
        }
    }
}
