//! Requests made once and started every time. They are bound to addresses: other buffers mean
//! other requests, made without asking any other rank.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::rc::Rc;

use super::Buffers;
use super::plan::{Piece, Plan};
use crate::transport::mpi::handles::{Comm, Persistent};
use crate::transport::mpi::watch::{Call, Wait, waiting};
use crate::transport::mpi::{f64_type, ffi, is_truncated};
use crate::transport::{COLLECTIVE_TAGS, Tag, TransportError};

/// The requests: for every message the receives, then the sends.
pub(super) struct PersistentMessages {
    requests: Persistent,
    statuses: Vec<MaybeUninit<ffi::MPI_Status>>,
    /// The buffers of the requests.
    bound: Option<(*const f64, *mut f64)>,
    comm: Rc<Comm>,
}

/// Tags may repeat: messages between two ranks match in order.
pub(super) fn tag(message: usize) -> Tag {
    message as Tag % COLLECTIVE_TAGS
}

impl PersistentMessages {
    pub(super) fn new(comm: &Rc<Comm>, plan: &Plan) -> Self {
        let number = plan.messages * (plan.send.len() + plan.recv.len());
        Self {
            requests: Persistent::with_capacity(number),
            statuses: vec![MaybeUninit::uninit(); number],
            bound: None,
            comm: Rc::clone(comm),
        }
    }

    /// Makes the requests for these buffers.
    ///
    /// # Safety
    /// Buffers of at least the plan's lengths.
    unsafe fn bind(&mut self, plan: &Plan, buffers: Buffers) -> Result<(), TransportError> {
        let (of, comm, rank) = (f64_type(), self.comm.raw(), plan.job_rank());
        self.requests.clear();
        for message in 0..plan.messages {
            let tag = tag(message) as c_int;
            let at = |piece: &Piece| piece.start + piece.at(message);
            for piece in &plan.recv {
                // SAFETY: the range lies in the buffer.
                let make = |new: *mut _| unsafe {
                    let start = buffers.recv.add(at(piece)).cast();
                    ffi::MPI_Recv_init(start, piece.part, of, piece.peer, tag, comm, new)
                };
                self.requests.push("MPI_Recv_init", rank, make)?;
            }
            for piece in &plan.send {
                // SAFETY: the range lies in the buffer.
                let make = |new: *mut _| unsafe {
                    let start = buffers.send.add(at(piece)).cast();
                    ffi::MPI_Send_init(start, piece.part, of, piece.peer, tag, comm, new)
                };
                self.requests.push("MPI_Send_init", rank, make)?;
            }
        }
        self.bound = Some((buffers.send, buffers.recv));
        Ok(())
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
        if self.bound != Some((buffers.send, buffers.recv)) {
            // SAFETY: the caller's promise.
            unsafe { self.bind(plan, buffers)? };
        }
        let width = plan.send.len() + plan.recv.len();
        for go in plan.goes() {
            let slots = go.start * width..go.end * width;
            let requests = &mut self.requests.raw()[slots.clone()];
            let statuses = &mut self.statuses[slots];
            let number = requests.len() as c_int;
            let call = &Call("MPI_Startall");
            // SAFETY: inactive requests of buffers that live until the wait below.
            let code = waiting(call, plan.everyone(), || unsafe {
                ffi::MPI_Startall(number, requests.as_mut_ptr())
            });
            plan.checked(code, call)?;
            for message in go.clone() {
                // SAFETY: the caller's promise; no request covers the own block.
                unsafe { plan.copy_own(message, buffers) };
            }
            let call = &Call("MPI_Waitall (persistent)");
            // SAFETY: the requests just started, and a status for each.
            let code = waiting(call, wait(plan), || unsafe {
                let statuses = statuses.as_mut_ptr().cast();
                ffi::MPI_Waitall(number, requests.as_mut_ptr(), statuses)
            });
            finished(plan, code, call)?;
            for (message, statuses) in go.zip(statuses.chunks_exact(width.max(1))) {
                for (piece, status) in plan.recv.iter().zip(statuses) {
                    received(plan, piece, message, status)?;
                }
            }
        }
        Ok(())
    }
}

/// Whom the watchdog names: the one partner, where there is only one.
fn wait(plan: &Plan) -> Wait {
    match &plan.recv[..] {
        [one] => Wait::partner(plan.members[one.peer as usize], 0, plan.received()),
        _ => plan.everyone(),
    }
}

fn finished(plan: &Plan, code: c_int, call: &Call) -> Result<(), TransportError> {
    match (is_truncated(code), plan.recv.first()) {
        (true, Some(first)) => Err(TransportError::Truncated {
            rank: plan.job_rank(),
            from: plan.members[first.peer as usize],
            tag: 0,
            message: first.len() + 1,
            room: first.len(),
        }),
        _ => plan.checked(code, call),
    }
}

/// Checks the length of a message that came.
fn received(
    plan: &Plan,
    piece: &Piece,
    message: usize,
    status: &MaybeUninit<ffi::MPI_Status>,
) -> Result<(), TransportError> {
    let mut count = 0;
    // SAFETY: the wait that filled the status succeeded.
    let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), f64_type(), &mut count) };
    plan.checked(code, &Call("MPI_Get_count"))?;
    if count == piece.part {
        return Ok(());
    }
    Err(TransportError::Short {
        rank: plan.job_rank(),
        from: plan.members[piece.peer as usize],
        tag: tag(message),
        message: count.max(0) as usize,
        expected: piece.len(),
    })
}
