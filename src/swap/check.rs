//! Checks the schedules of all ranks of an exchange without running them.
//!
//! Messages match by source, tag and order, so who meets whom is known beforehand: a call ends when
//! certain calls of other ranks have begun, whatever the timing. [`check`] follows these
//! dependencies; what it says holds for every interleaving.

mod machine;
mod matching;
mod report;

use std::borrow::Borrow;

pub use report::{Deadlock, Fault, Outcome, Site, Wait};

use super::call::Call;
use super::schedule::Schedule;
use matching::{Matching, Place};

/// Up to what length messages must be buffered for an exchange to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It ends when nothing is buffered.
    Nothing,
    /// It ends exactly when standard messages of this many bytes are buffered.
    Buffered {
        /// Bytes: the least eager limit with which it ends.
        bytes: usize,
    },
    /// It ends with no eager limit, or its schedules are faulty.
    Never,
}

/// Checks an exchange: one schedule for each rank, in the order of ranks.
///
/// A standard or ready send of at most `eager_limit` bytes is buffered and completes at once, a
/// longer one, and every synchronous one, when its receive is posted. Buffered sends and signals
/// complete at once, started sends and receives in their wait. A ready send is faulty unless every
/// run posts its receive before: no rank learns that from a standard send, which may be buffered.
pub fn check<S: Borrow<Schedule>>(schedules: &[S], eager_limit: usize) -> Outcome {
    let calls = calls(schedules);
    let matching = Matching::new(&calls);
    let faults = faults(&matching, &calls);
    if !faults.is_empty() {
        return Outcome::Faults(faults);
    }
    match machine::stuck(&matching, eager_limit) {
        stuck if stuck.is_empty() => Outcome::Ends,
        stuck => Outcome::Deadlock(deadlock(&stuck, &calls)),
    }
}

/// Up to what length messages must be buffered for an exchange to end.
pub fn needed_eager_limit<S: Borrow<Schedule>>(schedules: &[S]) -> Need {
    let calls = calls(schedules);
    let matching = Matching::new(&calls);
    if !faults(&matching, &calls).is_empty() {
        return Need::Never;
    }
    let ends = |limit: usize| machine::stuck(&matching, limit).is_empty();
    if ends(0) {
        return Need::Nothing;
    }
    // A higher limit only frees calls, so the least one is found by halving.
    let limits = matching.limits();
    let least = limits.partition_point(|&limit| !ends(limit));
    match limits.get(least) {
        Some(&bytes) => Need::Buffered { bytes },
        None => Need::Never,
    }
}

fn calls<S: Borrow<Schedule>>(schedules: &[S]) -> Vec<&[Call]> {
    schedules
        .iter()
        .map(|schedule| schedule.borrow().calls.as_slice())
        .collect()
}

/// What is wrong whatever is buffered.
fn faults(matching: &Matching, calls: &[&[Call]]) -> Vec<Fault> {
    let early = |(send, receive): (Place, Place)| Fault::TooEarly {
        send: send.site(calls),
        receive: receive.site(calls),
    };
    let early = machine::too_early(matching).map(early);
    matching.faults.iter().copied().chain(early).collect()
}

/// The report of ranks that wait for ever: in which call, for which call of which rank.
fn deadlock(stuck: &[(Place, Place)], calls: &[&[Call]]) -> Deadlock {
    let waits: Vec<Wait> = stuck
        .iter()
        .map(|(at, until)| Wait {
            at: at.site(calls),
            until: until.site(calls),
        })
        .collect();
    // Whoever a stuck rank waits for is stuck, too: after as many steps the walk is on a cycle.
    let next = |rank: usize| {
        let wait = waits.binary_search_by_key(&rank, |wait| wait.at.rank);
        wait.map_or(rank, |index| waits[index].until.rank)
    };
    let on_it = (0..waits.len()).fold(waits[0].at.rank, |rank, _| next(rank));
    let mut cycle = vec![on_it];
    while next(cycle[cycle.len() - 1]) != on_it {
        cycle.push(next(cycle[cycle.len() - 1]));
    }
    Deadlock { waits, cycle }
}

#[cfg(test)]
mod tests;
