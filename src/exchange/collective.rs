//! Collectives from plain messages, the same on every transport. Results never depend on timing.

use super::gather::{FLOW_CONTROL, Gathered};
use crate::transport::{COLLECTIVE_TAGS, Scope, SendMode, Tag, Transport, TransportError};

const BARRIER: Tag = COLLECTIVE_TAGS;
const BROADCAST: Tag = COLLECTIVE_TAGS + 1;
const REDUCE: Tag = COLLECTIVE_TAGS + 3;

/// Returns when every rank has called it. Dissemination: ceil(log2 P) signals per rank.
///
/// # Errors
/// Those of the transport.
pub fn barrier<T: Transport>(comm: &T) -> Result<(), TransportError> {
    let (rank, size) = (comm.rank(), comm.size());
    comm.over(&[], &mut [], |scope| {
        for distance in powers_below(size) {
            scope.signal((rank + distance) % size, BARRIER)?;
            scope.await_signal((rank + size - distance) % size, BARRIER)?;
        }
        Ok(())
    })
}

/// Gives every rank the root's `data`, which has the same length everywhere. A binomial tree.
///
/// # Errors
/// Those of the transport; a root that does not exist; lengths that differ.
pub fn broadcast<T: Transport>(
    comm: &T,
    root: usize,
    data: &mut [f64],
) -> Result<(), TransportError> {
    check_root(comm, root)?;
    let size = comm.size();
    let position = (comm.rank() + size - root) % size;
    let absolute = |position: usize| (position + root) % size;
    let len = data.len();
    if len == 0 {
        return Ok(());
    }
    // The lowest set bit of the position: the parent gave to this rank in that round.
    let mine = if position == 0 {
        size.next_power_of_two()
    } else {
        1 << position.trailing_zeros()
    };
    if position > 0 {
        receive(comm, absolute(position - mine), BROADCAST, data)?;
    }
    comm.over(data, &mut [], |scope| {
        for distance in powers_below(mine).rev() {
            if position + distance < size {
                let to = absolute(position + distance);
                scope.send(SendMode::Standard, to, BROADCAST, 0..len)?;
            }
        }
        Ok(())
    })
}

/// Collects blocks of any lengths: the root gets them in the order of ranks, the others `None`.
///
/// # Errors
/// Those of the transport; a root that does not exist.
pub fn gather<T: Transport>(
    comm: &T,
    root: usize,
    block: &[f64],
) -> Result<Option<Gathered>, TransportError> {
    super::gather::gather(comm, root, block, &FLOW_CONTROL)
}

/// Combines the `data` of all ranks at the root; what the others keep is unspecified.
///
/// `combine(a, b)` makes a into a o b, where the ranks of a are just below those of b. The tree is
/// binomial over ranks 0, 1, 2, ... whatever the root: ((0 o 1) o (2 o 3)) o ((4 o 5) o 6) for 7.
/// So the result depends on the number of ranks, but neither on the root nor on timing.
///
/// # Errors
/// Those of the transport; a root that does not exist; lengths that differ.
pub fn reduce<T: Transport>(
    comm: &T,
    root: usize,
    data: &mut [f64],
    combine: fn(&mut [f64], &[f64]),
) -> Result<(), TransportError> {
    reduce_with(comm, root, data, &mut vec![0.0; data.len()], combine)
}

/// As [`reduce`]; `room`, as long as `data`, takes what arrives.
fn reduce_with<T: Transport>(
    comm: &T,
    root: usize,
    data: &mut [f64],
    room: &mut [f64],
    combine: fn(&mut [f64], &[f64]),
) -> Result<(), TransportError> {
    check_root(comm, root)?;
    let (rank, size) = (comm.rank(), comm.size());
    for distance in powers_below(size) {
        if rank & distance != 0 {
            send(comm, rank - distance, REDUCE, data)?;
            break;
        }
        if rank + distance < size {
            receive(comm, rank + distance, REDUCE, room)?;
            combine(data, room);
        }
    }
    if root != 0 && rank == 0 {
        send(comm, root, REDUCE, data)?;
    } else if root != 0 && rank == root {
        receive(comm, 0, REDUCE, data)?;
    }
    Ok(())
}

/// As [`reduce`], with the same bits on every rank.
///
/// # Errors
/// Those of the transport; lengths that differ.
pub fn allreduce<T: Transport>(
    comm: &T,
    data: &mut [f64],
    combine: fn(&mut [f64], &[f64]),
) -> Result<(), TransportError> {
    allreduce_with(comm, data, &mut vec![0.0; data.len()], combine)
}

/// As [`allreduce`] without allocating: `room`, as long as `data`, takes what arrives.
pub(super) fn allreduce_with<T: Transport>(
    comm: &T,
    data: &mut [f64],
    room: &mut [f64],
    combine: fn(&mut [f64], &[f64]),
) -> Result<(), TransportError> {
    reduce_with(comm, 0, data, room, combine)?;
    broadcast(comm, 0, data)
}

fn send<T: Transport>(comm: &T, to: usize, tag: Tag, data: &[f64]) -> Result<(), TransportError> {
    comm.over(data, &mut [], |scope| {
        scope.send(SendMode::Standard, to, tag, 0..data.len())
    })
}

/// Receives exactly `data.len()` elements.
fn receive<T: Transport>(
    comm: &T,
    from: usize,
    tag: Tag,
    data: &mut [f64],
) -> Result<(), TransportError> {
    let expected = data.len();
    comm.over(&[], data, |scope| {
        let message = scope.recv(from, tag, 0..expected)?;
        if message == expected {
            return Ok(());
        }
        Err(TransportError::Short {
            rank: scope.job_rank(None),
            from: scope.job_rank(Some(from)),
            tag,
            message,
            expected,
        })
    })
}

fn check_root<T: Transport>(comm: &T, root: usize) -> Result<(), TransportError> {
    if root < comm.size() {
        return Ok(());
    }
    Err(TransportError::NoSuchRank {
        rank: comm.rank(),
        partner: root,
        size: comm.size(),
    })
}

/// 1, 2, 4, ... below `limit`.
fn powers_below(limit: usize) -> impl DoubleEndedIterator<Item = usize> {
    let count = limit.next_power_of_two().trailing_zeros();
    (0..count).map(|exponent| 1 << exponent)
}
