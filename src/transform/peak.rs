//! The arithmetic peak of one core, with the instructions that the kernels use.

use std::hint::black_box;
use std::time::Instant;

use super::kernels::{Family, chains_6, chains_12};
use super::{LANES, Lane};

/// Seconds of a sample, at least.
const SAMPLE: f64 = 2e-3;

/// Flop/s of multiplications and additions that follow each other in independent chains within
/// registers: per step, chain and lane one multiply-add, which counts as 2. One value per sample,
/// after a warm-up.
pub fn samples(family: Family, count: usize) -> Vec<f64> {
    let mut steps = 1000;
    while seconds(family, steps).0 < SAMPLE {
        steps *= 2;
    }
    let rate = |_| {
        let (seconds, chains) = seconds(family, steps);
        2.0 * (steps * chains * LANES) as f64 / seconds
    };
    (0..count).map(rate).collect()
}

/// Seconds of so many steps, and the number of chains.
fn seconds(family: Family, steps: usize) -> (f64, usize) {
    // The values tend to 1: they neither grow nor become denormal.
    let (a, b): (f64, Lane) = black_box((0.5, [0.5; LANES]));
    match family {
        Family::Fused => {
            let mut sums = black_box([[0.0; LANES]; 12]);
            let start = Instant::now();
            chains_12(family, steps, a, &b, &mut sums);
            let seconds = start.elapsed().as_secs_f64();
            black_box(sums);
            (seconds, sums.len())
        }
        Family::Plain => {
            let mut sums = black_box([[0.0; LANES]; 6]);
            let start = Instant::now();
            chains_6(family, steps, a, &b, &mut sums);
            let seconds = start.elapsed().as_secs_f64();
            black_box(sums);
            (seconds, sums.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_are_counted() {
        for family in [Family::Plain, Family::detect()] {
            let rates = samples(family, 3);
            assert_eq!(rates.len(), 3);
            // A multiply-add takes more than a hundredth of a cycle and less than a microsecond.
            assert!(rates.iter().all(|r| (1e6..1e12).contains(r)), "{rates:?}");
        }
    }

    #[test]
    fn the_chains_compute_what_they_say() {
        let mut sums: [Lane; 6] = std::array::from_fn(|k| [k as f64; LANES]);
        chains_6(Family::detect(), 3, 0.5, &[1.0, 2.0, 3.0, 4.0], &mut sums);
        // x/8 + b (1/4 + 1/2 + 1)
        assert_eq!(sums[4], [2.25, 4.0, 5.75, 7.5]);
        assert_eq!(sums[0], [1.75, 3.5, 5.25, 7.0]);
    }
}
