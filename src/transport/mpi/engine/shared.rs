//! Memory that the ranks of a node share: every rank stores its blocks into its own segment, the
//! ranks meet, and each loads what is for it straight from the others' segments.
//!
//! A segment has two halves, used in turn: when a rank stores into one again, all ranks have met
//! once more since, so that nobody still reads from it. One barrier a message is enough.

use std::ffi::c_int;
use std::ptr;

use super::Buffers;
use super::plan::Plan;
use crate::transport::mpi::ffi;
use crate::transport::mpi::handles::{Comm, LINE, Window};
use crate::transport::mpi::watch::Call;
use crate::transport::{EngineKind, TransportError};

/// The segments.
pub(super) struct SharedWindow {
    window: Locked,
    /// Elements of one half of this rank's segment.
    half: usize,
    /// For every receive: the partner's segment and the elements of one half of it.
    segments: Vec<(*const f64, usize)>,
    turn: usize,
    /// Goes after the window.
    _node: Comm,
}

/// A window whose one epoch lasts as long as it does.
struct Locked(Window);

impl Locked {
    fn new(window: Window, rank: usize) -> Result<Self, TransportError> {
        // SAFETY: a live window; nobody locks it exclusively.
        let code = unsafe { ffi::MPI_Win_lock_all(ffi::MPI_MODE_NOCHECK as c_int, window.raw()) };
        crate::transport::mpi::checked(code, "MPI_Win_lock_all", rank)?;
        Ok(Self(window))
    }

    /// What was stored before is seen by loads after.
    fn sync(&self, plan: &Plan) -> Result<(), TransportError> {
        // SAFETY: a live window in an epoch of lock_all.
        let code = unsafe { ffi::MPI_Win_sync(self.0.raw()) };
        plan.checked(code, &Call("MPI_Win_sync"))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the epoch that `new` began; no access is under way.
            unsafe { ffi::MPI_Win_unlock_all(self.0.raw()) };
        }
    }
}

impl SharedWindow {
    pub(super) fn new(comm: &Comm, plan: &Plan) -> Result<Self, TransportError> {
        let node = comm.split_shared()?;
        let (here, all) = (node.size()?, plan.size());
        if here != all {
            return Err(TransportError::NoEngine {
                engine: EngineKind::SharedWindow.name(),
                reason: format!(
                    "the {all} ranks are on several nodes: rank {} shares memory with {here} of \
                     them, itself included",
                    plan.job_rank()
                ),
            });
        }
        let half = plan.sent().max(1).next_multiple_of(LINE);
        let allocate = (
            ffi::MPI_Win_allocate_shared as _,
            &Call("MPI_Win_allocate_shared"),
        );
        let window = Locked::new(Window::new(allocate, 2 * half, &node)?, plan.job_rank())?;
        let segment = |piece: &super::plan::Piece| {
            let (mut bytes, mut unit, mut base) = (0, 0, ptr::null_mut::<f64>());
            // SAFETY: a live window of shared memory; MPI stores the address in `base`.
            let code = unsafe {
                let at = ptr::from_mut(&mut base).cast();
                ffi::MPI_Win_shared_query(window.0.raw(), piece.peer, &mut bytes, &mut unit, at)
            };
            plan.checked(code, &Call("MPI_Win_shared_query"))?;
            let elements = bytes as usize / size_of::<f64>();
            Ok((base.cast_const(), elements / 2))
        };
        let segments = plan.recv.iter().map(segment).collect::<Result<_, _>>()?;
        Ok(Self {
            window,
            half,
            segments,
            turn: 0,
            _node: node,
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
        for go in plan.goes() {
            for message in go.clone() {
                for piece in &plan.send {
                    let at = piece.at(message);
                    // SAFETY: this rank's segment, in the half that nobody reads.
                    unsafe {
                        let from = buffers.send.add(piece.start + at);
                        let half = self.window.0.base().add(self.turn * self.half);
                        ptr::copy_nonoverlapping(from, half.add(piece.near + at), piece.len());
                    }
                }
                // SAFETY: the caller's promise; the own block is in no segment.
                unsafe { plan.copy_own(message, buffers) };
            }
            self.window.sync(plan)?;
            self.window.0.barrier(plan.job_rank())?;
            self.window.sync(plan)?;
            for message in go {
                for (piece, (segment, half)) in plan.recv.iter().zip(&self.segments) {
                    let at = piece.at(message);
                    // SAFETY: the partner has stored, and does not store here before the next
                    // barrier.
                    unsafe {
                        let from = segment.add(self.turn * half + piece.far + at);
                        let to = buffers.recv.add(piece.start + at);
                        ptr::copy_nonoverlapping(from, to, piece.len());
                    }
                }
            }
            self.turn = 1 - self.turn;
        }
        Ok(())
    }
}
