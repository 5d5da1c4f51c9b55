//! Who has which part of the vector in which step of a vector sum; pure arithmetic.
//!
//! Steps count from 1 and are the same on every rank; 0 is the fold before them. Elements are those of
//! the vector. A message of no elements is not sent, and both ends know.

use std::ops::Range;

use super::choice::SumAlgorithm;
use crate::exchange::steps::{Partners, shifts};
use crate::swap::call::Leg;
use crate::swap::step::{Kind, Role};
use crate::transport::{COLLECTIVE_TAGS, Tag};

/// What becomes of the elements that arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A partial sum of other ranks: added to this rank's.
    Added,
    /// The sum over all ranks: takes the place of what was there.
    Placed,
}

/// One step of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumStep {
    /// Number of the step.
    pub number: usize,
    /// One partner or two.
    pub kind: Kind,
    /// Who sends first when ordered.
    pub role: Role,
    /// The elements of the vector that go out.
    pub send: Option<Leg>,
    /// The elements of the vector for which something comes in.
    pub recv: Option<Leg>,
    /// What becomes of it.
    pub arrival: Arrival,
    /// The segment whose local values are computed during the step.
    pub local: Option<usize>,
}

/// The steps of one rank. Segment s is elements `bounds[s]..bounds[s + 1]`; there are as many as
/// ranks. A native sum has no steps of ours.
pub fn steps_of(
    algorithm: SumAlgorithm,
    rank: usize,
    size: usize,
    bounds: &[usize],
) -> Vec<SumStep> {
    match algorithm {
        SumAlgorithm::Exchange => folded(rank, size, bounds, exchange),
        SumAlgorithm::Halving => folded(rank, size, bounds, halving),
        SumAlgorithm::Ring => ring(rank, size, bounds, false),
        SumAlgorithm::PipelinedRing => ring(rank, size, bounds, true),
        SumAlgorithm::Native => Vec::new(),
    }
}

/// A message; tags may repeat, since messages between two ranks match in order.
fn leg(peer: usize, number: usize, elements: Range<usize>) -> Option<Leg> {
    (!elements.is_empty()).then(|| Leg {
        peer,
        tag: number as Tag % COLLECTIVE_TAGS,
        start: elements.start,
        len: elements.len(),
    })
}

/// A swap of any elements; the lower rank sends first.
fn swap(
    rank: usize,
    partner: usize,
    number: usize,
    send: Range<usize>,
    recv: Range<usize>,
    arrival: Arrival,
) -> SumStep {
    SumStep {
        number,
        kind: Kind::Swap,
        role: if rank < partner {
            Role::First
        } else {
            Role::Second
        },
        send: leg(partner, number, send),
        recv: leg(partner, number, recv),
        arrival,
        local: None,
    }
}

/// The steps of the largest 2^k ranks there are. Each of the other ranks first gives its values to
/// the rank 2^k below it, and gets the result from there.
fn folded(
    rank: usize,
    size: usize,
    bounds: &[usize],
    inner: fn(usize, usize, &[usize]) -> Vec<SumStep>,
) -> Vec<SumStep> {
    let core = 1 << size.ilog2();
    // Segments are dealt out to 2^k parts in order, evenly.
    let parts: Vec<_> = (0..=core).map(|part| bounds[part * size / core]).collect();
    let mut steps = inner(rank % core, core, &parts);
    let (whole, last) = (bounds[0]..bounds[size], steps.len() + 1);
    if rank >= core {
        let below = rank - core;
        return vec![
            swap(rank, below, 0, whole.clone(), 0..0, Arrival::Added),
            swap(rank, below, last, 0..0, whole, Arrival::Placed),
        ];
    }
    let above = rank + core;
    if above < size {
        let fold = swap(rank, above, 0, 0..0, whole.clone(), Arrival::Added);
        steps.insert(0, fold);
        steps.push(swap(rank, above, last, whole, 0..0, Arrival::Placed));
    }
    steps
}

/// Recursive doubling: swaps of everything with `rank XOR 1, 2, 4, ...`.
fn exchange(rank: usize, core: usize, parts: &[usize]) -> Vec<SumStep> {
    let whole = parts[0]..parts[core];
    let step = |bit: usize| {
        let (send, recv) = (whole.clone(), whole.clone());
        let partner = rank ^ (1 << bit);
        swap(rank, partner, bit + 1, send, recv, Arrival::Added)
    };
    (0..core.ilog2() as usize).map(step).collect()
}

/// Recursive halving, then doubling. In the first half of the steps a rank gives up one half of its
/// parts, and gets the other added up with that of `rank XOR 1, 2, 4, ...`; in the second half it gets
/// back, in reverse, the sums of what it gave up.
///
/// Neighbours swap the long messages. The partners are those of recursive doubling in the same order,
/// so every element is added up as there.
fn halving(rank: usize, core: usize, parts: &[usize]) -> Vec<SumStep> {
    let bits = core.ilog2() as usize;
    let elements = |range: &Range<usize>| parts[range.start]..parts[range.end];
    let mut own = 0..core;
    let mut steps = Vec::with_capacity(2 * bits);
    for bit in 0..bits {
        let middle = own.start + own.len() / 2;
        let (mut given, mut kept) = (middle..own.end, own.start..middle);
        if rank & (1 << bit) != 0 {
            (given, kept) = (kept, given);
        }
        steps.push(swap(
            rank,
            rank ^ (1 << bit),
            bit + 1,
            elements(&given),
            elements(&kept),
            Arrival::Added,
        ));
        own = kept;
    }
    for bit in (0..bits).rev() {
        // Parts are a power of two; what the partner has lies beside, on the side of the bit.
        let len = own.len();
        let other = if rank & (1 << bit) == 0 {
            own.end..own.end + len
        } else {
            own.start - len..own.start
        };
        steps.push(swap(
            rank,
            rank ^ (1 << bit),
            2 * bits - bit,
            elements(&own),
            elements(&other),
            Arrival::Placed,
        ));
        own = own.start.min(other.start)..own.end.max(other.end);
    }
    steps
}

/// Shifts to the next rank. The partial sum of segment s begins at rank s + 1 and is complete at rank
/// s, from where the result goes round.
fn ring(rank: usize, size: usize, bounds: &[usize], pipelined: bool) -> Vec<SumStep> {
    let shift = shifts(rank, size).next();
    let Some(Partners {
        role,
        to_from: Some((to, from)),
        ..
    }) = shift
    else {
        return Vec::new();
    };
    let step = |number: usize| {
        let adds = number < size;
        // Partial sums of segments rank - 1, rank - 2, ..., then results of rank, rank - 1, ...
        let sent = (rank + 2 * size - number) % size;
        let received = (sent + size - 1) % size;
        let elements = |segment: usize| bounds[segment]..bounds[segment + 1];
        SumStep {
            number,
            kind: Kind::Shift,
            role,
            send: leg(to, number, elements(sent)),
            recv: leg(from, number, elements(received)),
            arrival: if adds {
                Arrival::Added
            } else {
                Arrival::Placed
            },
            local: (pipelined && adds).then_some(received),
        }
    };
    (1..2 * size - 1).map(step).collect()
}
