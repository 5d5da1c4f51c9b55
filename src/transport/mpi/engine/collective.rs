//! MPI_Alltoallv, MPI_Ialltoallv, MPI_Neighbor_alltoallv: counts and displacements of contiguous
//! blocks.

use std::ffi::c_int;
use std::rc::Rc;

use super::Buffers;
use super::plan::{Piece, Plan};
use crate::transport::mpi::handles::Comm;
use crate::transport::mpi::watch::{Call, waiting};
use crate::transport::mpi::{f64_type, ffi};
use crate::transport::{EngineKind, TransportError};

/// The collectives.
enum Which {
    /// All ranks, the own block among them.
    Blocking(Rc<Comm>),
    /// The same, started and waited for; a request for each message.
    Nonblocking(Rc<Comm>, Vec<ffi::MPI_Request>),
    /// The ranks that have something for each other, on a graph of their own.
    Neighbours(Comm),
}

/// Counts and displacements. They live as long as a collective is under way.
pub(super) struct Collective {
    which: Which,
    send: Side,
    recv: Side,
}

/// One side: a count for every rank or neighbour, and their displacements for every message.
struct Side {
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
}

impl Side {
    /// `blocks`: place, first element, elements of a message. Sums fit, see the check of the plan.
    fn new(
        places: usize,
        messages: usize,
        blocks: impl Iterator<Item = (usize, usize, usize)> + Clone,
    ) -> Self {
        let mut counts = vec![0; places];
        let mut displacements = vec![0; places * messages];
        for (place, start, part) in blocks {
            counts[place] = part as c_int;
            for message in 0..messages {
                displacements[message * places + place] = (start + message * part) as c_int;
            }
        }
        Self {
            counts,
            displacements,
        }
    }

    /// The two arrays of a message.
    fn of(&self, message: usize) -> (*const c_int, *const c_int) {
        let displacements = &self.displacements[message * self.counts.len()..];
        (self.counts.as_ptr(), displacements.as_ptr())
    }
}

impl Collective {
    pub(super) fn new(
        comm: &Rc<Comm>,
        kind: EngineKind,
        plan: &Plan,
    ) -> Result<Self, TransportError> {
        let messages = plan.messages;
        if kind == EngineKind::Neighbour {
            let side = |pieces: &[Piece]| {
                let blocks = pieces.iter().enumerate();
                Side::new(
                    pieces.len(),
                    messages,
                    blocks.map(|(place, piece)| (place, piece.start, piece.len())),
                )
            };
            return Ok(Self {
                which: Which::Neighbours(graph(comm, plan)?),
                send: side(&plan.send),
                recv: side(&plan.recv),
            });
        }
        let side = |pieces: &[Piece], own: Option<(usize, usize)>| {
            let own = own.map(|(start, part)| (plan.rank, start, part));
            let others = pieces
                .iter()
                .map(|piece| (piece.peer as usize, piece.start, piece.len()));
            Side::new(plan.size(), messages, others.chain(own))
        };
        let which = match kind {
            EngineKind::Ialltoallv => {
                // SAFETY: the null request is a constant.
                let none = unsafe { ffi::RSMPI_REQUEST_NULL };
                let room = if plan.together { messages } else { 1 };
                Which::Nonblocking(Rc::clone(comm), vec![none; room])
            }
            _ => Which::Blocking(Rc::clone(comm)),
        };
        Ok(Self {
            which,
            send: side(&plan.send, plan.own.map(|(from, _, part)| (from, part))),
            recv: side(&plan.recv, plan.own.map(|(_, to, part)| (to, part))),
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
        let (from, to) = (buffers.send.cast(), buffers.recv.cast());
        let (of, wait) = (f64_type(), plan.everyone());
        match &mut self.which {
            Which::Blocking(comm) => {
                let call = &Call("MPI_Alltoallv");
                for message in 0..plan.messages {
                    let (sends, send_at) = self.send.of(message);
                    let (recvs, recv_at) = self.recv.of(message);
                    // SAFETY: the ranges lie in the buffers; there is one for every rank.
                    let code = waiting(call, wait, || unsafe {
                        ffi::MPI_Alltoallv(
                            from,
                            sends,
                            send_at,
                            of,
                            to,
                            recvs,
                            recv_at,
                            of,
                            comm.raw(),
                        )
                    });
                    plan.checked(code, call)?;
                }
            }
            Which::Nonblocking(comm, requests) => {
                let call = &Call("MPI_Ialltoallv");
                for go in plan.goes() {
                    for (message, request) in go.zip(requests.iter_mut()) {
                        let (sends, send_at) = self.send.of(message);
                        let (recvs, recv_at) = self.recv.of(message);
                        // SAFETY: as above; buffers and arrays live until the wait below.
                        let code = waiting(call, wait, || unsafe {
                            ffi::MPI_Ialltoallv(
                                from,
                                sends,
                                send_at,
                                of,
                                to,
                                recvs,
                                recv_at,
                                of,
                                comm.raw(),
                                request,
                            )
                        });
                        plan.checked(code, call)?;
                    }
                    let call = &Call("MPI_Waitall (MPI_Ialltoallv)");
                    // SAFETY: the requests just made, as many as said.
                    let code = waiting(call, wait, || unsafe {
                        let ignore = ffi::RSMPI_STATUSES_IGNORE;
                        ffi::MPI_Waitall(requests.len() as c_int, requests.as_mut_ptr(), ignore)
                    });
                    plan.checked(code, call)?;
                }
            }
            Which::Neighbours(comm) => {
                let call = &Call("MPI_Neighbor_alltoallv");
                for message in 0..plan.messages {
                    // SAFETY: the caller's promise.
                    unsafe { plan.copy_own(message, buffers) };
                    let (sends, send_at) = self.send.of(message);
                    let (recvs, recv_at) = self.recv.of(message);
                    // SAFETY: the ranges lie in the buffers; there is one for every neighbour.
                    let code = waiting(call, wait, || unsafe {
                        ffi::MPI_Neighbor_alltoallv(
                            from,
                            sends,
                            send_at,
                            of,
                            to,
                            recvs,
                            recv_at,
                            of,
                            comm.raw(),
                        )
                    });
                    plan.checked(code, call)?;
                }
            }
        }
        Ok(())
    }
}

/// The graph of the ranks that have something for each other, in the order of the pieces.
fn graph(comm: &Comm, plan: &Plan) -> Result<Comm, TransportError> {
    let peers =
        |pieces: &[Piece]| -> Vec<c_int> { pieces.iter().map(|piece| piece.peer).collect() };
    let (to, from) = (peers(&plan.send), peers(&plan.recv));
    let call = &Call("MPI_Dist_graph_create_adjacent");
    // SAFETY: a live communicator, arrays of as many ranks as said, no weights, no hints.
    Comm::make(call, plan.job_rank(), |new| unsafe {
        let (equal, info) = (ffi::RSMPI_UNWEIGHTED(), ffi::RSMPI_INFO_NULL);
        ffi::MPI_Dist_graph_create_adjacent(
            comm.raw(),
            from.len() as c_int,
            from.as_ptr(),
            equal,
            to.len() as c_int,
            to.as_ptr(),
            equal,
            info,
            0,
            new,
        )
    })
}
