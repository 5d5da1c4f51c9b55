//! Candidates against each other: one sample of each in every round, and those that are slower
//! beyond noise drop out.

use crate::measure::Summary;
use crate::report::tune::{RatioRecord, TimeRecord};

/// Rounds of an interval of the median.
pub const FEWEST: usize = 6;

/// Rounds before anything is dropped: that all four times of one of two equal candidates are longer
/// than all of the other's has a chance of 1 in 70.
const FIRST: usize = 4;

/// How much slower than the fastest a candidate must be to be dropped early.
const TOLERANCE: f64 = 0.02;

/// Times of candidates, round by round.
#[derive(Clone, Debug)]
pub struct Race {
    /// By candidate, its time in round 0, 1, ... as long as it was in.
    times: Vec<Vec<f64>>,
    alive: Vec<bool>,
    /// Candidates that never drop out.
    kept: Vec<bool>,
    tolerance: f64,
}

impl Race {
    /// A race of so many candidates.
    pub fn new(candidates: usize) -> Self {
        Self {
            times: vec![Vec::new(); candidates],
            alive: vec![true; candidates],
            kept: vec![false; candidates],
            tolerance: TOLERANCE,
        }
    }

    /// The same, in which a candidate must be slower by this much to be dropped.
    pub fn tolerating(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Never drops a candidate, however slow.
    pub fn keep(&mut self, candidate: usize) {
        self.kept[candidate] = true;
    }

    /// Those still in.
    pub fn alive(&self) -> Vec<usize> {
        (0..self.alive.len()).filter(|&c| self.alive[c]).collect()
    }

    /// Whether a candidate is still in.
    pub fn is_alive(&self, candidate: usize) -> bool {
        self.alive[candidate]
    }

    /// Adds a round: the times of those still in.
    pub fn push(&mut self, round: &[(usize, f64)]) {
        for &(candidate, time) in round {
            self.times[candidate].push(time);
        }
    }

    /// Rounds so far of those still in.
    pub fn rounds(&self) -> usize {
        let alive = self.alive();
        let rounds = alive.iter().map(|&c| self.times[c].len());
        rounds.min().unwrap_or(0)
    }

    /// The fastest by median, of those still in.
    pub fn best(&self) -> Option<usize> {
        let median = |c: usize| Summary::of(&self.times[c]).map(|s| s.median);
        let timed = self
            .alive()
            .into_iter()
            .filter_map(|c| Some((c, median(c)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(c, _)| c)
    }

    /// All that were timed: the fastest, then the others by the median of their ratios to it; those
    /// dropped come after those still in.
    pub fn standings(&self) -> Vec<usize> {
        let Some(best) = self.best() else {
            return Vec::new();
        };
        let mut timed: Vec<(bool, f64, usize)> = (0..self.times.len())
            .filter(|&c| !self.times[c].is_empty())
            .map(|c| (!self.alive[c], self.ratio(c, best).median, c))
            .collect();
        timed.sort_by(|a, b| {
            let first = |c: usize| c != best;
            let key = |one: &(bool, f64, usize)| (one.0, first(one.2));
            key(a).cmp(&key(b)).then(a.1.total_cmp(&b.1))
        });
        timed.into_iter().map(|(_, _, c)| c).collect()
    }

    /// Drops those that are slower beyond noise, by more than a tolerance: in the first rounds those
    /// whose every time is longer than every time of the fastest; from six on those for which the
    /// 95 % interval of the median of their ratios to the fastest, round by round, lies above 1.
    pub fn drop_slower(&mut self) {
        let Some(best) = self.best() else { return };
        let rounds = self.times[best].len();
        if rounds < FIRST {
            return;
        }
        let longest = self.times[best].iter().copied().fold(0.0, f64::max);
        for candidate in self.alive() {
            let shortest = self.times[candidate].iter().copied();
            let low = if rounds < FEWEST {
                Some(shortest.fold(f64::INFINITY, f64::min) / longest)
            } else {
                self.ratio(candidate, best).ci95_low
            };
            if !self.kept[candidate] && low.is_some_and(|low| low > 1.0 + self.tolerance) {
                self.alive[candidate] = false;
            }
        }
    }

    /// Whether more rounds would tell nothing new: one is left, or the intervals of the ratios of
    /// all that are left are within the tolerance of 1.
    pub fn is_decided(&self) -> bool {
        let Some(best) = self.best() else { return true };
        if self.times[best].len() < FEWEST {
            return false;
        }
        let close = |c: usize| {
            let ratio = self.ratio(c, best);
            let near = |end: Option<f64>| end.is_some_and(|end| (end - 1.0).abs() <= TOLERANCE);
            near(ratio.ci95_low) && near(ratio.ci95_high)
                || self.kept[c] && ratio.ci95_low.is_some_and(|low| low > 1.0 + TOLERANCE)
        };
        self.alive().into_iter().all(|c| c == best || close(c))
    }

    /// Ratios of a candidate to another, round by round.
    pub fn ratio(&self, candidate: usize, to: usize) -> RatioRecord {
        let pairs = self.times[candidate].iter().zip(&self.times[to]);
        let ratios: Vec<f64> = pairs.map(|(a, b)| a / b).collect();
        let summary = Summary::of(&ratios);
        let ends = summary.and_then(|summary| summary.ci95);
        // Too few rounds for an interval: as in the first rounds of a race.
        let rounds = ratios.len();
        let shortest = self.times[candidate][..rounds].iter().copied();
        let longest = self.times[to][..rounds].iter().copied();
        let apart =
            rounds >= FIRST && shortest.fold(f64::INFINITY, f64::min) > longest.fold(0.0, f64::max);
        RatioRecord {
            median: summary.map_or(f64::NAN, |summary| summary.median),
            ci95_low: ends.map(|ends| ends.0),
            ci95_high: ends.map(|ends| ends.1),
            within_noise: ends.map_or(!apart, |ends| ends.0 <= 1.0),
        }
    }

    /// The times of a candidate; `None`: it has none.
    pub fn time(&self, candidate: usize) -> Option<TimeRecord> {
        let summary = Summary::of(&self.times[candidate])?;
        Some(TimeRecord {
            min: summary.min,
            median: summary.median,
            ci95_low: summary.ci95.map(|ends| ends.0),
            ci95_high: summary.ci95.map(|ends| ends.1),
            samples: summary.count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time with a wobble that repeats every three rounds.
    fn time(base: f64, round: usize) -> f64 {
        base * (1.0 + 0.1 * (round % 3) as f64)
    }

    #[test]
    fn the_slower_drop_out_and_the_equal_stay() {
        let bases = [1.0, 1.3, 1.0, 1.01, 3.0];
        let mut race = Race::new(bases.len());
        race.keep(4);
        for round in 0..FEWEST {
            // 1.3 times as long is longer than all from the fourth round on.
            assert_eq!(race.alive().len(), if round < FIRST { 5 } else { 4 });
            let times = [0, 1, 2, 3, 4].map(|c| (c, time(bases[c], round)));
            let alive: Vec<(usize, f64)> = times
                .into_iter()
                .filter(|(c, _)| race.is_alive(*c))
                .collect();
            race.push(&alive);
            race.drop_slower();
        }
        assert_eq!(race.alive(), [0, 2, 3, 4]);
        assert_eq!(race.standings(), [0, 2, 3, 4, 1]);
        assert!(race.ratio(2, 0).within_noise && !race.ratio(3, 0).within_noise);
        assert!((race.ratio(1, 0).median - 1.3).abs() < 1e-12);
        assert!(race.is_decided());
    }

    #[test]
    fn what_wins_now_and_then_stays_and_is_not_decided() {
        let mut race = Race::new(2);
        for round in 0..20 {
            let wobble = if round % 2 == 0 { 0.5 } else { 0.0 };
            race.push(&[(0, 1.0 + wobble), (1, 1.55 - wobble)]);
            race.drop_slower();
        }
        assert_eq!(race.alive(), [0, 1]);
        assert!(!race.is_decided());
        assert_eq!(race.rounds(), 20);
    }

    #[test]
    fn too_few_rounds_drop_nothing() {
        let mut race = Race::new(2);
        for _ in 1..FIRST {
            race.push(&[(0, 1.0), (1, 100.0)]);
            race.drop_slower();
        }
        assert_eq!(race.alive(), [0, 1]);
        assert_eq!(race.ratio(1, 0).ci95_low, None);
        race.push(&[(0, 1.0), (1, 100.0)]);
        race.drop_slower();
        assert_eq!(race.alive(), [0]);
        assert!(!race.ratio(1, 0).within_noise);
        assert_eq!(Race::new(1).best(), None);
    }
}
