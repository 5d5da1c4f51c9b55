//! MPI_Put into the partner's window, which MPI allocated, and a copy from there into the caller's
//! buffer. Epochs are those of fences, or of post, start, complete and wait between partners.

use std::ffi::c_int;
use std::ptr;

use super::Buffers;
use super::plan::{Piece, Plan};
use crate::transport::mpi::handles::{Comm, Group, Window, job_size};
use crate::transport::mpi::watch::{Call, waiting};
use crate::transport::mpi::{f64_type, ffi, library};
use crate::transport::{EngineKind, TransportError};

/// The window, and how its epochs begin and end.
pub(super) struct Put {
    window: Window,
    epochs: Epochs,
}

enum Epochs {
    /// All ranks.
    Fence,
    /// Those this rank puts to, and those that put to it.
    Partners {
        targets: Option<Group>,
        origins: Option<Group>,
    },
}

/// Nothing was put before the opening fence.
const OPENING: c_int = ffi::MPI_MODE_NOPRECEDE as c_int;
/// Only puts of others wrote into the window, and none follows the closing fence.
const CLOSING: c_int =
    (ffi::MPI_MODE_NOSTORE | ffi::MPI_MODE_NOPUT | ffi::MPI_MODE_NOSUCCEED) as c_int;

/// Why windows of a part of the job's ranks cannot be trusted; `None`: they can.
///
/// Open MPI's component osc/rdma names the shared memory of a window by job and communicator
/// number, and the parts of a split have the same number: on one node two windows become one, data
/// mix and ranks crash (open-mpi/ompi issue 9492, mended in version 5; seen with 4.1.4).
fn mixes(library: &str, (ranks, of): (usize, usize), components: Option<&str>) -> Option<String> {
    let version = library.strip_prefix("Open MPI v")?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    let without_rdma = components.is_some_and(|list| match list.strip_prefix('^') {
        Some(excluded) => excluded.contains("rdma"),
        None => !list.contains("rdma"),
    });
    let (first, ..) = library.split_once(',').unwrap_or((library, ""));
    (major < 5 && ranks > 1 && ranks < of && !without_rdma).then(|| {
        format!(
            "{first} mixes the windows of different parts of the ranks, here {ranks} of {of} (its \
             osc/rdma, before version 5): mpirun --mca osc ^rdma, or a mesh of one row or column"
        )
    })
}

fn window(comm: &Comm, plan: &Plan, engine: EngineKind) -> Result<Window, TransportError> {
    let components = std::env::var("OMPI_MCA_osc").ok();
    let ranks = (plan.members.len(), job_size()?);
    if let Some(reason) = mixes(&library(), ranks, components.as_deref()) {
        return Err(TransportError::NoEngine {
            engine: engine.name(),
            reason,
        });
    }
    let allocate = (ffi::MPI_Win_allocate as _, &Call("MPI_Win_allocate"));
    Window::new(allocate, plan.received(), comm)
}

impl Put {
    /// With fences.
    pub(super) fn fence(comm: &Comm, plan: &Plan) -> Result<Self, TransportError> {
        Ok(Self {
            window: window(comm, plan, EngineKind::PutFence)?,
            epochs: Epochs::Fence,
        })
    }

    /// With post, start, complete and wait.
    pub(super) fn pscw(comm: &Comm, plan: &Plan) -> Result<Self, TransportError> {
        let group = |pieces: &[Piece]| {
            let peers: Vec<c_int> = pieces.iter().map(|piece| piece.peer).collect();
            (!peers.is_empty()).then(|| comm.group(&peers)).transpose()
        };
        Ok(Self {
            window: window(comm, plan, EngineKind::PutPscw)?,
            epochs: Epochs::Partners {
                targets: group(&plan.send)?,
                origins: group(&plan.recv)?,
            },
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
            self.open(plan)?;
            for message in go.clone() {
                for piece in &plan.send {
                    // SAFETY: the caller's promise.
                    unsafe { self.put(plan, piece, message, buffers)? };
                }
                // SAFETY: the caller's promise; the own block is in no window.
                unsafe { plan.copy_own(message, buffers) };
            }
            self.close(plan)?;
            for message in go {
                for piece in &plan.recv {
                    let at = piece.at(message);
                    // SAFETY: the epoch is over: what lies in the window is this rank's to read.
                    unsafe {
                        let from = self.window.base().add(piece.near + at);
                        let to = buffers.recv.add(piece.start + at);
                        ptr::copy_nonoverlapping(from, to, piece.len());
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts one message.
    ///
    /// # Safety
    /// A send buffer of at least the plan's length, alive until the epoch closes.
    unsafe fn put(
        &self,
        plan: &Plan,
        piece: &Piece,
        message: usize,
        buffers: Buffers,
    ) -> Result<(), TransportError> {
        let (of, at) = (f64_type(), piece.at(message));
        let target = (piece.far + at) as ffi::MPI_Aint;
        // SAFETY: the range lies in the buffer, and the target's window has room from where the
        // target said.
        let code = unsafe {
            ffi::MPI_Put(
                buffers.send.add(piece.start + at).cast(),
                piece.part,
                of,
                piece.peer,
                target,
                piece.part,
                of,
                self.window.raw(),
            )
        };
        plan.checked(code, &Call("MPI_Put"))
    }

    /// Begins the epoch.
    fn open(&self, plan: &Plan) -> Result<(), TransportError> {
        let window = self.window.raw();
        match &self.epochs {
            Epochs::Fence => fence(plan, &Call("MPI_Win_fence (opening)"), OPENING, window),
            Epochs::Partners { targets, origins } => {
                if let Some(origins) = origins {
                    let call = &Call("MPI_Win_post");
                    // SAFETY: a live window and a group of its ranks.
                    let code = waiting(call, plan.everyone(), || unsafe {
                        ffi::MPI_Win_post(origins.raw(), 0, window)
                    });
                    plan.checked(code, call)?;
                }
                if let Some(targets) = targets {
                    let call = &Call("MPI_Win_start");
                    // SAFETY: a live window and a group of its ranks.
                    let code = waiting(call, plan.everyone(), || unsafe {
                        ffi::MPI_Win_start(targets.raw(), 0, window)
                    });
                    plan.checked(code, call)?;
                }
                Ok(())
            }
        }
    }

    /// Ends the epoch: what others put is there.
    fn close(&self, plan: &Plan) -> Result<(), TransportError> {
        let window = self.window.raw();
        match &self.epochs {
            Epochs::Fence => fence(plan, &Call("MPI_Win_fence (closing)"), CLOSING, window),
            Epochs::Partners { targets, origins } => {
                if targets.is_some() {
                    let call = &Call("MPI_Win_complete");
                    // SAFETY: the window whose epoch `open` began.
                    let code = waiting(call, plan.everyone(), || unsafe {
                        ffi::MPI_Win_complete(window)
                    });
                    plan.checked(code, call)?;
                }
                if origins.is_some() {
                    let call = &Call("MPI_Win_wait");
                    // SAFETY: the window whose epoch `open` began.
                    let code = waiting(call, plan.everyone(), || unsafe {
                        ffi::MPI_Win_wait(window)
                    });
                    plan.checked(code, call)?;
                }
                Ok(())
            }
        }
    }
}

fn fence(
    plan: &Plan,
    call: &'static Call,
    assertions: c_int,
    window: ffi::MPI_Win,
) -> Result<(), TransportError> {
    // SAFETY: a live window; the assertions hold, see where they are defined.
    let code = waiting(call, plan.everyone(), || unsafe {
        ffi::MPI_Win_fence(assertions, window)
    });
    plan.checked(code, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_part_of_the_ranks_are_refused_where_they_mix() {
        let old = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
        let reason = mixes(old, (2, 4), None).unwrap();
        assert!(reason.contains("Open MPI v4.1.4 mixes") && reason.contains("--mca osc ^rdma"));
        assert!(mixes(old, (2, 4), Some("rdma,sm")).is_some());
        assert!(mixes(old, (2, 4), Some("^pt2pt")).is_some());
        for (library, ranks, components) in [
            (old, (4, 4), None),
            (old, (1, 4), None),
            (old, (2, 4), Some("^rdma")),
            (old, (2, 4), Some("pt2pt,sm")),
            ("Open MPI v5.0.3, package: ...", (2, 4), None),
            ("MPICH Version: 4.0.2", (2, 4), None),
        ] {
            assert_eq!(mixes(library, ranks, components), None, "{library}");
        }
    }
}
