//! From the grid to coefficients.

use std::ops::Range;

use num_complex::Complex64;

use super::FORWARD_FIELDS;
use super::buffers::Buffers;
use super::moves::Along;
use super::stage::has_idle_lanes;
use super::transform::{Pencil, PencilError};
use super::unpack::{Latitudes, Longitudes, Unpack, Waves};
use crate::decomp::units::Unit;
use crate::measure::{Movement, Phase, Phases};
use crate::spectral::column;
use crate::transform::{CELL, POINT};
use crate::transport::Transport;

const FIELDS: usize = FORWARD_FIELDS;

impl<T: Transport> Pencil<T> {
    /// From the grid: five fields of `[level][group][field][longitude]` points to coefficients;
    /// the points are overwritten. Every rank of the mesh calls it.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn forward(
        &mut self,
        grid: &mut [f64],
        fields: [&mut [Complex64]; FIELDS],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        self.analyse_lines(grid, phases)?;
        self.lines_to_waves(phases)?;
        self.rows_to_latitudes(phases)?;
        let mut fields = fields;
        self.analyse_latitudes(
            |_, range, columns| {
                for (field, from) in fields.iter_mut().zip(columns) {
                    column::get(from, &mut field[range.clone()]);
                }
            },
            phases,
        )
    }

    /// The FFT of own lines, or of own longitudes of all lines.
    pub(super) fn analyse_lines(
        &mut self,
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        if let Some(butterflies) = &mut self.movements.butterflies {
            let Buffers { first, second, .. } = &mut self.buffers;
            let map = &self.cells_at[1];
            return butterflies.forward(&self.row, (grid, second), (map, first), phases);
        }
        self.grid_to_lines(grid, phases)?;
        let Some(fourier) = &self.fourier else {
            return Ok(());
        };
        let start = phases.start();
        let Buffers { first, second, .. } = &mut self.buffers;
        let map = &self.cells_at[1];
        let length = self.distribution.nlon * POINT;
        let (x, y) = self.position;
        let len = self.distribution.line_groups(x, y, FIELDS).len() * length;
        let lines = match &self.movements.from_grid.lines {
            None => &mut grid[..len],
            Some(_) => &mut second[..len],
        };
        for (line, points) in lines.chunks_exact_mut(length).enumerate() {
            fourier.forward(points, map.line(line), first);
        }
        phases.stop(Phase::ForwardFft, start);
        Ok(())
    }

    /// The transpose from the grid to own lines, which are then in the second array.
    pub(super) fn grid_to_lines(
        &mut self,
        grid: &[f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.from_grid.lines else {
            return Ok(());
        };
        let distribution = &self.distribution;
        let Buffers { first, second, .. } = &mut self.buffers;
        let (x, y) = self.position;
        let own_lines = distribution.line_groups(x, y, FIELDS).len();
        let lines = &mut second[..own_lines * distribution.nlon * POINT];
        let mut along = Along {
            comm: &self.row,
            movement: Movement::FftTranspose,
            phases,
        };
        if plan.moves_apart() {
            along.exchange(plan, grid, lines)?;
            return Ok(());
        }
        let message = &mut first[..plan.plan().recv_len];
        let unpack = Longitudes(distribution);
        if plan.unpacks_on_arrival() {
            along.exchange_unpacking(plan, grid, message, lines, &unpack)?;
        } else {
            let start = along.exchange(plan, grid, message)?;
            unpack.all(lines, message);
            phases.stop(Phase::FftTransposeUnpack, start);
        }
        Ok(())
    }

    /// The second transpose of a double transpose: all lines of own wavenumbers.
    pub(super) fn lines_to_waves(&mut self, phases: &mut Phases) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.from_grid.waves else {
            return Ok(());
        };
        let y = self.position.1;
        let len = self.units.len() * self.distribution.groups(y) * FIELDS * CELL;
        let unpack = Waves {
            distribution: &self.distribution,
            y,
            fields: FIELDS,
            units: &self.units,
            waves: &self.waves,
        };
        let along = Along {
            comm: &self.row,
            movement: Movement::FftTranspose,
            phases,
        };
        along.forward(plan, &mut self.buffers, (len, false), unpack)?;
        Ok(())
    }

    /// The Legendre transpose, where there is one: all latitudes of own units.
    pub(super) fn rows_to_latitudes(&mut self, phases: &mut Phases) -> Result<(), PencilError> {
        let Some(plan) = &mut self.movements.from_grid.column else {
            return Ok(());
        };
        let distribution = &self.distribution;
        let len = self.layout.units().len() * self.groups * FIELDS * CELL;
        let along = Along {
            comm: &self.column,
            movement: Movement::LegendreTranspose,
            phases,
        };
        let idle = has_idle_lanes(distribution);
        let unpack = Latitudes {
            distribution,
            fields: FIELDS,
        };
        along.forward(plan, &mut self.buffers, (len, idle), unpack)?;
        Ok(())
    }

    /// The forward Legendre transform of own units, and its vector sum where latitudes are split;
    /// `sink` takes the coefficients.
    pub(super) fn analyse_latitudes(
        &mut self,
        mut sink: impl FnMut(Unit, Range<usize>, [&[f64]; FIELDS]),
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let (layout, legendre) = (&self.layout, &mut self.legendre);
        let per_unit = self.groups * FIELDS * CELL;
        let cells = &self.buffers.first;
        let scratch = &mut self.columns;
        if let Some(sum) = &mut self.movements.sum {
            let own = |wave: usize, units: &Range<usize>, columns: &mut [f64]| {
                let cells = &cells[units.start * per_unit..units.end * per_unit];
                legendre.forward(wave, units.len(), FIELDS, cells, columns);
            };
            return sum.execute(&self.column, layout, own, scratch, sink, phases);
        }
        let mut start = phases.start();
        for (wave, (m, units)) in layout.waves().enumerate() {
            let len = column::len(layout.truncation().degrees(m) + 1);
            let columns = &mut scratch[..units.len() * FIELDS * len];
            let cells = &cells[units.start * per_unit..units.end * per_unit];
            legendre.forward(wave, units.len(), FIELDS, cells, columns);
            start = phases.lap(Phase::ForwardLegendre, start);
            for (columns, unit) in columns.chunks_exact(FIELDS * len).zip(units) {
                let mut columns = columns.chunks_exact(len);
                let columns = std::array::from_fn(|_| columns.next().unwrap_or_default());
                sink(layout.units()[unit], layout.range(unit), columns);
            }
            start = phases.lap(Phase::SpectralUpdate, start);
        }
        phases.passed(Phase::ForwardLegendre);
        phases.passed(Phase::SpectralUpdate);
        Ok(())
    }
}
