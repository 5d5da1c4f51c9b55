//! Where the FFT finds and leaves the cells of its lines.

use crate::decomp::distribution::Distribution;
use crate::decomp::units::Unit;
use crate::transform::CELL;
use crate::transform::fourier::LineCells;

/// Where the cell of a wavenumber of a group of lines lies: `base + group stride`.
#[derive(Debug)]
pub(super) struct CellMap {
    /// `[level][m]`: offset of the level's first group of lines, less that group's own share.
    base: Vec<isize>,
    /// `[m]`.
    stride: Vec<isize>,
    per_level: usize,
    waves: usize,
    first: usize,
}

impl CellMap {
    /// Cells in blocks `[column][group of own lines][wavenumber of the column]`.
    pub(super) fn blocks(
        distribution: &Distribution,
        (x, y): (usize, usize),
        fields: usize,
    ) -> Self {
        let lines = distribution.line_groups(x, y, fields);
        let waves = distribution.truncation.m_max() + 1;
        let per_level = distribution.groups(y) * fields;
        let (mut base, mut stride) = (vec![0; waves], vec![0; waves]);
        let mut start = 0;
        for x in 0..distribution.mesh.px {
            let own = distribution.waves(x);
            for (slot, &m) in own.iter().enumerate() {
                base[m] = (start + slot * CELL) as isize;
                stride[m] = (own.len() * CELL) as isize;
            }
            start += lines.len() * own.len() * CELL;
        }
        let base = (0..distribution.levels)
            .flat_map(|level| {
                let first = (level * per_level) as isize - lines.start as isize;
                base.iter()
                    .zip(&stride)
                    .map(move |(base, stride)| base + first * stride)
            })
            .collect();
        Self {
            base,
            stride,
            per_level,
            waves,
            first: lines.start,
        }
    }

    /// Cells `[unit][group][field]`, every unit of the column at hand.
    pub(super) fn units(
        distribution: &Distribution,
        (x, y): (usize, usize),
        fields: usize,
        units: &[Unit],
    ) -> Self {
        let waves = distribution.truncation.m_max() + 1;
        let per_level = distribution.groups(y) * fields;
        let mut base = vec![0; distribution.levels * waves];
        for (index, unit) in units.iter().enumerate() {
            base[unit.level * waves + unit.m] = (index * per_level * CELL) as isize;
        }
        let first = distribution.line_groups(x, y, fields).start;
        Self {
            base,
            stride: vec![CELL as isize; waves],
            per_level,
            waves,
            first,
        }
    }

    /// Offset of the cell of wavenumber `m` of own group of lines `line`.
    #[inline]
    pub(super) fn at(&self, line: usize, m: usize) -> usize {
        let global = self.first + line;
        let (level, group) = (global / self.per_level, global % self.per_level);
        (self.base[level * self.waves + m] + group as isize * self.stride[m]) as usize
    }

    /// The cells of own group of lines `line`.
    #[inline]
    pub(super) fn line(&self, line: usize) -> LineCells<'_> {
        let global = self.first + line;
        let (level, group) = (global / self.per_level, global % self.per_level);
        LineCells {
            base: &self.base[level * self.waves..(level + 1) * self.waves],
            stride: &self.stride,
            line: group as isize,
            offset: 0,
            ahead: CELL as isize,
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.base.as_slice()) + size_of_val(self.stride.as_slice())
    }
}

/// The cell at an offset.
#[inline]
pub(super) fn cell(cells: &[f64], at: usize) -> &[f64; CELL] {
    match cells[at..].first_chunk() {
        Some(cell) => cell,
        None => unreachable!("cells are sized by the plan"),
    }
}
