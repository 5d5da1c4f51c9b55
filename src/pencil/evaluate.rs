//! To the grid, what is done there, and back: a whole evaluation, row by row where it can be.
//!
//! Where a rank has whole lines of all fields (one mesh column), a group of lines goes through
//! FFT, products and FFT before the next, in a few lines' worth of memory. Where it has everything
//! (one rank), blocks of latitudes go through both Legendre transforms as well, so that what lies
//! between them stays in the cache. Elsewhere transposes part the stages and each is done for the
//! whole grid. Bits are the same: every value is made by the same operations in the same order.

use std::ops::Range;

use super::transform::{Pencil, PencilError};
use super::window::Window;
use super::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::decomp::units::Unit;
use crate::measure::{Phase, Phases, Start};
use crate::spectral::column;
use crate::transform::POINT;
use crate::transport::Transport;

/// What goes to the grid, what is made of it there, and who takes what comes back.
pub trait Evaluation {
    /// Writes the [column](mod@column) of a unit of this rank, `n = m ..= n_top(m) + 1`, of every
    /// field that goes to the grid, and zeros around. `range`: where the unit lies in arrays as the layout says.
    fn source(&mut self, unit: Unit, range: Range<usize>, columns: [&mut [f64]; INVERSE_FIELDS]);

    /// Makes the fields that go back, of own longitudes of one group of latitude pairs
    /// (`[longitude][north | south][lane]`), in the place of those that came, which are the first of
    /// them.
    fn products(&mut self, level: usize, group: usize, lines: [&mut [f64]; FORWARD_FIELDS]);

    /// Takes the columns of a unit of every field that came back. What is around the coefficients is
    /// finite where they are, and means nothing.
    fn sink(&mut self, unit: Unit, range: Range<usize>, columns: [&[f64]; FORWARD_FIELDS]);
}

/// A whole line and a little more, so that lines do not compete for the same part of a cache.
fn padded(nlon: usize) -> usize {
    (nlon + 2) * POINT
}

/// Five lines of a group.
pub(super) fn lines_for(nlon: usize) -> Vec<f64> {
    vec![0.0; FORWARD_FIELDS * padded(nlon)]
}

impl<T: Transport> Pencil<T> {
    /// An evaluation. Every rank of the mesh calls it. `grid_from` and `grid_to` have room for the
    /// fields there and back; where lines are whole they are not used.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn evaluate(
        &mut self,
        evaluation: &mut impl Evaluation,
        (grid_from, grid_to): (&mut [f64], &mut [f64]),
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        if let Some(window) = self.window.take() {
            let window = self.by_windows(window, evaluation, phases);
            self.window = Some(window);
            return Ok(());
        }
        self.sum_degrees(
            |unit, range, columns| evaluation.source(unit, range, columns),
            phases,
        );
        self.latitudes_to_rows(phases)?;
        if self.row.size() == 1 {
            self.by_rows(evaluation, phases);
        } else {
            self.waves_to_lines(phases)?;
            self.sum_waves(grid_from, phases)?;
            self.products_of_grid(evaluation, (grid_from, grid_to), phases);
            self.analyse_lines(grid_to, phases)?;
            self.lines_to_waves(phases)?;
        }
        self.rows_to_latitudes(phases)?;
        self.analyse_latitudes(
            |unit, range, columns| evaluation.sink(unit, range, columns),
            phases,
        )
    }

    /// Products where the grid is there as a whole.
    fn products_of_grid(
        &self,
        evaluation: &mut impl Evaluation,
        (from, to): (&[f64], &mut [f64]),
        phases: &mut Phases,
    ) {
        let start = phases.start();
        let shape = self.grid();
        let length = shape.longitudes.len() * POINT;
        if length > 0 {
            let rows = from.chunks_exact(INVERSE_FIELDS * length);
            let rows = rows.zip(to.chunks_exact_mut(FORWARD_FIELDS * length));
            for (row, (from, to)) in rows.enumerate() {
                to[..from.len()].copy_from_slice(from);
                let (level, group) = (row / shape.groups, row % shape.groups);
                evaluation.products(level, group, split(to, length));
            }
        }
        phases.stop(Phase::GridProducts, start);
    }

    /// FFT, products and FFT of one group of lines after the other, from cells in the first array
    /// to cells in what is then the first.
    fn by_rows(&mut self, evaluation: &mut impl Evaluation, phases: &mut Phases) {
        let Some(fourier) = &self.fourier else {
            return;
        };
        let shape = self.distribution.groups(self.position.1);
        let (there, back) = (&self.cells_at[0], &self.cells_at[1]);
        let (first, second) = (&self.buffers.first, &mut self.buffers.second);
        let length = self.distribution.nlon * POINT;
        let mut start = phases.start();
        for row in 0..self.distribution.levels * shape {
            let mut lines = self.lines.chunks_exact_mut(padded(self.distribution.nlon));
            let mut lines: [&mut [f64]; FORWARD_FIELDS] =
                std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[..length]);
            for (field, line) in lines.iter_mut().take(INVERSE_FIELDS).enumerate() {
                fourier.inverse(first, there.line(row * INVERSE_FIELDS + field), line);
            }
            start = phases.lap(Phase::InverseFft, start);
            evaluation.products(
                row / shape,
                row % shape,
                lines.each_mut().map(|line| &mut **line),
            );
            start = phases.lap(Phase::GridProducts, start);
            for (field, line) in lines.into_iter().enumerate() {
                fourier.forward(line, back.line(row * FORWARD_FIELDS + field), second);
            }
            start = phases.lap(Phase::ForwardFft, start);
        }
        std::mem::swap(&mut self.buffers.first, &mut self.buffers.second);
        for phase in [Phase::InverseFft, Phase::GridProducts, Phase::ForwardFft] {
            phases.passed(phase);
        }
    }

    /// Everything, of some levels and latitude blocks after the other.
    fn by_windows(
        &mut self,
        mut window: Window,
        evaluation: &mut impl Evaluation,
        phases: &mut Phases,
    ) -> Window {
        let levels = self.distribution.levels;
        for first in (0..levels).step_by(window.levels) {
            let levels = first..levels.min(first + window.levels);
            let mut start = phases.start();
            self.fill_window(&mut window, levels.clone(), evaluation);
            start = phases.lap(Phase::SpectralUpdate, start);
            let blocks = self.legendre.blocks();
            for first in (0..blocks).step_by(window.blocks) {
                let blocks = first..blocks.min(first + window.blocks);
                start =
                    self.through_window(&mut window, &levels, blocks, evaluation, phases, start);
            }
            self.empty_window(&window, levels, evaluation);
            phases.lap(Phase::SpectralUpdate, start);
        }
        for phase in [
            Phase::SpectralUpdate,
            Phase::InverseLegendre,
            Phase::InverseFft,
            Phase::GridProducts,
            Phase::ForwardFft,
            Phase::ForwardLegendre,
        ] {
            phases.passed(phase);
        }
        window
    }

    /// Spread coefficients of some levels.
    fn fill_window(
        &mut self,
        window: &mut Window,
        levels: Range<usize>,
        evaluation: &mut impl Evaluation,
    ) {
        let (layout, scratch) = (&self.layout, &mut self.columns);
        for (wave, (m, units)) in layout.waves().enumerate() {
            let len = column::len(layout.truncation().degrees(m) + 1);
            let steps = self.legendre.steps(wave);
            let s = window.spread_of(wave, steps, levels.len());
            let quads = s.chunks_exact_mut(INVERSE_FIELDS * steps);
            for (level, s) in levels.clone().zip(quads) {
                let unit = units.start + level;
                let columns = &mut scratch[..INVERSE_FIELDS * len];
                evaluation.source(
                    layout.units()[unit],
                    layout.range(unit),
                    split_columns(columns, len),
                );
                self.legendre.spread(wave, columns, s);
            }
        }
    }

    /// Both Legendre transforms, FFTs and products of some levels in some latitude blocks.
    fn through_window(
        &mut self,
        window: &mut Window,
        levels: &Range<usize>,
        blocks: Range<usize>,
        evaluation: &mut impl Evaluation,
        phases: &mut Phases,
        mut start: Start,
    ) -> Start {
        let Some(fourier) = &self.fourier else {
            return start;
        };
        let groups = self.legendre.groups_of(&blocks);
        let there = window.places(INVERSE_FIELDS, levels.len());
        for wave in 0..window.waves() {
            let steps = self.legendre.steps(wave);
            let (s, cells) = window.spread_and_cells(wave, steps, levels.len());
            self.legendre
                .inverse_blocks(wave, blocks.clone(), s, cells, &there);
        }
        start = phases.lap(Phase::InverseLegendre, start);
        let length = self.distribution.nlon * POINT;
        for (own, level) in levels.clone().enumerate() {
            for (count, group) in groups.clone().enumerate() {
                let mut lines = self.lines.chunks_exact_mut(padded(self.distribution.nlon));
                let mut lines: [&mut [f64]; FORWARD_FIELDS] =
                    std::array::from_fn(|_| &mut lines.next().unwrap_or_default()[..length]);
                for (field, line) in lines.iter_mut().take(INVERSE_FIELDS).enumerate() {
                    let at = window.line(own, field, count);
                    fourier.inverse(&window.cells, at, line);
                }
                start = phases.lap(Phase::InverseFft, start);
                evaluation.products(level, group, lines.each_mut().map(|line| &mut **line));
                start = phases.lap(Phase::GridProducts, start);
                for (field, line) in lines.into_iter().enumerate() {
                    let (at, cells) = window.line_mut(own, field, count);
                    fourier.forward(line, at, cells);
                }
                start = phases.lap(Phase::ForwardFft, start);
            }
        }
        let back = window.places(FORWARD_FIELDS, levels.len());
        for wave in 0..window.waves() {
            let steps = self.legendre.steps(wave);
            let (cells, d) = window.cells_and_sums(wave, steps, levels.len());
            self.legendre
                .forward_blocks(wave, blocks.clone(), cells, &back, d);
        }
        phases.lap(Phase::ForwardLegendre, start)
    }

    /// The sums of some levels to whoever takes them.
    fn empty_window(
        &mut self,
        window: &Window,
        levels: Range<usize>,
        evaluation: &mut impl Evaluation,
    ) {
        let (layout, scratch) = (&self.layout, &mut self.columns);
        for (wave, (m, units)) in layout.waves().enumerate() {
            let len = column::len(layout.truncation().degrees(m) + 1);
            let steps = self.legendre.steps(wave);
            let d = window.sums_of(wave, steps, levels.len());
            for (level, d) in levels.clone().zip(d.chunks_exact(FORWARD_FIELDS * steps)) {
                let unit = units.start + level;
                let columns = &mut scratch[..FORWARD_FIELDS * len];
                self.legendre.collect(wave, d, columns);
                let mut each = columns.chunks_exact(len);
                let columns = std::array::from_fn(|_| each.next().unwrap_or_default());
                evaluation.sink(layout.units()[unit], layout.range(unit), columns);
            }
        }
    }
}

/// The lines of a row.
fn split(row: &mut [f64], length: usize) -> [&mut [f64]; FORWARD_FIELDS] {
    let mut lines = row.chunks_exact_mut(length);
    std::array::from_fn(|_| lines.next().unwrap_or_default())
}

/// The columns of a unit.
pub(super) fn split_columns<const FIELDS: usize>(
    columns: &mut [f64],
    len: usize,
) -> [&mut [f64]; FIELDS] {
    let mut columns = columns.chunks_exact_mut(len);
    std::array::from_fn(|_| columns.next().unwrap_or_default())
}
