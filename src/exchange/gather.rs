//! A gather with flow control: the root says which ranks may send, some at a time.
//!
//! It is an exchange of the swap kernel like every other. The root has a step that receives from
//! each rank, a rank one that sends. With overlap the root posts the receives of several steps
//! ahead, at most `max_requests`, in windows of half of that; with handshake it signals every rank
//! whose receive is posted, so that no other message comes and has to be kept by the library. (The
//! fc_gather of CAM: Worley and others.)

use crate::swap::call::Leg;
use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::swap::run::{Requests, execute};
use crate::swap::schedule::Schedule;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::{COLLECTIVE_TAGS, Tag, Transport, TransportError};

const LENGTHS: Tag = COLLECTIVE_TAGS + 2;
const BLOCKS: Tag = COLLECTIVE_TAGS + 4;

/// How a gather goes unless told otherwise: 64 receives posted ahead, each rank signalled.
pub const FLOW_CONTROL: Method = Method {
    order: Order::Simple,
    protocol: Protocol::NONBLOCKING_RECV,
    handshake: true,
    max_requests: 64,
    overlap: true,
};

/// What the root got: a block from every rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    values: Vec<f64>,
    /// Where each block ends.
    ends: Vec<usize>,
}

impl Gathered {
    /// The block of a rank; empty for a rank that does not exist.
    pub fn block(&self, rank: usize) -> &[f64] {
        let start = rank.checked_sub(1).and_then(|before| self.ends.get(before));
        match self.ends.get(rank) {
            Some(&end) => &self.values[start.copied().unwrap_or(0)..end],
            None => &[],
        }
    }

    /// The blocks in the order of ranks.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.ends.len()).map(|rank| self.block(rank))
    }
}

/// Collects blocks of any lengths at the root, the others get `None`. Every rank calls it with the
/// same root and method.
///
/// # Errors
/// Those of the transport; a root that does not exist.
pub fn gather<T: Transport>(
    comm: &T,
    root: usize,
    block: &[f64],
    method: &Method,
) -> Result<Option<Gathered>, TransportError> {
    let (rank, size) = (comm.rank(), comm.size());
    if root >= size {
        return Err(TransportError::NoSuchRank {
            rank,
            partner: root,
            size,
        });
    }
    if rank != root {
        let len = [f64::from_bits(block.len() as u64)];
        send(comm, root, LENGTHS, &len, method)?;
        send(comm, root, BLOCKS, block, method)?;
        return Ok(None);
    }
    let mut lens = vec![f64::from_bits(block.len() as u64); size];
    let one_each: Vec<usize> = (1..=size).collect();
    receive(comm, LENGTHS, &one_each, &mut lens, method)?;
    let ends = lens.iter().scan(0, |end, len| {
        *end += len.to_bits() as usize;
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    let mut values = vec![0.0; ends[size - 1]];
    values[ends[root] - block.len()..ends[root]].copy_from_slice(block);
    receive(comm, BLOCKS, &ends, &mut values, method)?;
    Ok(Some(Gathered { values, ends }))
}

/// A rank's part: one step that sends; nothing for an empty block.
fn send<T: Transport>(
    comm: &T,
    root: usize,
    tag: Tag,
    block: &[f64],
    method: &Method,
) -> Result<(), TransportError> {
    if block.is_empty() {
        return Ok(());
    }
    let step = Step {
        kind: Kind::Shift,
        role: Role::First,
        send: Some(Leg {
            peer: root,
            tag,
            start: 0,
            len: block.len(),
        }),
        recv: None,
    };
    run(comm, &Schedule::unchecked(method, &[step]), block, &mut [])
}

/// The root's part: a step for every other rank that has something.
fn receive<T: Transport>(
    comm: &T,
    tag: Tag,
    ends: &[usize],
    values: &mut [f64],
    method: &Method,
) -> Result<(), TransportError> {
    let steps = receives(comm.rank(), tag, ends);
    run(comm, &Schedule::unchecked(method, &steps), &[], values)
}

/// The steps of a root; block p ends at `ends[p]`.
fn receives(root: usize, tag: Tag, ends: &[usize]) -> Vec<Step> {
    let step = |peer: usize| {
        let start = if peer == 0 { 0 } else { ends[peer - 1] };
        let len = ends[peer] - start;
        (peer != root && len > 0).then_some(Step {
            kind: Kind::Shift,
            role: Role::Second,
            send: None,
            recv: Some(Leg {
                peer,
                tag,
                start,
                len,
            }),
        })
    };
    (0..ends.len()).filter_map(step).collect()
}

/// No step sends and receives, so no method can need buffering here.
fn run<T: Transport>(
    comm: &T,
    schedule: &Schedule,
    send: &[f64],
    recv: &mut [f64],
) -> Result<(), TransportError> {
    let mut requests = Requests::for_schedule(schedule);
    comm.over(send, recv, |scope| execute(schedule, scope, &mut requests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swap::call::Call;
    use crate::transport::threads::{ThreadOptions, run as on_threads};

    fn methods() -> impl Iterator<Item = Method> {
        Order::ALL.into_iter().flat_map(|order| {
            let legal = Protocol::all().filter(move |protocol| protocol.legal_with(order));
            legal.flat_map(move |protocol| {
                [(0, true), (1, true), (2, false), (5, true)].map(|(max_requests, handshake)| {
                    Method {
                        order,
                        protocol,
                        handshake,
                        max_requests,
                        overlap: max_requests != 2,
                    }
                })
            })
        })
    }

    #[test]
    fn every_method_gathers_every_block() {
        let options = ThreadOptions {
            eager_limit: 0,
            watchdog_seconds: 30.0,
            ..ThreadOptions::default()
        };
        let block = |rank: usize| -> Vec<f64> {
            (0..rank * 7 % 5 * 3)
                .map(|at| (100 * rank + at) as f64)
                .collect()
        };
        for size in [1, 2, 3, 5, 7, 8, 12] {
            on_threads(size, options, |comm| {
                for (number, method) in methods().enumerate() {
                    let root = number % size;
                    let found = gather(&comm, root, &block(comm.rank()), &method)?;
                    assert_eq!(found.is_some(), comm.rank() == root);
                    if let Some(found) = found {
                        assert_eq!(found.iter().count(), size);
                        for (rank, found) in found.iter().enumerate() {
                            assert_eq!(found, block(rank), "{method:?}");
                        }
                        assert!(found.block(size).is_empty());
                    }
                }
                gather(&comm, size, &[], &FLOW_CONTROL).unwrap_err();
                Ok::<_, TransportError>(())
            })
            .unwrap();
        }
    }

    #[test]
    fn the_root_posts_no_more_than_the_cap() {
        let ends: Vec<usize> = (1..=100).collect();
        for cap in [1, 2, 5, 64] {
            let method = Method {
                max_requests: cap,
                ..FLOW_CONTROL
            };
            let schedule = Schedule::unchecked(&method, &receives(3, BLOCKS, &ends));
            let (mut open, mut most, mut told) = (0, 0, 0);
            for call in &schedule.calls {
                match call {
                    Call::PostReceive { .. } => open += 1,
                    Call::WaitReceive { .. } => open -= 1,
                    Call::Signal { .. } => told += 1,
                    other => panic!("{other}"),
                }
                most = most.max(open);
            }
            assert_eq!((open, told), (0, 99));
            let expected = if cap == 1 { 1 } else { cap / 2 * 2 };
            assert_eq!(most, expected, "cap {cap}");
        }
    }
}
