//! The one clock of every timing: monotonic, read through [`std::time::Instant`].

use std::time::Instant;

use super::statistics::quantile;

/// What a clock can resolve and what reading it costs, measured on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockQuality {
    /// Median difference between successive readings that differ, s.
    pub resolution: f64,
    /// Median cost of one reading, s.
    pub overhead: f64,
}

impl ClockQuality {
    /// Measures the clock of every timing; takes about a millisecond.
    pub fn measure() -> Self {
        let epoch = Instant::now();
        Self::of(|| epoch.elapsed().as_secs_f64())
    }

    /// Measures any clock that shows seconds, and moves on.
    pub fn of(now: impl Fn() -> f64) -> Self {
        Self {
            resolution: resolution(&now),
            overhead: overhead(&now),
        }
    }

    /// Shortest duration in s of which the clock's resolution and the two readings around it
    /// are at most the fraction `error`.
    pub fn shortest_reliable(&self, error: f64) -> f64 {
        (self.resolution + 2.0 * self.overhead) / error
    }
}

/// The median step between readings, spinning until the clock moves.
fn resolution(now: impl Fn() -> f64) -> f64 {
    let steps = (0..201).map(|_| {
        let start = now();
        loop {
            let step = now() - start;
            if step > 0.0 {
                return step;
            }
        }
    });
    median(steps.collect())
}

/// The cost of one reading: the median over batches of back-to-back readings.
fn overhead(now: impl Fn() -> f64) -> f64 {
    const READINGS: u32 = 200;
    let batches = (0..31).map(|_| {
        let start = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(now());
        }
        start.elapsed().as_secs_f64() / f64::from(READINGS)
    });
    median(batches.collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_resolves_and_costs_little() {
        let clock = ClockQuality::measure();
        assert!(
            clock.resolution > 0.0 && clock.resolution < 1e-2,
            "{clock:?}"
        );
        assert!(clock.overhead > 0.0 && clock.overhead < 1e-3, "{clock:?}");
        assert!(clock.shortest_reliable(0.01) >= 100.0 * clock.resolution);
    }

    #[test]
    fn a_coarse_clock_shows_its_steps() {
        let epoch = Instant::now();
        let coarse = ClockQuality::of(|| (epoch.elapsed().as_secs_f64() * 1e4).floor() * 1e-4);
        let step = coarse.resolution;
        assert!((step - 1e-4).abs() < 1e-9, "{step}");
        assert!(coarse.overhead < 1e-4, "{coarse:?}");
    }
}
