//! The spectral coefficients of one rank.

use std::ops::Range;

use crate::decomp::units::Unit;
use crate::spectral::truncation::Truncation;

/// Where the coefficients of each `(m, level)` unit lie. One array holds one field:
/// `[unit][n - m]`, `n = m ..= n_top(m) + 1`; the last degree is the one that the wind needs and
/// is zero in scalar fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpectralLayout {
    truncation: Truncation,
    units: Vec<Unit>,
    offsets: Vec<usize>,
    counted: bool,
}

impl SpectralLayout {
    /// Layout of the given units, which are sorted by `(m, level)`. `counted`: this rank answers
    /// for them; others that have the same units do not.
    pub fn new(truncation: Truncation, units: Vec<Unit>, counted: bool) -> Self {
        let mut offsets = vec![0];
        for unit in &units {
            offsets.push(offsets[offsets.len() - 1] + truncation.degrees(unit.m) + 1);
        }
        Self {
            truncation,
            units,
            offsets,
            counted,
        }
    }

    /// The truncation.
    pub fn truncation(&self) -> &Truncation {
        &self.truncation
    }

    /// The units, sorted by `(m, level)`.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Coefficients of one field of this rank.
    pub fn len(&self) -> usize {
        self.offsets[self.units.len()]
    }

    /// Whether this rank has nothing to do in spectral space.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Coefficients of unit `index`, with the one beyond the truncation.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.offsets[index]..self.offsets[index + 1]
    }

    /// Every unit with its index and range.
    pub fn iter(&self) -> impl Iterator<Item = (Unit, Range<usize>)> + '_ {
        self.units
            .iter()
            .enumerate()
            .map(|(index, &unit)| (unit, self.range(index)))
    }

    /// [`Self::iter`] over the units that this rank answers for, for sums over ranks and for output;
    /// every unit is counted by one rank.
    pub fn counted(&self) -> impl Iterator<Item = (Unit, Range<usize>)> + '_ {
        self.iter().filter(|_| self.counted)
    }

    /// Units of one wavenumber: `(m, units)`.
    pub fn waves(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut start = 0;
        self.units.chunk_by(|a, b| a.m == b.m).map(move |chunk| {
            let range = start..start + chunk.len();
            start = range.end;
            (chunk[0].m, range)
        })
    }
}
