//! Which way to use, and which others are as good as far as these samples can tell.

use std::collections::BTreeMap;

use super::results::Joint;
use crate::bench::case::{Case, Way};
use crate::bench::sweep::FEWEST;
use crate::exchange::choice::ExchangeChoice;
use crate::measure::Summary;
use crate::report::swap::{Advice, PointAdvice, Ratio, Recommendation};

/// Volume, iterations, messages.
type Place = (usize, usize, usize);

/// Compares all ways at every point, and over all points: those with enough samples to tell.
pub(super) fn recommend(joint: &[Joint]) -> Recommendation {
    let mut places: BTreeMap<Place, Vec<&Joint>> = BTreeMap::new();
    for one in joint.iter().filter(|one| one.rounds.len() >= FEWEST) {
        let place = (one.case.volume, one.case.iterations, one.messages);
        places.entry(place).or_default().push(one);
    }
    let mut points: Vec<PointAdvice> = places
        .iter()
        .filter_map(|(place, ways)| point(*place, ways))
        .collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.volume_bytes));
    Recommendation {
        overall: overall(&places),
        points,
    }
}

fn point((volume_bytes, iterations, messages): Place, ways: &[&Joint]) -> Option<PointAdvice> {
    let best = fastest(ways)?;
    let as_good = |one: &&&Joint| {
        one.candidate != best.candidate && within_noise(&ratios(&one.rounds, &best.rounds))
    };
    Some(PointAdvice {
        volume_bytes,
        iterations,
        messages,
        way: best.candidate.name(),
        seconds: best.median,
        within_noise: ways
            .iter()
            .filter(as_good)
            .map(|one| one.candidate.name())
            .collect(),
        ways: ways.len(),
    })
}

fn fastest<'a>(ways: &[&'a Joint]) -> Option<&'a Joint> {
    ways.iter()
        .copied()
        .min_by(|a, b| a.median.total_cmp(&b.median))
}

/// One candidate at every place, against the fastest of each.
struct Entry<'a> {
    candidate: Case,
    points: Vec<&'a Joint>,
    /// Geometric mean of its median over the fastest's.
    mean_ratio: f64,
}

fn overall(places: &BTreeMap<Place, Vec<&Joint>>) -> Option<Advice> {
    let mut candidates: Vec<Case> = Vec::new();
    for one in places.values().flatten() {
        if !candidates.contains(&one.candidate) {
            candidates.push(one.candidate);
        }
    }
    let entry = |candidate: Case| {
        let mut points = Vec::new();
        let mut sum = 0.0;
        for ways in places.values() {
            let own = ways.iter().find(|one| one.candidate == candidate)?;
            sum += (own.median / fastest(ways)?.median).ln();
            points.push(*own);
        }
        Some(Entry {
            candidate,
            mean_ratio: (sum / points.len() as f64).exp(),
            points,
        })
    };
    let entries: Vec<Entry<'_>> = candidates.into_iter().filter_map(entry).collect();
    if entries.len() < 2 {
        return None;
    }
    let by_ratio = |a: &&Entry<'_>, b: &&Entry<'_>| a.mean_ratio.total_cmp(&b.mean_ratio);
    let best = entries.iter().min_by(by_ratio)?;
    let as_good = |entry: &&Entry<'_>| {
        entry.candidate != best.candidate && within_noise(&mean_ratios(entry, best))
    };
    let ratio = |entry: &Entry<'_>| Ratio {
        way: entry.candidate.name(),
        ratio: entry.mean_ratio / best.mean_ratio,
    };
    let usual = ExchangeChoice::default();
    let default = Case {
        way: Way::Pairwise(usual.order, usual.protocol),
        overlap: usual.overlap,
        handshake: usual.handshake,
        max_requests: usual.max_requests,
        volume: 0,
        iterations: 0,
    };
    Some(Advice {
        way: best.candidate.name(),
        namelist: namelist(best.candidate),
        mean_ratio: best.mean_ratio,
        within_noise: entries
            .iter()
            .filter(as_good)
            .map(|e| e.candidate.name())
            .collect(),
        default: entries.iter().find(|e| e.candidate == default).map(ratio),
        slowest: entries.iter().max_by(by_ratio).map(ratio),
    })
}

/// Times over times, for the rounds that both have.
fn ratios(times: &BTreeMap<usize, f64>, best: &BTreeMap<usize, f64>) -> Vec<f64> {
    let both = times
        .iter()
        .filter_map(|(round, time)| Some(time / best.get(round)?));
    both.collect()
}

/// Per round, the geometric mean over all points of an entry's times over the best entry's.
fn mean_ratios(entry: &Entry<'_>, best: &Entry<'_>) -> Vec<f64> {
    let mut logs: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for (own, other) in entry.points.iter().zip(&best.points) {
        for (round, time) in &own.rounds {
            if let Some(reference) = other.rounds.get(round) {
                let log = logs.entry(*round).or_default();
                log.0 += (time / reference).ln();
                log.1 += 1;
            }
        }
    }
    // A round that has few of the points would say something else.
    let all = logs.values().map(|log| log.1).max().unwrap_or(0);
    let whole = logs.values().filter(|log| 2 * log.1 > all);
    whole.map(|log| (log.0 / log.1 as f64).exp()).collect()
}

/// Whether ratios to the best leave it open that one is not slower: the 95 % interval of their
/// median does not lie above 1. Too few samples for an interval leave everything open.
fn within_noise(ratios: &[f64]) -> bool {
    match Summary::of(ratios).and_then(|summary| summary.ci95) {
        Some((low, _)) => low <= 1.0,
        None => true,
    }
}

fn namelist(candidate: Case) -> Vec<String> {
    let mut lines = vec!["[algorithm]".to_owned()];
    match candidate.way {
        Way::Pairwise(order, protocol) => {
            lines.push(format!("order = \"{}\"", order.name()));
            lines.push(format!("protocol = \"{}\"", protocol.name()));
            lines.push(format!("overlap = {}", candidate.overlap));
            if candidate.handshake {
                lines.push("handshake = true".to_owned());
            }
            if candidate.max_requests > 0 {
                lines.push(format!("max-requests = {}", candidate.max_requests));
            }
        }
        Way::Engine(engine) => lines.push(format!("engine = \"{}\"", engine.name())),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::Case;
    use crate::swap::order::Order;
    use crate::swap::protocol::Protocol;

    /// Samples of one way that takes `time` in even rounds and `time + wobble` in odd ones.
    fn joint(protocol: i64, messages: usize, time: f64, wobble: f64) -> Joint {
        let way = Way::Pairwise(Order::Ordered, Protocol::from_number(protocol).unwrap());
        let rounds = (0..20).map(|round| (round, time + wobble * (round % 2) as f64));
        let case = Case {
            way,
            overlap: false,
            handshake: false,
            max_requests: 0,
            volume: 8192,
            iterations: 1,
        };
        Joint {
            candidate: case.candidate(),
            case,
            messages,
            rounds: rounds.collect(),
            median: time + 0.5 * wobble,
        }
    }

    #[test]
    fn what_is_slower_in_every_round_is_not_within_noise() {
        let all = [
            joint(0, 1, 1.0, 0.2),
            joint(2, 1, 1.05, 0.2),
            joint(3, 1, 1.2, -0.19),
        ];
        let found = recommend(&all);
        let advice = &found.points[0];
        // Protocol 3 wobbles the other way: it wins every other round.
        assert_eq!(advice.way, "ordered/blocking");
        assert_eq!(advice.within_noise, ["ordered/nonblocking"]);
        let overall = found.overall.unwrap();
        assert_eq!(overall.way, "ordered/blocking");
        let default = overall.default.unwrap();
        assert_eq!(default.way, "ordered/nonblocking-recv");
        assert!((default.ratio - 1.15 / 1.1).abs() < 1e-12);
        assert_eq!(overall.namelist[2], "protocol = \"blocking\"");
    }

    #[test]
    fn a_way_that_lacks_a_point_is_no_advice_for_all() {
        let all = [
            joint(0, 1, 1.0, 0.0),
            joint(2, 1, 2.0, 0.0),
            joint(0, 2, 3.0, 0.0),
            joint(2, 2, 1.0, 0.0),
            joint(3, 2, 0.5, 0.0),
        ];
        let overall = recommend(&all).overall.unwrap();
        assert_eq!(overall.way, "ordered/nonblocking-recv");
        assert!(recommend(&all[..1]).overall.is_none());
    }

    #[test]
    fn few_samples_are_no_advice() {
        let few = |protocol, time| {
            let mut one = joint(protocol, 1, time, 0.0);
            one.rounds.retain(|round, _| *round < FEWEST - 1);
            one
        };
        let found = recommend(&[few(0, 1.0), few(2, 2.0)]);
        assert!(found.overall.is_none() && found.points.is_empty());
    }
}
