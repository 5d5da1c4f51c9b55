//! What moves the data of a distributed transform: everything that may be chosen anew without new
//! tables or a new layout.

use super::butterfly::Butterflies;
use super::choice::AlgorithmChoice;
use super::degree_sum::DegreeSum;
use super::stage::Plans;
use super::transform::{Pencil, PencilError};
use super::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::distribution::Distribution;
use crate::decomp::units::ColumnUnits;
use crate::exchange::Transpose;
use crate::measure::{Movement, Phases};
use crate::pencil::SpectralLayout;
use crate::transform::kernels::Family;
use crate::transform::split_fourier::SplitFourier;
use crate::transport::Transport;

/// The movements of one rank, both ways.
pub struct Movements<T: Transport> {
    pub(super) to_grid: Plans<T>,
    pub(super) from_grid: Plans<T>,
    /// None where a rank has all latitudes of its units.
    pub(super) sum: Option<DegreeSum>,
    /// None where lines are whole.
    pub(super) butterflies: Option<Box<Butterflies>>,
}

impl<T: Transport> Movements<T> {
    /// Plans the movements of this rank of a mesh row and column; all their ranks call it. Of
    /// `choice` only how the stages move counts, not which stages there are.
    pub(super) fn new(
        distribution: &Distribution,
        (row, column): (&T, &T),
        units: &ColumnUnits,
        layout: &SpectralLayout,
        choice: &AlgorithmChoice,
        family: Family,
    ) -> Result<Self, PencilError> {
        let plans = |fields, to_grid| {
            let comms = (row, column);
            Plans::new(distribution, comms, units, fields, to_grid, choice)
        };
        let (px, py) = (distribution.mesh.px, distribution.mesh.py);
        let (x, y) = (row.rank(), column.rank());
        let summed = py > 1 && distribution.legendre == LegendreAlgorithm::Distributed;
        let split = px > 1 && distribution.fft == FftAlgorithm::Distributed;
        let butterflies = split.then(|| {
            let m_max = distribution.truncation.m_max();
            let share = SplitFourier::new(distribution.nlon, m_max, (px, x), family);
            let lines = [INVERSE_FIELDS, FORWARD_FIELDS]
                .map(|fields| distribution.line_groups(x, y, fields).len());
            Butterflies::new(share, x, lines, &choice.fft_butterfly).map(Box::new)
        });
        Ok(Self {
            to_grid: plans(INVERSE_FIELDS, true)?,
            from_grid: plans(FORWARD_FIELDS, false)?,
            sum: summed
                .then(|| DegreeSum::new(column, layout, &choice.legendre_sum))
                .transpose()?,
            butterflies: butterflies.transpose()?,
        })
    }

    /// Whether the arrays of some movement change roles, so that both must have room for either.
    pub(super) fn moves_apart(&self) -> bool {
        let plans = [&self.to_grid, &self.from_grid];
        plans
            .into_iter()
            .flat_map(Plans::all)
            .any(Transpose::moves_apart)
    }

    /// Whether some blocks are put in place while what they replace is still being sent.
    pub(super) fn needs_third(&self) -> bool {
        let plans = [&self.from_grid.waves, &self.from_grid.column];
        plans
            .into_iter()
            .flatten()
            .any(Transpose::unpacks_on_arrival)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.to_grid.bytes()
            + self.from_grid.bytes()
            + self.sum.as_ref().map_or(0, DegreeSum::bytes)
            + self.butterflies.as_ref().map_or(0, |b| b.bytes())
    }
}

impl<T: Transport> Pencil<T> {
    /// Other movements for the same layout; every rank of the mesh calls it. Mesh and algorithms of
    /// `choice` are those of this transform.
    ///
    /// # Errors
    /// A transpose that cannot be planned, an engine that cannot be had, a lost rank.
    pub fn movements(&self, choice: &AlgorithmChoice) -> Result<Movements<T>, PencilError> {
        let units = self.distribution.column_units(self.position.0);
        let comms = (&self.row, &self.column);
        let family = self.family();
        Movements::new(
            &self.distribution,
            comms,
            &units,
            &self.layout,
            choice,
            family,
        )
    }

    /// Puts other movements in the place of those there are, which it gives back.
    pub fn exchange_movements(&mut self, movements: &mut Movements<T>) {
        let (apart, third) = (movements.moves_apart(), movements.needs_third());
        self.buffers.fit(apart, third);
        std::mem::swap(&mut self.movements, movements);
    }

    /// The movements of one stage in an evaluation, both ways, with whatever the arrays hold:
    /// packed, moved and unpacked as in a time step, without the transforms (the butterflies of a
    /// distributed FFT are part of its movement, but not of its time). `grid` has room for
    /// [`FORWARD_FIELDS`] fields. Every rank of the mesh calls it.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn move_alone(
        &mut self,
        stage: Movement,
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let there = self.grid().len(INVERSE_FIELDS);
        match stage {
            Movement::FftTranspose => {
                self.waves_to_lines(phases)?;
                self.lines_to_grid(&mut grid[..there], phases)?;
                self.grid_to_lines(grid, phases)?;
                self.lines_to_waves(phases)
            }
            Movement::FftButterfly => {
                // Transformed again and again, they would grow.
                self.buffers.first.fill(1.0);
                self.sum_waves(&mut grid[..there], phases)?;
                self.analyse_lines(grid, phases)
            }
            Movement::LegendreTranspose => {
                self.latitudes_to_rows(phases)?;
                self.rows_to_latitudes(phases)
            }
            Movement::LegendreSum => {
                let Some(sum) = &mut self.movements.sum else {
                    return Ok(());
                };
                let scratch = &mut self.columns;
                sum.move_alone(&self.column, scratch, phases)
            }
            Movement::Gather => Ok(()),
        }
    }
}
