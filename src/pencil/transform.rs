//! The distributed transform of one rank.

use thiserror::Error;

use super::buffers::Buffers;
use super::cells::CellMap;
use super::choice::AlgorithmChoice;
use super::evaluate::lines_for;
use super::movements::Movements;
use super::spectral_layout::SpectralLayout;
use super::window::Window;
use super::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::distribution::Distribution;
use crate::decomp::mesh::Mesh;
use crate::decomp::units::Unit;
use crate::grid::gauss::GaussNodes;
use crate::problem::definition::Problem;
use crate::spectral::column;
use crate::swap::error::PlanError;
use crate::transform::POINT;
use crate::transform::fourier::FourierPlan;
use crate::transform::kernels::Family;
use crate::transform::legendre::LegendrePlan;
use crate::transport::{Transport, TransportError};

/// Why a distributed transform could not be made or done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PencilError {
    /// A transpose that cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A mesh that the FFT cannot be distributed over.
    #[error("{0}")]
    Mesh(String),
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
    pub(super) distribution: Distribution,
    pub(super) position: (usize, usize),
    pub(super) row: T,
    pub(super) column: T,
    pub(super) layout: SpectralLayout,
    /// Units of the whole column, in order of their owners.
    pub(super) units: Vec<Unit>,
    /// Wavenumbers of this column.
    pub(super) waves: Vec<usize>,
    gauss: GaussNodes,
    pub(super) legendre: LegendrePlan,
    /// Groups of latitude pairs that this rank's Legendre transform covers.
    pub(super) groups: usize,
    /// None where the ranks of a row transform their lines together.
    pub(super) fourier: Option<FourierPlan>,
    pub(super) movements: Movements<T>,
    pub(super) cells_at: [CellMap; 2],
    pub(super) buffers: Buffers,
    /// Columns of one wavenumber, of all its units and fields.
    pub(super) columns: Vec<f64>,
    /// Lines of one group, where they are whole and all of them at hand; else empty.
    pub(super) lines: Vec<f64>,
    /// On a rank that has everything.
    pub(super) window: Option<Window>,
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
            (choice.fft, choice.legendre),
        );
        if let Some(reason) = choice.fft.lacks(mesh.px, problem.nlon) {
            return Err(PencilError::Mesh(reason));
        }
        let (x, y) = mesh.position(world.rank());
        let row = world.split(y, x)?;
        let column = world.split(x, y)?;
        let column_units = distribution.column_units(x);
        let cells_at = [INVERSE_FIELDS, FORWARD_FIELDS].map(|fields| {
            if mesh.px > 1 && choice.fft == FftAlgorithm::DoubleTranspose {
                CellMap::blocks(&distribution, (x, y), fields)
            } else {
                CellMap::units(&distribution, (x, y), fields, &column_units.units)
            }
        });
        let (own, counted) = distribution.own_units(&column_units, y);
        let layout = SpectralLayout::new(truncation, column_units.units[own].to_vec(), counted);
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
            .map(|(m, units)| units.len() * column::len(truncation.degrees(m) + 1))
            .max()
            .unwrap_or(0);
        let gauss = GaussNodes::new(problem.nlat);
        let (groups, legendre) = match choice.legendre {
            LegendreAlgorithm::Transpose => (
                distribution.all_groups(),
                LegendrePlan::new(&waves, &gauss, quads * FORWARD_FIELDS, family),
            ),
            LegendreAlgorithm::Distributed => (
                distribution.groups(y),
                LegendrePlan::new(
                    &waves,
                    &gauss.part(distribution.pairs(y)),
                    quads * FORWARD_FIELDS,
                    family,
                ),
            ),
        };
        let split = mesh.px > 1 && choice.fft == FftAlgorithm::Distributed;
        let fourier = (!split).then(|| FourierPlan::new(problem.nlon, truncation.m_max(), family));
        let comms = (&row, &column);
        let movements =
            Movements::new(&distribution, comms, &column_units, &layout, choice, family)?;
        let units = &column_units.units;
        let mut buffers = Buffers::new(&distribution, (x, y), &layout, units);
        let whole = mesh.px == 1;
        let alone = whole && mesh.py == 1;
        let alike = movements.moves_apart() || whole && !alone;
        buffers.fit(alike, movements.needs_third());
        let window = alone.then(|| Window::new(&legendre, waves.len(), problem.levels));
        Ok(Self {
            lines: if whole {
                lines_for(problem.nlon)
            } else {
                Vec::new()
            },
            window,
            waves: distribution.waves(x),
            fourier,
            movements,
            groups,
            columns: vec![0.0; degrees * FORWARD_FIELDS],
            units: column_units.units,
            position: (x, y),
            distribution,
            row,
            column,
            layout,
            gauss,
            legendre,
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
            + self.fourier.as_ref().map_or(0, FourierPlan::bytes)
            + size_of_val(self.columns.as_slice())
            + self.buffers.bytes()
            + size_of_val(self.lines.as_slice())
            + self.window.as_ref().map_or(0, Window::bytes)
            + self.movements.bytes()
            + self.cells_at.iter().map(CellMap::bytes).sum::<usize>()
            + size_of_val(self.gauss.mu.as_slice())
            + size_of_val(self.gauss.weight.as_slice())
    }
}
