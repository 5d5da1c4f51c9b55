//! The one clock of every timing: monotonic, read through [`std::time::Instant`].

use std::time::Instant;

/// What the clock can resolve and what reading it costs, measured on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockQuality {
    /// Smallest positive difference between successive readings, s.
    pub resolution: f64,
    /// Median cost of one reading, s.
    pub overhead: f64,
}

impl ClockQuality {
    /// Measures the clock of this file; takes about a millisecond.
    pub fn measure() -> Self {
        let epoch = Instant::now();
        Self::of(|| epoch.elapsed().as_secs_f64())
    }

    /// Measures any clock that tells seconds.
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

/// The smallest step seen between readings, spinning until the clock moves.
fn resolution(now: &impl Fn() -> f64) -> f64 {
    let mut smallest = f64::INFINITY;
    for _ in 0..200 {
        let start = now();
        let mut step = now() - start;
        while step <= 0.0 {
            step = now() - start;
        }
        smallest = smallest.min(step);
    }
    smallest
}

/// The cost of one reading: the median over batches of back-to-back readings.
fn overhead(now: &impl Fn() -> f64) -> f64 {
    const READINGS: u32 = 200;
    let mut batches: Vec<f64> = (0..31)
        .map(|_| {
            let start = now();
            for _ in 0..READINGS {
                std::hint::black_box(now());
            }
            (now() - start) / f64::from(READINGS)
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    batches[batches.len() / 2]
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
}
