//! Statistics of samples that assume no distribution.

/// Order statistics of a set of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// Smallest.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// Median absolute deviation from the median, not scaled.
    pub mad: f64,
    /// 95 % interval of the median; `None` with fewer than 6 samples.
    pub ci95: Option<(f64, f64)>,
}

impl Summary {
    /// Summarises samples; `None` when there are none, or one is not a number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = quantile(&sorted, 0.5);
        let mut deviations: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        Some(Self {
            count: sorted.len(),
            min: sorted[0],
            median,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            max: sorted[sorted.len() - 1],
            mad: quantile(&deviations, 0.5),
            ci95: median_interval(&sorted),
        })
    }
}

/// The `p` quantile of ascending samples, linear between order statistics (type 7 of Hyndman
/// and Fan 1996, American Statistician 50, 361-365); `p` is clamped to 0..1; NaN without samples.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = (position.floor() as usize).min(last);
    let fraction = position - below as f64;
    if fraction == 0.0 {
        sorted[below]
    } else {
        sorted[below] + fraction * (sorted[below + 1] - sorted[below])
    }
}

/// The distribution-free interval of the median that covers it with at least 95 %: the order
/// statistics `j` and `n + 1 - j` with the largest `j` for which `P(Bin(n, 1/2) < j) <= 0.025`
/// (Conover, Practical Nonparametric Statistics, 1999, section 3.2). `None` below 6 samples.
fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len();
    // Logarithms: 2^-n underflows from n = 1075 on.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n {
        below += log_term.exp();
        if below > 0.025 {
            break;
        }
        log_term += ((n - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    (rank > 0).then(|| (sorted[rank - 1], sorted[n - rank]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: usize) -> Vec<f64> {
        (1..=n).map(|i| i as f64).collect()
    }

    #[test]
    fn known_samples() {
        let s = Summary::of(&[4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!(
            (s.count, s.min, s.median, s.mean, s.max),
            (4, 1.0, 3.0, 4.0, 9.0)
        );
        assert_eq!(s.mad, 1.5);
        assert_eq!(s.ci95, None);
        let one = Summary::of(&[7.0]).unwrap();
        assert_eq!(
            (one.min, one.median, one.max, one.mad),
            (7.0, 7.0, 7.0, 0.0)
        );
    }

    #[test]
    fn no_samples_and_nan_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn quantiles_interpolate() {
        let x = [10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&x, 0.0), 10.0);
        assert_eq!(quantile(&x, 1.0), 40.0);
        assert_eq!(quantile(&x, 2.0), 40.0);
        assert_eq!(quantile(&x, 0.25), 17.5);
        assert_eq!(quantile(&x, 0.5), 25.0);
    }

    #[test]
    fn interval_of_the_median_has_the_tabulated_ranks() {
        // Ranks j of the binomial table: n = 5 none, 6 -> 1, 10 -> 2, 20 -> 6, 50 -> 18, 100 -> 40.
        for (n, j) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (10, 2),
            (20, 6),
            (50, 18),
            (100, 40),
        ] {
            let (low, high) = Summary::of(&ramp(n)).unwrap().ci95.unwrap();
            assert_eq!((low, high), (j as f64, (n + 1 - j) as f64), "n = {n}");
        }
        assert_eq!(Summary::of(&ramp(5)).unwrap().ci95, None);
    }

    #[test]
    fn interval_of_many_samples_follows_the_normal_limit() {
        let n = 100_000;
        let (low, high) = Summary::of(&ramp(n)).unwrap().ci95.unwrap();
        let expected = 0.5 * n as f64 - 0.979_982 * (n as f64).sqrt();
        assert!((low - expected).abs() < 2.0, "{low} {expected}");
        assert_eq!(low + high, (n + 1) as f64);
    }
}
