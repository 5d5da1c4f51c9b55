//! MPI_Alltoallw: a derived datatype for every block, so that elements that are apart need no
//! packing.

use std::ffi::c_int;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;

use super::Buffers;
use super::plan::Plan;
use crate::transport::mpi::handles::{Comm, Datatype};
use crate::transport::mpi::watch::{Call, waiting};
use crate::transport::mpi::{f64_type, ffi};
use crate::transport::{Block, Pattern, TransportError};

/// The datatypes of both sides. The own block is no part of the collective: the module of Open
/// MPI 4.1 for a communicator of one rank takes the displacements for something else than bytes.
pub(super) struct Typed {
    send: Side,
    recv: Side,
    own: Vec<Copied>,
    comm: Rc<Comm>,
}

/// Elements of the own block that lie together on both sides.
#[derive(Clone, Debug, PartialEq)]
struct Copied {
    from: usize,
    to: usize,
    len: usize,
}

/// The copies that a block is, from runs to other runs of the same elements.
fn copies(from: &[Range<usize>], to: &[Range<usize>]) -> Vec<Copied> {
    let mut copies = Vec::new();
    let mut to = to.iter().cloned();
    let mut into = 0..0;
    for run in from {
        let mut rest = run.clone();
        while !rest.is_empty() {
            if into.is_empty() {
                // Both sides have the same length, see the check of the plan.
                let Some(next) = to.next() else { return copies };
                into = next;
            }
            let len = rest.len().min(into.len());
            if len > 0 {
                copies.push(Copied {
                    from: rest.start,
                    to: into.start,
                    len,
                });
            }
            rest.start += len;
            into.start += len;
        }
    }
    copies
}

/// One side, for every rank: how many of its datatype (0 or 1), which, and for every message the
/// byte where it begins.
struct Side {
    counts: Vec<c_int>,
    types: Vec<ffi::MPI_Datatype>,
    displacements: Vec<c_int>,
    /// Owns what `types` names.
    _made: Vec<Datatype>,
}

impl Side {
    fn new(
        blocks: &[Block],
        size: usize,
        messages: usize,
        rank: usize,
    ) -> Result<Self, TransportError> {
        let mut side = Self {
            counts: vec![0; size],
            types: vec![f64_type(); size],
            displacements: vec![0; size * messages],
            _made: Vec::with_capacity(blocks.len()),
        };
        for block in blocks.iter().filter(|block| block.peer != rank) {
            let part = block.len() / messages;
            let made = match &block.runs[..] {
                [_] => contiguous(part, rank)?,
                runs => apart(runs, rank)?,
            };
            side.counts[block.peer] = 1;
            side.types[block.peer] = made.raw();
            side._made.push(made);
            let start = block.runs.first().map_or(0, |run| run.start);
            for message in 0..messages {
                // Fits, see the check of the plan.
                let byte = (start + message * part) * size_of::<f64>();
                side.displacements[message * size + block.peer] = byte as c_int;
            }
        }
        Ok(side)
    }
}

fn contiguous(elements: usize, rank: usize) -> Result<Datatype, TransportError> {
    // SAFETY: the old type is predefined.
    Datatype::make("MPI_Type_contiguous", rank, |old, new| unsafe {
        ffi::MPI_Type_contiguous(elements as c_int, old, new)
    })
}

/// A datatype of runs, seen from the first element of the first.
fn apart(runs: &[Range<usize>], rank: usize) -> Result<Datatype, TransportError> {
    let number = runs.len() as c_int;
    let start = |run: &Range<usize>| run.start as c_int;
    if let Some(stride) = stride(runs) {
        // SAFETY: the old type is predefined.
        return Datatype::make("MPI_Type_vector", rank, |old, new| unsafe {
            ffi::MPI_Type_vector(number, runs[0].len() as c_int, stride as c_int, old, new)
        });
    }
    let lengths: Vec<c_int> = runs.iter().map(|run| run.len() as c_int).collect();
    let starts: Vec<c_int> = runs
        .iter()
        .map(|run| start(run) - start(&runs[0]))
        .collect();
    // SAFETY: arrays of as many numbers as said; the old type is predefined.
    Datatype::make("MPI_Type_indexed", rank, |old, new| unsafe {
        ffi::MPI_Type_indexed(number, lengths.as_ptr(), starts.as_ptr(), old, new)
    })
}

/// The distance of runs that are equally long and equally far apart, ascending.
fn stride(runs: &[Range<usize>]) -> Option<usize> {
    let [first, second, ..] = runs else {
        return None;
    };
    let stride = second.start.checked_sub(first.start)?;
    let regular = |pair: &[Range<usize>]| {
        pair[1].len() == first.len() && pair[1].start == pair[0].start + stride
    };
    runs.windows(2).all(regular).then_some(stride)
}

impl Typed {
    pub(super) fn new(comm: &Rc<Comm>, pattern: &Pattern) -> Result<Self, TransportError> {
        let (rank, size) = (comm.rank()?, comm.size()?);
        let own = |blocks: &[Block]| -> Vec<Range<usize>> {
            let own = blocks.iter().find(|block| block.peer == rank);
            own.map_or(Vec::new(), |block| block.runs.clone())
        };
        Ok(Self {
            own: copies(&own(&pattern.send), &own(&pattern.recv)),
            send: Side::new(&pattern.send, size, pattern.messages, rank)?,
            recv: Side::new(&pattern.recv, size, pattern.messages, rank)?,
            comm: Rc::clone(comm),
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
        let call = &Call("MPI_Alltoallw");
        let (send, recv) = (&self.send, &self.recv);
        for Copied { from, to, len } in &self.own {
            // SAFETY: the runs lie in the buffers, which are different borrows.
            unsafe {
                let (from, to) = (buffers.send.add(*from), buffers.recv.add(*to));
                ptr::copy_nonoverlapping(from, to, *len);
            }
        }
        for message in 0..plan.messages {
            let at = message * plan.size();
            // SAFETY: the datatypes lie in the buffers; the arrays have one entry for every rank.
            let code = waiting(call, plan.everyone(), || unsafe {
                ffi::MPI_Alltoallw(
                    buffers.send.cast(),
                    send.counts.as_ptr(),
                    send.displacements[at..].as_ptr(),
                    send.types.as_ptr(),
                    buffers.recv.cast(),
                    recv.counts.as_ptr(),
                    recv.displacements[at..].as_ptr(),
                    recv.types.as_ptr(),
                    self.comm.raw(),
                )
            });
            plan.checked(code, call)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_end_where_a_run_ends() {
        let copy = |from, to, len| Copied { from, to, len };
        assert_eq!(
            copies(&[0..4, 10..12], &[7..9, 20..24]),
            [copy(0, 7, 2), copy(2, 20, 2), copy(10, 22, 2)]
        );
        assert_eq!(copies(&[], &[]), []);
    }

    #[test]
    fn regular_runs_are_a_vector() {
        assert_eq!(stride(&[0..2, 5..7, 10..12]), Some(5));
        for apart in [
            &[0..2, 5..7, 10..13][..],
            &[0..2, 5..7, 11..13],
            &[5..7, 0..2],
        ] {
            assert_eq!(stride(apart), None, "{apart:?}");
        }
    }
}
