//! Dealing wavenumbers and (wavenumber, level) units, whose work is unequal, to ranks.

use crate::spectral::truncation::Truncation;

/// A zonal wavenumber of one level: what a rank transforms on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Zonal wavenumber.
    pub m: usize,
    /// Level.
    pub level: usize,
}

/// Work of a wavenumber: its degrees and the one more that the wind needs.
fn work(truncation: &Truncation, m: usize) -> usize {
    truncation.degrees(m) + 1
}

/// Deals items of given work to `parts`: heaviest first, each to the least loaded part (the first
/// of equals; Graham 1969). Returns the part of each item.
fn deal(works: &[usize], parts: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..works.len()).collect();
    order.sort_by_key(|&item| (std::cmp::Reverse(works[item]), item));
    let mut loads: std::collections::BinaryHeap<std::cmp::Reverse<(usize, usize)>> = (0..parts)
        .map(|part| std::cmp::Reverse((0, part)))
        .collect();
    let mut part_of = vec![0; works.len()];
    for item in order {
        if let Some(std::cmp::Reverse((load, part))) = loads.pop() {
            part_of[item] = part;
            loads.push(std::cmp::Reverse((load + works[item], part)));
        }
    }
    part_of
}

/// The column of the mesh (`0..px`) that owns each wavenumber.
pub fn deal_waves(truncation: &Truncation, px: usize) -> Vec<usize> {
    let works: Vec<usize> = (0..=truncation.m_max())
        .map(|m| work(truncation, m))
        .collect();
    deal(&works, px)
}

/// The column of the mesh (`0..px`, a power of two) on which the butterflies of a distributed FFT
/// leave each wavenumber: that whose number, bits reversed, is the residue of m modulo PX.
pub fn residue_waves(truncation: &Truncation, px: usize) -> Vec<usize> {
    let waves = 0..=truncation.m_max();
    waves.map(|m| reverse_bits(m % px, px)).collect()
}

/// The bits of a number below `size`, a power of two, in reverse order.
pub fn reverse_bits(number: usize, size: usize) -> usize {
    match size.trailing_zeros() {
        0 => number,
        bits => number.reverse_bits() >> (usize::BITS - bits),
    }
}

/// The units of one mesh column, in the order of the ranks that own them, then of `(m, level)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnUnits {
    /// All units of the column.
    pub units: Vec<Unit>,
    /// Where the units of rank `y` of the column start; `py + 1` entries.
    pub starts: Vec<usize>,
}

impl ColumnUnits {
    /// Deals `waves` times `levels` to `py` ranks. Levels of one wavenumber share their Legendre
    /// functions and stay together as long as the balance allows: a bundle is at most an eighth
    /// of a rank's share.
    pub fn new(
        truncation: &Truncation,
        waves: &[usize],
        levels: std::ops::Range<usize>,
        py: usize,
    ) -> Self {
        let total: usize = waves.iter().map(|&m| work(truncation, m)).sum::<usize>() * levels.len();
        let (mut bundles, mut works) = (Vec::new(), Vec::new());
        for &m in waves {
            let largest =
                (total / py.max(1) / 8 / work(truncation, m)).clamp(1, levels.len().max(1));
            let mut level = levels.start;
            while level < levels.end {
                let end = (level + if py == 1 { levels.len() } else { largest }).min(levels.end);
                bundles.push((m, level..end));
                works.push(work(truncation, m) * (end - level));
                level = end;
            }
        }
        let owners = deal(&works, py);
        let mut owned: Vec<(usize, Unit)> = bundles
            .into_iter()
            .zip(owners)
            .flat_map(|((m, levels), y)| levels.map(move |level| (y, Unit { m, level })))
            .collect();
        owned.sort_unstable();
        let mut starts = vec![0; py + 1];
        for (y, _) in &owned {
            starts[y + 1] += 1;
        }
        for y in 0..py {
            starts[y + 1] += starts[y];
        }
        Self {
            units: owned.into_iter().map(|(_, unit)| unit).collect(),
            starts,
        }
    }

    /// Where in `units` those of rank `y` lie.
    pub fn range(&self, y: usize) -> std::ops::Range<usize> {
        self.starts[y]..self.starts[y + 1]
    }

    /// The units of rank `y`.
    pub fn of(&self, y: usize) -> &[Unit] {
        &self.units[self.range(y)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_one_owner_and_work_is_even() {
        for (n, levels, px, py) in [(42, 1, 2, 3), (42, 4, 3, 5), (85, 16, 4, 4), (42, 1, 5, 20)] {
            let truncation = Truncation::triangular(n);
            let owner = deal_waves(&truncation, px);
            let mut seen = vec![0; (n + 1) * levels];
            let (mut largest, mut total) = (0, 0);
            for x in 0..px {
                let waves: Vec<usize> = (0..=n).filter(|&m| owner[m] == x).collect();
                let column = ColumnUnits::new(&truncation, &waves, 0..levels, py);
                for y in 0..py {
                    let load: usize = column.of(y).iter().map(|u| work(&truncation, u.m)).sum();
                    largest = largest.max(load);
                    total += load;
                    for unit in column.of(y) {
                        seen[unit.m * levels + unit.level] += 1;
                    }
                    assert!(column.of(y).is_sorted());
                }
            }
            assert!(seen.iter().all(|&count| count == 1), "T{n} {px}x{py}");
            let share = total as f64 / (px * py) as f64;
            let heaviest = work(&truncation, 0) as f64;
            assert!(
                largest as f64 <= (1.15 * share).max(heaviest),
                "T{n} {px}x{py}: {largest}"
            );
        }
    }

    #[test]
    fn residues_are_even_and_reversed() {
        let truncation = Truncation::triangular(42);
        let owners = residue_waves(&truncation, 8);
        assert_eq!(owners[..8], [0, 4, 2, 6, 1, 5, 3, 7]);
        for x in 0..8 {
            let owned = owners.iter().filter(|&&owner| owner == x).count();
            assert!((43 / 8..=43_usize.div_ceil(8)).contains(&owned));
        }
        assert_eq!(reverse_bits(0, 1), 0);
    }

    #[test]
    fn levels_of_a_wave_stay_together_where_that_is_balanced() {
        let truncation = Truncation::triangular(170);
        let waves: Vec<usize> = (0..=170).collect();
        let column = ColumnUnits::new(&truncation, &waves, 0..16, 2);
        let mut waves_of_0: Vec<usize> = column.of(0).iter().map(|u| u.m).collect();
        waves_of_0.dedup();
        assert_eq!(waves_of_0.len() * 16, column.of(0).len());
    }
}
