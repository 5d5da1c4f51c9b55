//! The distributed transform of one rank.

use num_complex::Complex64;
use thiserror::Error;

use super::buffers::Buffers;
use super::cells::CellMap;
use super::choice::{AlgorithmChoice, FftAlgorithm};
use super::spectral_layout::SpectralLayout;
use super::stage::{Copying, Plans, copy_latitudes, copy_longitudes, copy_waves, has_idle_lanes};
use super::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::decomp::distribution::Distribution;
use crate::decomp::mesh::Mesh;
use crate::decomp::units::Unit;
use crate::exchange::transpose::{Movement as Moved, Transpose};
use crate::grid::gauss::GaussNodes;
use crate::measure::{Movement, Phase, Phases};
use crate::problem::definition::Problem;
use crate::swap::error::PlanError;
use crate::transform::fourier::FourierPlan;
use crate::transform::kernels::Family;
use crate::transform::legendre::LegendrePlan;
use crate::transform::{CELL, POINT};
use crate::transport::{Transport, TransportError};

/// Why a distributed transform could not be made or done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PencilError {
    /// A transpose that cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A movement that failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// Grid points of one rank: `[level][group][field][longitude][north | south][lane]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridShape {
    /// Levels, all of them.
    pub levels: usize,
    /// Latitude pairs of this rank, counted from the north.
    pub pairs: std::ops::Range<usize>,
    /// Groups that hold them; the last may be padded.
    pub groups: usize,
    /// Longitudes of this rank.
    pub longitudes: std::ops::Range<usize>,
}

impl GridShape {
    /// f64 values of `fields` fields.
    pub fn len(&self, fields: usize) -> usize {
        self.levels * self.groups * fields * self.longitudes.len() * POINT
    }

    /// Whether this rank has no grid point.
    pub fn is_empty(&self) -> bool {
        self.len(1) == 0
    }
}

/// The distributed transform of one rank: seeds, plans and every buffer, made once.
pub struct Pencil<T: Transport> {
    distribution: Distribution,
    position: (usize, usize),
    row: T,
    column: T,
    layout: SpectralLayout,
    /// Units of the whole column, in order of their owners.
    units: Vec<Unit>,
    /// Wavenumbers of this column.
    waves: Vec<usize>,
    gauss: GaussNodes,
    legendre: LegendrePlan,
    fourier: FourierPlan,
    to_grid: Plans<T>,
    from_grid: Plans<T>,
    cells_at: [CellMap; 2],
    buffers: Buffers,
    degrees_scratch: Vec<Complex64>,
}

impl<T: Transport> Pencil<T> {
    /// Plans the transforms of `problem` for this rank of `world`, which has the mesh's size.
    ///
    /// # Errors
    /// A transpose that cannot be planned (order and protocol), or a lost rank.
    pub fn new(
        world: &T,
        problem: &Problem,
        mesh: Mesh,
        choice: &AlgorithmChoice,
        family: Family,
    ) -> Result<Self, PencilError> {
        let truncation = problem.truncation;
        let distribution = Distribution::new(
            truncation,
            (problem.nlat, problem.nlon),
            problem.levels,
            mesh,
            choice.fft == FftAlgorithm::SingleTranspose,
        );
        let (x, y) = mesh.position(world.rank());
        let row = world.split(y, x)?;
        let column = world.split(x, y)?;
        let column_units = distribution.column_units(x);
        let plans = |fields, to_grid| {
            Plans::new(
                &distribution,
                (&row, &column),
                &column_units,
                fields,
                to_grid,
                choice,
            )
        };
        let to_grid = plans(INVERSE_FIELDS, true)?;
        let from_grid = plans(FORWARD_FIELDS, false)?;
        let cells_at = [INVERSE_FIELDS, FORWARD_FIELDS].map(|fields| {
            if to_grid.waves.is_some() {
                CellMap::blocks(&distribution, (x, y), fields)
            } else {
                CellMap::units(&distribution, (x, y), fields, &column_units.units)
            }
        });
        let layout = SpectralLayout::new(truncation, column_units.of(y).to_vec());
        let waves: Vec<(usize, usize)> = layout
            .waves()
            .map(|(m, _)| (m, truncation.n_top(m) + 1))
            .collect();
        let quads = layout
            .waves()
            .map(|(_, units)| units.len())
            .max()
            .unwrap_or(0);
        let degrees = layout
            .waves()
            .map(|(m, units)| units.len() * (truncation.degrees(m) + 1))
            .max()
            .unwrap_or(0);
        let gauss = GaussNodes::new(problem.nlat);
        let legendre = LegendrePlan::new(&waves, &gauss, quads * FORWARD_FIELDS, family);
        let alike = choice.fft_transpose.moves_apart() || choice.legendre_transpose.moves_apart();
        let units = &column_units.units;
        let buffers = Buffers::new(&distribution, (x, y), &layout, units, alike);
        Ok(Self {
            waves: distribution.waves(x),
            fourier: FourierPlan::new(problem.nlon, truncation.m_max()),
            degrees_scratch: vec![Complex64::default(); degrees * FORWARD_FIELDS],
            units: column_units.units,
            position: (x, y),
            distribution,
            row,
            column,
            layout,
            gauss,
            legendre,
            to_grid,
            from_grid,
            cells_at,
            buffers,
        })
    }

    /// The coefficients of this rank.
    pub fn layout(&self) -> &SpectralLayout {
        &self.layout
    }

    /// The grid points of this rank.
    pub fn grid(&self) -> GridShape {
        let (x, y) = self.position;
        GridShape {
            levels: self.distribution.levels,
            pairs: self.distribution.pairs(y),
            groups: self.distribution.groups(y),
            longitudes: self.distribution.longitudes(x),
        }
    }

    /// The distribution.
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// Nodes and weights of the grid.
    pub fn gauss(&self) -> &GaussNodes {
        &self.gauss
    }

    /// Which machine code runs.
    pub fn family(&self) -> Family {
        self.legendre.family()
    }

    /// Bytes of seeds and working arrays of this rank.
    pub fn bytes(&self) -> usize {
        self.legendre.bytes()
            + self.fourier.bytes()
            + size_of_val(self.degrees_scratch.as_slice())
            + self.buffers.bytes()
            + self.to_grid.bytes()
            + self.from_grid.bytes()
            + self.cells_at.iter().map(CellMap::bytes).sum::<usize>()
            + size_of_val(self.gauss.mu.as_slice())
            + size_of_val(self.gauss.weight.as_slice())
    }

    /// To the grid: four scalar fields, each as the layout says, onto
    /// `[level][group][field][longitude]` points. Every rank of the mesh calls it.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn inverse(
        &mut self,
        fields: [&[Complex64]; INVERSE_FIELDS],
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        const FIELDS: usize = INVERSE_FIELDS;
        let start = phases.start();
        let Self {
            distribution,
            layout,
            buffers,
            legendre,
            fourier,
            ..
        } = self;
        let per_level = distribution.groups(self.position.1) * FIELDS;
        let globe = distribution.all_groups() * FIELDS * CELL;
        let own_cells = layout.units().len() * globe;
        let Buffers { first, second } = buffers;
        let (mut first, mut second) = (first, second);
        for (wave, (m, units)) in layout.waves().enumerate() {
            let degrees = layout.truncation().degrees(m) + 1;
            let columns = &mut self.degrees_scratch[..units.len() * FIELDS * degrees];
            for (column, (level, field)) in columns.chunks_exact_mut(degrees).zip(
                units
                    .clone()
                    .flat_map(|unit| (0..FIELDS).map(move |field| (unit, field))),
            ) {
                column.copy_from_slice(&fields[field][layout.range(level)]);
            }
            let cells = &mut first[units.start * globe..units.end * globe];
            legendre.inverse(wave, units.len(), FIELDS, columns, cells);
        }
        let mut start = phases.next(Phase::InverseLegendre, start);
        if let Some(plan) = self
            .to_grid
            .column
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let cells = &mut second[..plan.plan().recv_len];
            if has_idle_lanes(distribution) {
                cells.fill(0.0);
            }
            let (comm, movement) = (&self.column, Movement::LegendreTranspose);
            start = moved(plan, comm, movement, &first[..own_cells], cells, phases)?;
            std::mem::swap(&mut first, &mut second);
        } else if let Some(plan) = &mut self.to_grid.column {
            let spectral = &mut first[..own_cells];
            let message = &mut second[..plan.plan().send_len];
            copy_latitudes(Copying::Pack, distribution, FIELDS, spectral, message);
            phases.stop(Phase::LegendreTransposePack, start);
            let cells = &mut first[..plan.plan().recv_len];
            start = moved(
                plan,
                &self.column,
                Movement::LegendreTranspose,
                message,
                cells,
                phases,
            )?;
        }
        if let Some(plan) = self
            .to_grid
            .waves
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let (send_len, recv_len) = (plan.plan().send_len, plan.plan().recv_len);
            let (from, to) = (&first[..send_len], &mut second[..recv_len]);
            start = moved(plan, &self.row, Movement::FftTranspose, from, to, phases)?;
            std::mem::swap(&mut first, &mut second);
        } else if let Some(plan) = &mut self.to_grid.waves {
            let cells = &mut first[..self.units.len() * per_level * CELL];
            let message = &mut second[..plan.plan().send_len];
            copy_waves(
                Copying::Pack,
                &self.units,
                &self.waves,
                per_level,
                cells,
                message,
            );
            phases.stop(Phase::FftTransposePack, start);
            let cells = &mut first[..plan.plan().recv_len];
            start = moved(
                plan,
                &self.row,
                Movement::FftTranspose,
                message,
                cells,
                phases,
            )?;
        }
        let lines = match self.to_grid.lines {
            Some(_) => &mut second[..],
            None => &mut grid[..],
        };
        let own_lines = distribution
            .line_groups(self.position.0, self.position.1, FIELDS)
            .len();
        let length = distribution.nlon * POINT;
        let map = &self.cells_at[0];
        for (line, points) in lines.chunks_exact_mut(length).take(own_lines).enumerate() {
            fourier.inverse(|m| cell(first, map.at(line, m)), points);
        }
        start = phases.next(Phase::InverseFft, start);
        if let Some(plan) = self
            .to_grid
            .lines
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let lines = &second[..own_lines * length];
            moved(plan, &self.row, Movement::FftTranspose, lines, grid, phases)?;
        } else if let Some(plan) = &mut self.to_grid.lines {
            let message = &mut first[..plan.plan().send_len];
            let lines = &mut second[..own_lines * length];
            copy_longitudes(Copying::Pack, distribution, lines, message);
            phases.stop(Phase::FftTransposePack, start);
            moved(
                plan,
                &self.row,
                Movement::FftTranspose,
                message,
                grid,
                phases,
            )?;
        }
        Ok(())
    }

    /// From the grid: five fields of `[level][group][field][longitude]` points to coefficients.
    /// Every rank of the mesh calls it.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn forward(
        &mut self,
        grid: &[f64],
        fields: [&mut [Complex64]; FORWARD_FIELDS],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        const FIELDS: usize = FORWARD_FIELDS;
        let mut start = phases.start();
        let Self {
            distribution,
            layout,
            buffers,
            legendre,
            fourier,
            ..
        } = self;
        let Buffers { first, second } = buffers;
        let (mut first, mut second) = (first, second);
        let (x, y) = self.position;
        let per_level = distribution.groups(y) * FIELDS;
        let own_lines = distribution.line_groups(x, y, FIELDS).len();
        let length = distribution.nlon * POINT;
        if let Some(plan) = self
            .from_grid
            .lines
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let lines = &mut second[..own_lines * length];
            start = moved(plan, &self.row, Movement::FftTranspose, grid, lines, phases)?;
        } else if let Some(plan) = &mut self.from_grid.lines {
            let message = &mut first[..plan.plan().recv_len];
            start = moved(
                plan,
                &self.row,
                Movement::FftTranspose,
                grid,
                message,
                phases,
            )?;
            let lines = &mut second[..own_lines * length];
            copy_longitudes(Copying::Unpack, distribution, lines, message);
            start = phases.next(Phase::FftTransposeUnpack, start);
        }
        let lines = if self.from_grid.lines.is_some() {
            &second[..]
        } else {
            grid
        };
        let map = &self.cells_at[1];
        for (line, points) in lines.chunks_exact(length).take(own_lines).enumerate() {
            fourier.forward(points, |m, values| {
                let at = map.at(line, m);
                first[at..at + CELL].copy_from_slice(values);
            });
        }
        start = phases.next(Phase::ForwardFft, start);
        if let Some(plan) = self
            .from_grid
            .waves
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let (send_len, recv_len) = (plan.plan().send_len, plan.plan().recv_len);
            let (from, to) = (&first[..send_len], &mut second[..recv_len]);
            start = moved(plan, &self.row, Movement::FftTranspose, from, to, phases)?;
            std::mem::swap(&mut first, &mut second);
        } else if let Some(plan) = &mut self.from_grid.waves {
            let cells = &first[..plan.plan().send_len];
            let message = &mut second[..plan.plan().recv_len];
            start = moved(
                plan,
                &self.row,
                Movement::FftTranspose,
                cells,
                message,
                phases,
            )?;
            let cells = &mut first[..self.units.len() * per_level * CELL];
            copy_waves(
                Copying::Unpack,
                &self.units,
                &self.waves,
                per_level,
                cells,
                message,
            );
            start = phases.next(Phase::FftTransposeUnpack, start);
        }
        let globe = distribution.all_groups() * FIELDS * CELL;
        if let Some(plan) = self
            .from_grid
            .column
            .as_mut()
            .filter(|plan| plan.moves_apart())
        {
            let (send_len, recv_len) = (plan.plan().send_len, plan.plan().recv_len);
            let (from, to) = (&first[..send_len], &mut second[..recv_len]);
            if has_idle_lanes(distribution) {
                to.fill(0.0);
            }
            let (comm, movement) = (&self.column, Movement::LegendreTranspose);
            start = moved(plan, comm, movement, from, to, phases)?;
            std::mem::swap(&mut first, &mut second);
        } else if let Some(plan) = &mut self.from_grid.column {
            let cells = &first[..plan.plan().send_len];
            let message = &mut second[..plan.plan().recv_len];
            start = moved(
                plan,
                &self.column,
                Movement::LegendreTranspose,
                cells,
                message,
                phases,
            )?;
            let spectral = &mut first[..layout.units().len() * globe];
            copy_latitudes(Copying::Unpack, distribution, FIELDS, spectral, message);
            start = phases.next(Phase::LegendreTransposeUnpack, start);
        }
        for (wave, (m, units)) in layout.waves().enumerate() {
            let degrees = layout.truncation().degrees(m) + 1;
            let columns = &mut self.degrees_scratch[..units.len() * FIELDS * degrees];
            let cells = &first[units.start * globe..units.end * globe];
            legendre.forward(wave, units.len(), FIELDS, cells, columns);
            for (column, (unit, field)) in columns.chunks_exact(degrees).zip(
                units
                    .clone()
                    .flat_map(|unit| (0..FIELDS).map(move |field| (unit, field))),
            ) {
                fields[field][layout.range(unit)].copy_from_slice(column);
            }
        }
        phases.stop(Phase::ForwardLegendre, start);
        Ok(())
    }
}

#[inline]
fn cell(cells: &[f64], at: usize) -> &[f64; CELL] {
    match cells[at..].first_chunk() {
        Some(cell) => cell,
        None => unreachable!("cells are sized by the plan"),
    }
}

/// Executes a transpose and books its cost.
fn moved<T: Transport>(
    plan: &mut Transpose<T>,
    comm: &T,
    movement: Movement,
    send: &[f64],
    recv: &mut [f64],
    phases: &mut Phases,
) -> Result<crate::measure::Start, TransportError> {
    let mut cost = Moved::default();
    plan.execute(comm, send, recv, &mut cost)?;
    if cost.wait > 0.0 {
        phases.add(movement.wait(), cost.wait);
    }
    phases.add(movement.movement(), cost.moving);
    phases.sent(movement.movement(), cost.bytes, cost.messages);
    Ok(phases.start())
}
