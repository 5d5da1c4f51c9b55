//! The part of an evaluation that is in the cache at a time, on a rank that has everything.

use super::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::transform::fourier::LineCells;
use crate::transform::legendre::{LegendrePlan, Places};
use crate::transform::{CELL, Lane};

/// Bytes of cells that a window may have: a good part of a second-level cache and its share of the
/// third.
const CELL_BYTES: usize = 1 << 20;

/// Cells of some levels and latitude blocks, with the spread coefficients and sums of all
/// wavenumbers of these levels. The cells of the fields there and back lie in the same place.
#[derive(Debug)]
pub(super) struct Window {
    /// Levels at a time.
    pub levels: usize,
    /// Latitude blocks at a time.
    pub blocks: usize,
    /// `[wave][level][field][group]`, the fields in five places.
    pub cells: Vec<f64>,
    /// Where each wavenumber begins, for the FFT.
    pub base: Vec<isize>,
    /// From a group to the next.
    pub stride: Vec<isize>,
    /// f64 values of a wave.
    per_wave: usize,
    /// Groups of a level.
    groups: usize,
    /// Steps of the waves before; one more entry.
    steps: Vec<usize>,
    /// `[wave][level][field][step]`.
    spread: Vec<Lane>,
    /// The same of the fields that come back.
    sums: Vec<Lane>,
}

impl Window {
    /// For a rank that has every wavenumber of so many levels.
    pub(super) fn new(legendre: &LegendrePlan, waves: usize, levels: usize) -> Self {
        let blocks = legendre.blocks();
        let of_block = waves * legendre.groups_of(&(0..1)).len() * FORWARD_FIELDS * CELL;
        let fit = (CELL_BYTES / (of_block * size_of::<f64>()).max(1)).max(1);
        let (levels, blocks) = (levels.min(fit), blocks.min(fit));
        let groups = legendre.groups_of(&(0..blocks)).len();
        // An odd number of cells: waves do not compete for the same part of a cache.
        let per_wave = ((levels * groups * FORWARD_FIELDS) | 1) * CELL;
        let mut steps = vec![0];
        for wave in 0..waves {
            steps.push(steps[wave] + legendre.steps(wave));
        }
        let all = steps[waves] * levels;
        Self {
            levels,
            blocks,
            cells: vec![0.0; waves * per_wave],
            base: (0..waves).map(|wave| (wave * per_wave) as isize).collect(),
            stride: vec![CELL as isize; waves],
            per_wave,
            groups,
            steps,
            spread: vec![[0.0; 4]; all * INVERSE_FIELDS],
            sums: vec![[0.0; 4]; all * FORWARD_FIELDS],
        }
    }

    /// Wavenumbers.
    pub(super) fn waves(&self) -> usize {
        self.base.len()
    }

    /// Where the cells of a wave lie.
    pub(super) fn places(&self, fields: usize, levels: usize) -> Places {
        Places {
            levels,
            fields,
            level_stride: self.groups * FORWARD_FIELDS,
            field_stride: self.groups,
            group_stride: 1,
        }
    }

    /// The cells of a line: a field of a level in a group.
    pub(super) fn line(&self, level: usize, field: usize, group: usize) -> LineCells<'_> {
        LineCells {
            base: &self.base,
            stride: &self.stride,
            line: group as isize,
            offset: self.offset(level, field),
            // The fields of a group follow each other, then those of the next group.
            ahead: if field + 1 < INVERSE_FIELDS {
                self.offset(0, 1)
            } else {
                CELL as isize - self.offset(0, field)
            },
        }
    }

    /// The same, and the cells to write to.
    pub(super) fn line_mut(
        &mut self,
        level: usize,
        field: usize,
        group: usize,
    ) -> (LineCells<'_>, &mut [f64]) {
        let offset = self.offset(level, field);
        let at = LineCells {
            base: &self.base,
            stride: &self.stride,
            line: group as isize,
            offset,
            ahead: 0,
        };
        (at, &mut self.cells)
    }

    /// From the first cell of a wave to that of a level and field.
    fn offset(&self, level: usize, field: usize) -> isize {
        ((level * FORWARD_FIELDS + field) * self.groups * CELL) as isize
    }

    fn range(
        &self,
        wave: usize,
        steps: usize,
        quads: usize,
        most: usize,
    ) -> std::ops::Range<usize> {
        let start = self.steps[wave] * most;
        start..start + steps * quads
    }

    /// The spread coefficients of a wave.
    pub(super) fn spread_of(&mut self, wave: usize, steps: usize, levels: usize) -> &mut [Lane] {
        let most = self.levels * INVERSE_FIELDS;
        let range = self.range(wave, steps, levels * INVERSE_FIELDS, most);
        &mut self.spread[range]
    }

    /// The spread coefficients and the cells of a wave.
    pub(super) fn spread_and_cells(
        &mut self,
        wave: usize,
        steps: usize,
        levels: usize,
    ) -> (&[Lane], &mut [f64]) {
        let most = self.levels * INVERSE_FIELDS;
        let range = self.range(wave, steps, levels * INVERSE_FIELDS, most);
        let cells = &mut self.cells[wave * self.per_wave..(wave + 1) * self.per_wave];
        (&self.spread[range], cells)
    }

    /// The cells and the sums of a wave.
    pub(super) fn cells_and_sums(
        &mut self,
        wave: usize,
        steps: usize,
        levels: usize,
    ) -> (&[f64], &mut [Lane]) {
        let most = self.levels * FORWARD_FIELDS;
        let range = self.range(wave, steps, levels * FORWARD_FIELDS, most);
        let cells = &self.cells[wave * self.per_wave..(wave + 1) * self.per_wave];
        (cells, &mut self.sums[range])
    }

    /// The sums of a wave.
    pub(super) fn sums_of(&self, wave: usize, steps: usize, levels: usize) -> &[Lane] {
        let most = self.levels * FORWARD_FIELDS;
        &self.sums[self.range(wave, steps, levels * FORWARD_FIELDS, most)]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.cells.as_slice())
            + size_of_val(self.spread.as_slice())
            + size_of_val(self.sums.as_slice())
            + 2 * size_of_val(self.base.as_slice())
    }
}
