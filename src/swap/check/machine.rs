//! The abstract machine: every rank makes its calls until nobody can go on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::matching::{Matching, Needs, Place};

/// Runs the exchange; returns the ranks that never end, each with the call it is in and the call
/// of another rank that it waits for.
///
/// Each call is made once, and a rank that waits is looked at again when its wait is over.
pub(super) fn stuck(matching: &Matching, eager_limit: usize) -> Vec<(Place, Place)> {
    let ranks = matching.needs.len();
    // The call that each rank is in.
    let mut at = vec![0; ranks];
    // By rank: who waits for it to begin which call, the earliest first.
    let mut waiting: Vec<BinaryHeap<Reverse<(usize, usize)>>> = vec![BinaryHeap::new(); ranks];
    let mut ready: Vec<usize> = (0..ranks).collect();
    while let Some(rank) = ready.pop() {
        while let Some(needs) = matching.needs[rank].get(at[rank]) {
            if let Some(until) = missing(needs, eager_limit, &at) {
                waiting[until.rank].push(Reverse((until.index, rank)));
                break;
            }
            at[rank] += 1;
        }
        while let Some(&Reverse((index, waiter))) = waiting[rank].peek()
            && index <= at[rank]
        {
            waiting[rank].pop();
            ready.push(waiter);
        }
    }
    let unfinished = |rank: usize| {
        let needs = matching.needs[rank].get(at[rank])?;
        let index = at[rank];
        Some((Place { rank, index }, missing(needs, eager_limit, &at)?))
    };
    (0..ranks).filter_map(unfinished).collect()
}

/// The first call that must still begin before one with these needs can end.
fn missing(needs: &Needs, eager_limit: usize, at: &[usize]) -> Option<Place> {
    let taken = needs.taken.filter(|taken| taken.waits(eager_limit));
    [needs.arrival, taken.map(|taken| taken.receive)]
        .into_iter()
        .flatten()
        .find(|place| at[place.rank] < place.index)
}

/// Ready sends whose receive some run has not posted yet, with that receive; of each rank the
/// first.
pub(super) fn too_early(matching: &Matching) -> impl Iterator<Item = (Place, Place)> {
    let mut last = None;
    matching
        .ready
        .iter()
        .copied()
        .filter(move |&(send, receive)| {
            let early = last != Some(send.rank) && !precedes(matching, receive, send);
            if early {
                last = Some(send.rank);
            }
            early
        })
}

/// Whether `first` has begun when `then` begins, in every run with any buffering.
///
/// Goes back in time: what a rank has received was sent before, and a synchronous send that has
/// ended was received. The search nearly always ends at the signal just before a ready send.
fn precedes(matching: &Matching, first: Place, then: Place) -> bool {
    let reached = |place: Place| place.rank == first.rank && place.index >= first.index;
    // By rank: how many of its calls are known to have ended, and were looked at.
    let mut ended: BTreeMap<usize, usize> = BTreeMap::new();
    let mut begun = vec![then];
    while let Some(place) = begun.pop() {
        if reached(place) {
            return true;
        }
        let seen = ended.entry(place.rank).or_default();
        let new = *seen..place.index.max(*seen);
        *seen = new.end;
        for needs in matching.needs[place.rank][new].iter().rev() {
            let surely_taken = needs.taken.filter(|taken| taken.waits(usize::MAX));
            for earlier in [needs.arrival, surely_taken.map(|taken| taken.receive)] {
                let Some(earlier) = earlier else { continue };
                if reached(earlier) {
                    return true;
                }
                begun.push(earlier);
            }
        }
    }
    false
}
