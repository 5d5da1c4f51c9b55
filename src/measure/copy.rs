//! How fast one core copies memory.

use std::hint::black_box;
use std::time::Instant;

/// Seconds of a sample, at least.
const SAMPLE: f64 = 1e-3;

/// Bytes copied per second from one buffer of `bytes` bytes to another, whole elements of 8 bytes;
/// each byte counts once, though it is read and written. One value per sample. Both buffers are
/// in memory, and in cache where they fit, before the first.
pub fn copy_rates(bytes: usize, samples: usize) -> Vec<f64> {
    let from = vec![1.0f64; bytes.div_ceil(size_of::<f64>()).max(1)];
    let mut to = vec![0.0; from.len()];
    let mut times = |count: usize| {
        let start = Instant::now();
        for _ in 0..count {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        start.elapsed().as_secs_f64()
    };
    let mut count = 1;
    times(count);
    while times(count) < SAMPLE {
        count *= 2;
    }
    let copied = (count * size_of_val(from.as_slice())) as f64;
    (0..samples).map(|_| copied / times(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers() {
        for bytes in [1, 100_000, 4 << 20] {
            let rates = copy_rates(bytes, 3);
            assert_eq!(rates.len(), 3);
            assert!(rates.iter().all(|r| (1e5..1e13).contains(r)), "{rates:?}");
        }
    }
}
