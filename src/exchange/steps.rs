//! Who meets whom in which step of a transpose; pure arithmetic.

use std::ops::Range;

use crate::swap::call::Leg;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::{COLLECTIVE_TAGS, Tag};

/// The partners of one rank in one step; none where it pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partners {
    /// Step, from 1; the same on every rank.
    pub step: usize,
    /// One partner or two.
    pub kind: Kind,
    /// Who sends first when ordered.
    pub role: Role,
    /// To whom and from whom.
    pub to_from: Option<(usize, usize)>,
}

impl Partners {
    /// The step with its messages: `sent(to)` and `received(from)` are the elements of this rank's
    /// buffers; where there are none there is no message.
    pub fn step(
        &self,
        sent: impl FnOnce(usize) -> Range<usize>,
        received: impl FnOnce(usize) -> Range<usize>,
    ) -> Step {
        // Tags may repeat: messages between two ranks match in order.
        let tag = self.step as Tag % COLLECTIVE_TAGS;
        let leg = |peer: usize, range: Range<usize>| {
            (!range.is_empty()).then_some(Leg {
                peer,
                tag,
                start: range.start,
                len: range.len(),
            })
        };
        Step {
            kind: self.kind,
            role: self.role,
            send: self.to_from.and_then(|(to, _)| leg(to, sent(to))),
            recv: self.to_from.and_then(|(_, from)| leg(from, received(from))),
        }
    }
}

/// Pairwise swaps with `rank XOR k`. For other than powers of two the schedule is that of the next
/// power of two, and ranks pause where the partner does not exist.
pub fn swaps(rank: usize, size: usize) -> impl Iterator<Item = Partners> {
    (1..size.next_power_of_two()).map(move |step| {
        let partner = rank ^ step;
        Partners {
            step,
            kind: Kind::Swap,
            role: swap_role(rank, partner),
            to_from: (partner < size).then_some((partner, partner)),
        }
    })
}

/// Shifts: to `rank + k`, from `rank - k`.
pub fn shifts(rank: usize, size: usize) -> impl Iterator<Item = Partners> {
    (1..size).map(move |step| Partners {
        step,
        kind: Kind::Shift,
        role: ring_role(rank, step, size),
        to_from: Some(((rank + step) % size, (rank + size - step) % size)),
    })
}

/// Distances 1, 2, 4, ... below the number of ranks: swaps with `rank XOR distance` where that is a
/// power of two, otherwise shifts.
pub fn doublings(rank: usize, size: usize) -> impl Iterator<Item = Partners> {
    (0..size.next_power_of_two().trailing_zeros() as usize).map(move |bit| {
        let distance = 1 << bit;
        let (to, from) = (after(rank, distance, size), before(rank, distance, size));
        let (kind, role) = if size.is_power_of_two() {
            (Kind::Swap, swap_role(rank, to))
        } else {
            (Kind::Shift, ring_role(rank, distance, size))
        };
        Partners {
            step: bit + 1,
            kind,
            role,
            to_from: Some((to, from)),
        }
    })
}

/// The rank to which [`doublings`] lead over a distance below `size`.
pub fn after(rank: usize, distance: usize, size: usize) -> usize {
    if size.is_power_of_two() {
        rank ^ distance
    } else {
        (rank + distance) % size
    }
}

/// The rank from which [`doublings`] lead to `rank` over a distance below `size`.
pub fn before(rank: usize, distance: usize, size: usize) -> usize {
    if size.is_power_of_two() {
        rank ^ distance
    } else {
        (rank + size - distance) % size
    }
}

fn swap_role(rank: usize, partner: usize) -> Role {
    if rank < partner {
        Role::First
    } else {
        Role::Second
    }
}

/// The role of a rank in a shift: the parity of its position in its ring.
///
/// A shift by k splits P ranks into gcd(P, k) rings; the position is counted from the ring's lowest
/// rank. In a ring of odd length the last rank and the first both send first, which is safe because
/// every other rank receives first.
fn ring_role(rank: usize, shift: usize, size: usize) -> Role {
    let mut at = rank % gcd(size, shift);
    let mut position = 0;
    while at != rank {
        at = (at + shift) % size;
        position += 1;
    }
    if position % 2 == 0 {
        Role::First
    } else {
        Role::Second
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_meets_every_other_once() {
        for size in 1..=17 {
            for rank in 0..size {
                let others: Vec<_> = (0..size).filter(|&other| other != rank).collect();
                for steps in [
                    swaps(rank, size).collect::<Vec<_>>(),
                    shifts(rank, size).collect(),
                ] {
                    let mut to: Vec<_> = steps.iter().filter_map(|s| Some(s.to_from?.0)).collect();
                    let mut from: Vec<_> =
                        steps.iter().filter_map(|s| Some(s.to_from?.1)).collect();
                    to.sort_unstable();
                    from.sort_unstable();
                    assert_eq!((&to, &from), (&others, &others), "rank {rank} of {size}");
                }
            }
        }
    }

    #[test]
    fn partners_meet_in_the_same_step() {
        let algorithms: [fn(usize, usize) -> Vec<Partners>; 3] = [
            |rank, size| swaps(rank, size).collect(),
            |rank, size| shifts(rank, size).collect(),
            |rank, size| doublings(rank, size).collect(),
        ];
        for (size, of) in (1..=17).flat_map(|size| algorithms.map(|of| (size, of))) {
            let all = (0..size).flat_map(|rank| of(rank, size).into_iter().map(move |p| (rank, p)));
            for (rank, partners) in all {
                let Some((to, from)) = partners.to_from else {
                    continue;
                };
                let index = partners.step - 1;
                assert_eq!(of(to, size)[index].to_from.unwrap().1, rank);
                assert_eq!(of(from, size)[index].to_from.unwrap().0, rank);
                if partners.kind == Kind::Swap {
                    assert_eq!(to, from);
                    assert_ne!(of(to, size)[index].role, partners.role);
                }
            }
        }
    }

    #[test]
    fn doublings_are_few() {
        for (size, count) in [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (8, 3),
            (9, 4),
            (16, 4),
        ] {
            for rank in 0..size {
                let steps: Vec<_> = doublings(rank, size).collect();
                assert_eq!(steps.len(), count);
                let swap = |partners: &Partners| partners.kind == Kind::Swap;
                assert_eq!(steps.iter().all(swap), count == 0 || size.is_power_of_two());
            }
        }
    }

    #[test]
    fn a_rank_that_sends_first_meets_one_that_receives_first() {
        // Otherwise every rank of a ring waits for the next one to receive.
        for size in 2..=17 {
            for step in 1..size {
                let first = |rank| ring_role(rank, step, size) == Role::First;
                let both = (0..size).filter(|&r| first(r) && first((r + step) % size));
                let rings = gcd(size, step);
                let odd = (size / rings) % 2;
                assert_eq!(both.count(), rings * odd, "shift {step} of {size}");
            }
        }
    }
}
