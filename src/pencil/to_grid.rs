//! From coefficients to the grid.

use std::ops::Range;

use num_complex::Complex64;

use super::INVERSE_FIELDS;
use super::buffers::Buffers;
use super::evaluate::split_columns;
use super::moves::Along;
use super::stage::{has_idle_lanes, pack_latitudes, pack_longitudes, pack_waves};
use super::transform::{Pencil, PencilError};
use crate::decomp::units::Unit;
use crate::measure::{Movement, Phase, Phases};
use crate::spectral::column;
use crate::transform::{CELL, POINT};
use crate::transport::Transport;

const FIELDS: usize = INVERSE_FIELDS;

impl<T: Transport> Pencil<T> {
    /// To the grid: four scalar fields, each as the layout says, onto
    /// `[level][group][field][longitude]` points. Every rank of the mesh calls it.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn inverse(
        &mut self,
        fields: [&[Complex64]; FIELDS],
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        self.sum_degrees(
            |_, range, columns| {
                for (to, field) in columns.into_iter().zip(fields) {
                    column::put(&field[range.clone()], to);
                }
            },
            phases,
        );
        self.latitudes_to_rows(phases)?;
        self.waves_to_lines(phases)?;
        self.sum_waves(grid, phases)
    }

    /// The inverse Legendre transform of own units, whose coefficients `source` writes: cells of the
    /// latitudes that it covers.
    pub(super) fn sum_degrees(
        &mut self,
        mut source: impl FnMut(Unit, Range<usize>, [&mut [f64]; FIELDS]),
        phases: &mut Phases,
    ) {
        let mut start = phases.start();
        let layout = &self.layout;
        let per_unit = self.groups * FIELDS * CELL;
        for (wave, (m, units)) in layout.waves().enumerate() {
            let len = column::len(layout.truncation().degrees(m) + 1);
            let columns = &mut self.columns[..units.len() * FIELDS * len];
            for (columns, unit) in columns.chunks_exact_mut(FIELDS * len).zip(units.clone()) {
                source(
                    layout.units()[unit],
                    layout.range(unit),
                    split_columns(columns, len),
                );
            }
            start = phases.lap(Phase::SpectralUpdate, start);
            let cells = &mut self.buffers.first[units.start * per_unit..units.end * per_unit];
            self.legendre
                .inverse(wave, units.len(), FIELDS, columns, cells);
            start = phases.lap(Phase::InverseLegendre, start);
        }
        phases.passed(Phase::SpectralUpdate);
        phases.passed(Phase::InverseLegendre);
    }

    /// The Legendre transpose, where there is one: own latitudes of all units of the column.
    pub(super) fn latitudes_to_rows(&mut self, phases: &mut Phases) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.to_grid.column else {
            return Ok(());
        };
        let distribution = &self.distribution;
        let len = self.layout.units().len() * self.groups * FIELDS * CELL;
        let start = phases.start();
        let along = Along {
            comm: &self.column,
            movement: Movement::LegendreTranspose,
            phases,
        };
        let idle = has_idle_lanes(distribution);
        let pack = |layout: &mut [f64], message: &mut [f64]| {
            pack_latitudes(distribution, FIELDS, layout, message);
        };
        along.inverse(plan, &mut self.buffers, (len, idle), pack, start)?;
        Ok(())
    }

    /// The first transpose of a double transpose: all wavenumbers of own lines.
    pub(super) fn waves_to_lines(&mut self, phases: &mut Phases) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.to_grid.waves else {
            return Ok(());
        };
        let per_level = self.distribution.groups(self.position.1) * FIELDS;
        let len = self.units.len() * per_level * CELL;
        let (units, waves) = (&self.units, &self.waves);
        let start = phases.start();
        let along = Along {
            comm: &self.row,
            movement: Movement::FftTranspose,
            phases,
        };
        let pack = |cells: &mut [f64], message: &mut [f64]| {
            pack_waves(units, waves, per_level, cells, message);
        };
        along.inverse(plan, &mut self.buffers, (len, false), pack, start)?;
        Ok(())
    }

    /// The inverse FFT, and own longitudes of all lines of the row onto the grid.
    pub(super) fn sum_waves(
        &mut self,
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let Buffers { first, second, .. } = &mut self.buffers;
        let map = &self.cells_at[0];
        if let Some(butterflies) = &mut self.movements.butterflies {
            return butterflies.inverse(&self.row, (map, first), grid, phases);
        }
        let Some(fourier) = &self.fourier else {
            return Ok(());
        };
        let start = phases.start();
        let length = self.distribution.nlon * POINT;
        let (x, y) = self.position;
        let own_lines = self.distribution.line_groups(x, y, FIELDS).len();
        let lines = match &self.movements.to_grid.lines {
            None => &mut grid[..own_lines * length],
            Some(_) => &mut second[..own_lines * length],
        };
        for (line, points) in lines.chunks_exact_mut(length).enumerate() {
            fourier.inverse(first, map.line(line), points);
        }
        phases.stop(Phase::InverseFft, start);
        self.lines_to_grid(grid, phases)
    }

    /// The transpose from own lines, which are in the second array, onto the grid.
    pub(super) fn lines_to_grid(
        &mut self,
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.to_grid.lines else {
            return Ok(());
        };
        let Buffers { first, second, .. } = &mut self.buffers;
        let distribution = &self.distribution;
        let (x, y) = self.position;
        let own_lines = distribution.line_groups(x, y, FIELDS).len();
        let lines = &mut second[..own_lines * distribution.nlon * POINT];
        let start = phases.start();
        let mut along = Along {
            comm: &self.row,
            movement: Movement::FftTranspose,
            phases,
        };
        if plan.moves_apart() {
            along.exchange(plan, lines, grid)?;
        } else {
            let message = &mut first[..plan.plan().send_len];
            pack_longitudes(distribution, lines, message);
            along.phases.stop(along.movement.pack(), start);
            along.exchange(plan, message, grid)?;
        }
        Ok(())
    }
}
