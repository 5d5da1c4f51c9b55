//! A number that is the same for every distribution of the same bits.

use xxhash_rust::xxh3::xxh3_64;

use super::state::State;
use crate::decomp::units::Unit;
use crate::pencil::SpectralLayout;

/// This rank's share: the wrapping sum over its coefficients of the xxh3-64 of
/// `(level, field, m, n)` (four u64) and the bits of the real and imaginary part, little endian;
/// -0 is hashed as 0. Field 0 is vorticity, 1 divergence, 2 geopotential. The degree beyond the
/// truncation is not counted.
pub fn share(layout: &SpectralLayout, state: &State) -> u64 {
    let mut sum = 0u64;
    for (Unit { m, level }, range) in layout.counted() {
        for (field, values) in state.fields().into_iter().enumerate() {
            for (k, value) in values[range.start..range.end - 1].iter().enumerate() {
                let words = [
                    level as u64,
                    field as u64,
                    m as u64,
                    (m + k) as u64,
                    (value.re + 0.0).to_bits(),
                    (value.im + 0.0).to_bits(),
                ];
                let mut bytes = [0u8; 48];
                for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
                    part.copy_from_slice(&word.to_le_bytes());
                }
                sum = sum.wrapping_add(xxh3_64(&bytes));
            }
        }
    }
    sum
}

/// The checksum of all ranks from their shares.
pub fn total(shares: impl IntoIterator<Item = u64>) -> u64 {
    shares.into_iter().fold(0, u64::wrapping_add)
}
