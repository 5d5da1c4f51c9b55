//! What the ranks spent, seen together: minimum, mean, maximum, imbalance, the slowest rank.

use super::phases::{COLUMNS, Phase};

/// One number per rank, summarised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankStatistics {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// `max / mean - 1`: 0 when all ranks are equal, `ranks - 1` when one does all; 0 when
    /// nobody does anything.
    pub imbalance: f64,
    /// The rank with the largest value (the lowest of several).
    pub slowest: usize,
}

impl RankStatistics {
    /// Summarises one value per rank; all zero for no ranks.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut result = Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            ..Self::default()
        };
        let mut count = 0usize;
        for (rank, value) in values.into_iter().enumerate() {
            result.min = result.min.min(value);
            if value > result.max {
                result.max = value;
                result.slowest = rank;
            }
            result.mean += value;
            count += 1;
        }
        if count == 0 {
            return Self::default();
        }
        result.mean /= count as f64;
        if result.mean > 0.0 {
            // Rounding of the mean must not make equal ranks look negative.
            result.imbalance = (result.max / result.mean - 1.0).max(0.0);
        }
        result
    }
}

/// One phase over all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseOverRanks {
    /// The phase's name; `other` is the part of a step that no phase covers.
    pub name: &'static str,
    /// Largest number of calls of any rank.
    pub calls: u64,
    /// Seconds over ranks.
    pub seconds: RankStatistics,
    /// Payload bytes sent, summed over ranks.
    pub bytes_sent: u64,
    /// Messages sent, summed over ranks.
    pub messages: u64,
}

/// Summarises the flattened phases of every rank, in rank order, skipping phases nobody entered.
/// After the parts of the time step comes `other`, the step less its parts, and then `step`.
/// Vectors that are not as long as [`Phases::FLAT_LENGTH`](super::Phases::FLAT_LENGTH) are
/// left out.
pub fn phases_over_ranks<V: AsRef<[f64]>>(ranks: &[V]) -> Vec<PhaseOverRanks> {
    let ranks: Vec<&[f64]> = ranks
        .iter()
        .map(AsRef::as_ref)
        .filter(|flat| flat.len() == COLUMNS * Phase::COUNT)
        .collect();
    let value = |flat: &[f64], phase: Phase, column: usize| flat[COLUMNS * phase as usize + column];
    let mut rows = Vec::with_capacity(Phase::COUNT + 1);
    for &phase in Phase::ALL {
        let row = PhaseOverRanks {
            name: phase.name(),
            calls: ranks
                .iter()
                .map(|f| value(f, phase, 1) as u64)
                .max()
                .unwrap_or(0),
            seconds: RankStatistics::of(ranks.iter().map(|f| value(f, phase, 0))),
            bytes_sent: ranks.iter().map(|f| value(f, phase, 2) as u64).sum(),
            messages: ranks.iter().map(|f| value(f, phase, 3) as u64).sum(),
        };
        if row.calls == 0 && row.messages == 0 {
            continue;
        }
        if phase == Phase::Step {
            let parts = |flat: &[f64]| -> f64 {
                let parts = Phase::ALL.iter().filter(|p| p.in_step());
                parts.map(|&p| value(flat, p, 0)).sum()
            };
            rows.push(PhaseOverRanks {
                name: "other",
                calls: row.calls,
                seconds: RankStatistics::of(
                    ranks
                        .iter()
                        .map(|f| (value(f, Phase::Step, 0) - parts(f)).max(0.0)),
                ),
                bytes_sent: 0,
                messages: 0,
            });
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Phases;

    #[test]
    fn imbalance_is_max_over_mean_less_one() {
        let two = RankStatistics::of([1.0, 3.0]);
        assert_eq!((two.min, two.mean, two.max), (1.0, 2.0, 3.0));
        assert_eq!((two.imbalance, two.slowest), (0.5, 1));
        let one_does_all = RankStatistics::of([0.0, 0.0, 6.0, 0.0]);
        assert_eq!((one_does_all.imbalance, one_does_all.slowest), (3.0, 2));
        let equal = RankStatistics::of([0.1; 3]);
        assert_eq!((equal.imbalance, equal.slowest), (0.0, 0));
        assert_eq!(RankStatistics::of([0.0; 4]).imbalance, 0.0);
        assert_eq!(RankStatistics::of([]), RankStatistics::default());
    }

    #[test]
    fn what_no_phase_covers_is_reported_as_other() {
        let rank = |fft: f64, step: f64, messages: u64| {
            let mut phases = Phases::new();
            phases.add(Phase::InverseFft, fft);
            phases.add(Phase::FftTransposeMove, 1.0);
            phases.sent(Phase::FftTransposeMove, 100, messages);
            phases.add(Phase::Step, step);
            phases.add(Phase::Output, 9.0);
            phases.flatten()
        };
        let rows = phases_over_ranks(&[rank(2.0, 4.0, 1), rank(3.0, 6.0, 2)]);
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(
            names,
            [
                "inverse-fft",
                "fft-transpose-move",
                "other",
                "step",
                "output"
            ]
        );
        assert_eq!((rows[1].bytes_sent, rows[1].messages), (200, 3));
        assert_eq!((rows[2].seconds.min, rows[2].seconds.max), (1.0, 2.0));
        assert_eq!(rows[0].seconds.slowest, 1);
    }

    #[test]
    fn vectors_of_a_foreign_length_are_ignored() {
        assert!(phases_over_ranks(&[vec![1.0; 3]]).is_empty());
        assert!(phases_over_ranks::<Vec<f64>>(&[]).is_empty());
    }
}
