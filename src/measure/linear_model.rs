//! The figures of the swap test: bandwidth, latency and the error of the linear model, as
//! defined by the swap tests of PSTSWM (Worley, Foster and Toonen) on its SP2 and later pages.
//!
//! `T_n` is the time in s of a whole swap (V bytes each way) done with n messages each way: the
//! subscript is a count. For an ordered swap the two directions follow each other, so that `2V/T`
//! is the bandwidth of one direction; otherwise both directions count.

/// `T_n` by n, ascending.
pub type Curve = [(usize, f64)];

/// What a curve comes to. Without the points that a figure needs it is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinearModel {
    /// B, bytes/s: the largest `2V/T_n` over n.
    pub bandwidth: f64,
    /// The n of the largest.
    pub best_messages: usize,
    /// L as in 1995: `(T_512 - T_256) / 256`, s.
    pub latency_1995: Option<f64>,
    /// L as in 2000 to 2002: `(T_1024 - T_512) / 512`, s.
    pub latency_2000: Option<f64>,
    /// Largest `|M_n - T_n| / T_n` with `M_n = 2V/B + n L`, L as in 1995.
    pub error_1995: Option<f64>,
    /// The same with L as in 2000 to 2002.
    pub error_2000: Option<f64>,
}

impl LinearModel {
    /// The figures of a swap of `volume` bytes each way; `None` without a point.
    pub fn of(volume: usize, curve: &Curve) -> Option<Self> {
        Self::of_bytes(2.0 * volume as f64, curve)
    }

    /// The same of an exchange that moves so many bytes in all.
    pub fn of_bytes(moved: f64, curve: &Curve) -> Option<Self> {
        Self::with_bandwidth(curve, None).map(|model| Self {
            bandwidth: moved / model.0,
            ..model.1
        })
    }

    /// The same for a curve whose best point is not among its points: `bandwidth` is given.
    pub fn of_partial(volume: usize, curve: &Curve, bandwidth: f64) -> Option<Self> {
        let time = 2.0 * volume as f64 / bandwidth;
        Self::with_bandwidth(curve, Some(time)).map(|model| Self {
            bandwidth,
            ..model.1
        })
    }

    /// The figures, and the time that the bandwidth is taken from.
    fn with_bandwidth(curve: &Curve, time: Option<f64>) -> Option<(f64, Self)> {
        let at = |n: usize| curve.iter().find(|point| point.0 == n).map(|point| point.1);
        let slope = |low: usize, high: usize| Some((at(high)? - at(low)?) / (high - low) as f64);
        let best = curve.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let transfer = time.unwrap_or(best.1);
        let error = |latency: f64| {
            let errors = curve.iter().map(|&(n, seconds)| {
                let model = transfer + n as f64 * latency;
                ((model - seconds) / seconds).abs()
            });
            errors.fold(0.0, f64::max)
        };
        let (latency_1995, latency_2000) = (slope(256, 512), slope(512, 1024));
        let model = Self {
            bandwidth: 0.0,
            best_messages: best.0,
            latency_1995,
            latency_2000,
            error_1995: latency_1995.map(error),
            error_2000: latency_2000.map(error),
        };
        Some((transfer, model))
    }
}

/// How much the choice among several protocols matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// Least time, s.
    pub min: f64,
    /// Median over the protocols, s.
    pub median: f64,
    /// Largest, s.
    pub max: f64,
    /// `(median - min) / min`: what a protocol chosen blindly costs.
    pub typical: f64,
    /// `(max - min) / min`: what the wrong one costs.
    pub worst: f64,
}

impl Sensitivity {
    /// Of one time per protocol; `None` for fewer than two.
    pub fn of(times: &[f64]) -> Option<Self> {
        if times.len() < 2 || times.iter().any(|t| !(*t > 0.0)) {
            return None;
        }
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let median = super::statistics::quantile(&sorted, 0.5);
        Some(Self {
            min,
            median,
            max,
            typical: (median - min) / min,
            worst: (max - min) / min,
        })
    }

    /// `low` up to 5 %, `high` from 15 % on, `moderate` between, by the median.
    pub fn grade(&self) -> &'static str {
        match self.typical {
            t if t <= 0.05 => "low",
            t if t < 0.15 => "moderate",
            _ => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of 80 MB/s and 10 us: the model is exact, so all of it is recovered.
    #[test]
    fn an_exact_curve_gives_its_parameters_back() {
        let (volume, bandwidth, latency) = (2_097_152, 80e6, 1e-5);
        let transfer = 2.0 * volume as f64 / bandwidth;
        let curve: Vec<_> = (0..=10)
            .map(|e| (1 << e, transfer + f64::from(1 << e) * latency))
            .collect();
        let model = LinearModel::of_partial(volume, &curve, bandwidth).unwrap();
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(close(model.latency_1995.unwrap(), latency));
        assert!(close(model.latency_2000.unwrap(), latency));
        assert!(model.error_1995.unwrap() < 1e-9 && model.error_2000.unwrap() < 1e-9);
        // From the curve alone the best point still pays one latency.
        let model = LinearModel::of(volume, &curve).unwrap();
        assert_eq!(model.best_messages, 1);
        assert!(close(
            model.bandwidth,
            2.0 * volume as f64 / (transfer + latency)
        ));
        assert!(close(
            model.error_1995.unwrap(),
            latency / (transfer + latency)
        ));
    }

    /// One point below the line: the error is that point's.
    #[test]
    fn a_curve_off_the_line_has_the_error_of_its_worst_point() {
        let line = |n: f64| 1e-3 + n * 1e-6;
        let mut curve: Vec<_> = (0..=10)
            .map(|e| (1 << e, line(f64::from(1 << e))))
            .collect();
        curve[6].1 *= 0.9;
        let bandwidth = 2.0 * 8192.0 / 1e-3;
        let model = LinearModel::of_partial(8192, &curve, bandwidth).unwrap();
        assert!(
            (model.error_2000.unwrap() - (1.0 / 0.9 - 1.0)).abs() < 1e-9,
            "{model:?}"
        );
    }

    /// AlphaServer SC, SHMEM put in simple order, 8 KiB in a node, as published: L = 12.87 us and a
    /// model error of 18.1 % at n = 64, with the published peak of 59.45 MB/s.
    #[test]
    fn the_published_alphaserver_figures() {
        let curve = [
            (8, 3.5540e-4),
            (16, 4.5320e-4),
            (32, 6.0260e-4),
            (64, 9.3120e-4),
            (128, 1.6760e-3),
            (256, 3.0570e-3),
            (512, 6.0268e-3),
            (1024, 1.2618e-2),
        ];
        let model = LinearModel::of_partial(8192, &curve, 59.45e6).unwrap();
        let latency = model.latency_2000.unwrap();
        assert_eq!(format!("{:.2}", latency * 1e6), "12.87");
        assert_eq!(format!("{:.1}", model.error_2000.unwrap() * 100.0), "18.1");
        let at_64 = 16384.0 / 59.45e6 + 64.0 * latency;
        assert!((at_64 / 9.3120e-4 - 1.0 - model.error_2000.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_measured_is_not_claimed() {
        let model = LinearModel::of(1024, &[(1, 1e-3), (256, 2e-3)]).unwrap();
        assert_eq!((model.latency_1995, model.error_2000), (None, None));
        assert_eq!(LinearModel::of(1024, &[]), None);
    }

    #[test]
    fn sensitivity_is_graded_by_the_median() {
        for (times, grade) in [
            ([1.0, 1.04, 9.0], "low"),
            ([1.0, 1.06, 1.06], "moderate"),
            ([1.0, 1.16, 1.2], "high"),
        ] {
            assert_eq!(Sensitivity::of(&times).unwrap().grade(), grade);
        }
        let s = Sensitivity::of(&[3.0, 2.0, 4.0]).unwrap();
        assert_eq!((s.typical, s.worst), (0.5, 1.0));
        assert_eq!(Sensitivity::of(&[1.0]), None);
    }
}
