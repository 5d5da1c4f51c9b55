//! Who meets whom in which step of a transpose; pure arithmetic.

use crate::swap::step::{Kind, Role};

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

/// Pairwise swaps with `rank XOR k`. For other than powers of two the schedule is that of the next
/// power of two, and ranks pause where the partner does not exist.
pub fn swaps(rank: usize, size: usize) -> impl Iterator<Item = Partners> {
    (1..size.next_power_of_two()).map(move |step| {
        let partner = rank ^ step;
        Partners {
            step,
            kind: Kind::Swap,
            role: if rank < partner {
                Role::First
            } else {
                Role::Second
            },
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
        for size in 1..=17 {
            let of = |rank, shift| -> Vec<Partners> {
                if shift {
                    shifts(rank, size).collect()
                } else {
                    swaps(rank, size).collect()
                }
            };
            for (rank, shift) in (0..size).flat_map(|r| [(r, false), (r, true)]) {
                for partners in of(rank, shift) {
                    let Some((to, from)) = partners.to_from else {
                        continue;
                    };
                    let index = partners.step - 1;
                    assert_eq!(of(to, shift)[index].to_from.unwrap().1, rank);
                    assert_eq!(of(from, shift)[index].to_from.unwrap().0, rank);
                    if !shift {
                        assert_ne!(of(to, shift)[index].role, partners.role);
                    }
                }
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
