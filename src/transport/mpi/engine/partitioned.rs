//! Partitioned messages: each part of a message is marked ready by itself. They came with MPI 4;
//! the calls are looked up when the program runs, so that it builds with older libraries.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr;
use std::rc::Rc;

use super::Buffers;
use super::persistent::tag;
use super::plan::{Piece, Plan};
use crate::transport::TransportError;
use crate::transport::mpi::handles::{Comm, Persistent};
use crate::transport::mpi::watch::{Call, waiting};
use crate::transport::mpi::{f64_type, ffi, refused};

/// MPI_Psend_init and MPI_Precv_init, the buffer of the former not written.
type Init = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    ffi::MPI_Count,
    ffi::MPI_Datatype,
    c_int,
    c_int,
    ffi::MPI_Comm,
    ffi::MPI_Info,
    *mut ffi::MPI_Request,
) -> c_int;

/// The calls of MPI 4.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    psend_init: Init,
    precv_init: Init,
    pready: unsafe extern "C" fn(c_int, ffi::MPI_Request) -> c_int,
}

impl Calls {
    /// Those of the library that the program runs with.
    pub(super) fn find() -> Option<Self> {
        // SAFETY: functions of these names have these types, MPI 4.0 sections 4.2.1 and 4.2.2.
        unsafe {
            Some(Self {
                psend_init: transmute::<*mut c_void, Init>(symbol(c"MPI_Psend_init")?),
                precv_init: transmute::<*mut c_void, Init>(symbol(c"MPI_Precv_init")?),
                pready: transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(c_int, ffi::MPI_Request) -> c_int,
                >(symbol(c"MPI_Pready")?),
            })
        }
    }
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a name that ends with 0; looks in the program and its libraries.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The messages: together, each block is one of several partitions; otherwise each message is one
/// of a single partition.
pub(super) struct Partitioned {
    calls: Calls,
    /// For every group of messages the receives, then the sends.
    requests: Persistent,
    outgoing: Vec<f64>,
    incoming: Vec<f64>,
}

impl Partitioned {
    pub(super) fn new(comm: &Rc<Comm>, plan: &Plan) -> Result<Self, TransportError> {
        let missing = || {
            refused(
                ffi::MPI_ERR_OTHER as c_int,
                "MPI_Psend_init",
                plan.job_rank(),
            )
        };
        let mut engine = Self {
            calls: Calls::find().ok_or_else(missing)?,
            requests: Persistent::default(),
            outgoing: vec![0.0; plan.sent()],
            incoming: vec![0.0; plan.received()],
        };
        let (from, to) = (engine.outgoing.as_mut_ptr(), engine.incoming.as_mut_ptr());
        let calls = engine.calls;
        for (number, go) in plan.goes().enumerate() {
            for piece in &plan.recv {
                let init = (calls.precv_init, "MPI_Precv_init");
                engine.push(init, comm, plan, piece, to, (number, go.len()))?;
            }
            for piece in &plan.send {
                let init = (calls.psend_init, "MPI_Psend_init");
                engine.push(init, comm, plan, piece, from, (number, go.len()))?;
            }
        }
        Ok(engine)
    }

    /// Makes the request of one block: the `number`th of so many `partitions`.
    fn push(
        &mut self,
        (init, call): (Init, &'static str),
        comm: &Comm,
        plan: &Plan,
        piece: &Piece,
        staging: *mut f64,
        (number, partitions): (usize, usize),
    ) -> Result<(), TransportError> {
        let (of, tag) = (f64_type(), tag(number) as c_int);
        let at = piece.near + piece.at(number * partitions);
        let count = ffi::MPI_Count::from(piece.part);
        // SAFETY: the partitions lie in the staging buffer, which lives as long as the requests.
        self.requests.push(call, plan.job_rank(), |new| unsafe {
            init(
                staging.add(at).cast(),
                partitions as c_int,
                count,
                of,
                piece.peer,
                tag,
                comm.raw(),
                ffi::RSMPI_INFO_NULL,
                new,
            )
        })
    }

    /// Moves the data.
    ///
    /// # Safety
    /// Buffers of at least the plan's lengths; an error ends the job.
    pub(super) unsafe fn execute(
        &mut self,
        plan: &Plan,
        buffers: Buffers,
    ) -> Result<(), TransportError> {
        let (out, back) = (self.outgoing.as_mut_ptr(), self.incoming.as_ptr());
        let (receives, width) = (plan.recv.len(), plan.recv.len() + plan.send.len());
        for (number, go) in plan.goes().enumerate() {
            let requests = &mut self.requests.raw()[number * width..(number + 1) * width];
            let call = &Call("MPI_Startall");
            // SAFETY: inactive requests of the staging buffers.
            let code = waiting(call, plan.everyone(), || unsafe {
                ffi::MPI_Startall(width as c_int, requests.as_mut_ptr())
            });
            plan.checked(code, call)?;
            for (partition, message) in go.clone().enumerate() {
                for (piece, request) in plan.send.iter().zip(&requests[receives..]) {
                    let at = piece.at(message);
                    // SAFETY: the partition is not ready yet: the staging buffer may be written.
                    let code = unsafe {
                        let from = buffers.send.add(piece.start + at);
                        ptr::copy_nonoverlapping(from, out.add(piece.near + at), piece.len());
                        (self.calls.pready)(partition as c_int, *request)
                    };
                    plan.checked(code, &Call("MPI_Pready"))?;
                }
                // SAFETY: the caller's promise.
                unsafe { plan.copy_own(message, buffers) };
            }
            let call = &Call("MPI_Waitall (partitioned)");
            // SAFETY: the requests just started.
            let code = waiting(call, plan.everyone(), || unsafe {
                let ignore = ffi::RSMPI_STATUSES_IGNORE;
                ffi::MPI_Waitall(width as c_int, requests.as_mut_ptr(), ignore)
            });
            plan.checked(code, call)?;
            for message in go {
                for piece in &plan.recv {
                    let at = piece.at(message);
                    // SAFETY: the messages have arrived.
                    unsafe {
                        let to = buffers.recv.add(piece.start + at);
                        ptr::copy_nonoverlapping(back.add(piece.near + at), to, piece.len());
                    }
                }
            }
        }
        Ok(())
    }
}
