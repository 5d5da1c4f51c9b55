//! The model of one rank: its state, constants and working arrays.

use num_complex::Complex64;
use thiserror::Error;

use super::blowup::BlowUp;
use super::damping::Damping;
use super::diagnostics::{Invariants, Reference};
use super::forcing::SpectralForcing;
use super::operators::Operators;
use super::products::PRODUCT_FLOPS;
use super::state::State;
use super::tendency::Work;
use crate::decomp::mesh::Mesh;
use crate::measure::{Phase, Phases};
use crate::pencil::choice::AlgorithmChoice;
use crate::pencil::{FORWARD_FIELDS, GridShape, INVERSE_FIELDS, Pencil, PencilError};
use crate::problem::cases::Case;
use crate::problem::definition::{Problem, Scheme, TimeStepping};
use crate::problem::input::InputError;
use crate::spectral::column;
use crate::swap::method::Method;
use crate::transform::Lane;
use crate::transform::kernels::Family;
use crate::transport::{Transport, TransportError};

/// Why a model could not be made or stepped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A transpose that cannot be planned, or a lost rank.
    #[error(transparent)]
    Pencil(#[from] PencilError),
    /// A lost rank.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A file that cannot be used.
    #[error("{error}")]
    File {
        /// The key that names the file.
        key: &'static str,
        /// What is wrong.
        error: InputError,
    },
    /// An initial state that cannot be integrated.
    #[error("{0}")]
    Start(String),
    /// The run blew up.
    #[error(transparent)]
    BlowUp(Box<BlowUp>),
}

/// The model of one rank.
pub struct Model<T: Transport> {
    pub(super) world: T,
    /// How output is gathered.
    pub(super) gather: Method,
    pub(super) problem: Problem,
    pub(super) time: TimeStepping,
    pub(super) pencil: Pencil<T>,
    pub(super) shape: GridShape,
    pub(super) operators: Operators,
    pub(super) damping: Damping,
    pub(super) case: Option<Box<dyn Case>>,
    pub(super) forcing: Option<SpectralForcing>,
    pub(super) advection_only: bool,
    /// Coefficients of the Coriolis parameter that this rank has: where, and their value.
    pub(super) coriolis: Vec<(usize, Complex64)>,
    /// `g h_s`, in spectral space.
    pub(super) surface_geopotential: Vec<Complex64>,
    /// `g h_s` of level 0 at this rank's points, `[group][longitude][north | south][lane]`.
    pub(super) surface_grid: Vec<f64>,
    /// `1/(1 - mu^2)` of each group; 0 in padding.
    pub(super) secant2: Vec<Lane>,
    pub(super) phibar: f64,
    pub(super) wind_bound: f64,
    pub(super) max_wind: f64,
    pub(super) old: State,
    pub(super) now: State,
    pub(super) next: State,
    pub(super) scratch: [State; 2],
    pub(super) work: Work,
    pub(super) initial: Option<Invariants>,
    pub(super) reference: Option<Reference>,
    /// Time of the initial state in its file, s, where the file says so.
    pub(super) file_time: Option<f64>,
    pub(super) step: u64,
    /// Where the time goes.
    pub phases: Phases,
}

impl<T: Transport> Model<T> {
    /// The model of `problem` at its initial state, on this rank of `world`, which has the mesh's
    /// size.
    ///
    /// # Errors
    /// A state that cannot be read or integrated; a lost rank.
    pub fn new(
        world: T,
        problem: Problem,
        time: TimeStepping,
        mesh: Mesh,
        choice: &AlgorithmChoice,
        family: Family,
    ) -> Result<Self, SolverError> {
        let pencil = Pencil::new(&world, &problem, mesh, choice, family)?;
        let (layout, shape) = (pencil.layout(), pencil.grid());
        let operators = Operators::new(layout, problem.planet.radius, family);
        let damping = Damping::new(layout, &operators.laplacian, problem.planet.radius, &time);
        let case = crate::problem::cases::analytic(&problem);
        let forcing = case
            .as_deref()
            .and_then(Case::forcing)
            .map(|forcing| SpectralForcing::new(layout, forcing, &problem.planet));
        let len = layout.len();
        let zeros = || State::zeros(len);
        let most = layout
            .iter()
            .map(|(_, range)| column::len(range.len()))
            .max()
            .unwrap_or(0);
        let mut model = Self {
            gather: choice.gather,
            coriolis: super::start::coriolis(layout, &problem, case.as_deref()),
            secant2: super::start::secant2(&shape, pencil.gauss()),
            advection_only: case.as_deref().is_some_and(Case::advection_only),
            surface_geopotential: vec![Complex64::default(); len],
            surface_grid: Vec::new(),
            phibar: 0.0,
            wind_bound: f64::INFINITY,
            max_wind: 0.0,
            old: zeros(),
            now: zeros(),
            next: zeros(),
            scratch: [zeros(), zeros()],
            work: Work {
                grid_from: vec![0.0; shape.len(INVERSE_FIELDS)],
                grid_to: vec![0.0; shape.len(FORWARD_FIELDS)],
                columns: std::array::from_fn(|_| vec![0.0; most]),
            },
            initial: None,
            reference: None,
            file_time: None,
            step: 0,
            phases: Phases::new(),
            world,
            problem,
            time,
            pencil,
            shape,
            operators,
            damping,
            case,
            forcing,
        };
        model.start()?;
        model.phases.reset();
        Ok(model)
    }

    /// Takes one time step.
    ///
    /// # Errors
    /// A blow-up (with its place and likely cause); a lost rank.
    pub fn step(&mut self) -> Result<f64, SolverError> {
        let start = self.phases.start();
        match self.time.scheme {
            Scheme::Rk4 => self.rk4_step()?,
            Scheme::SemiImplicit | Scheme::Explicit => self.leapfrog_step()?,
        }
        self.step += 1;
        Ok(self.phases.stop(Phase::Step, start))
    }

    /// Steps taken since the initial state.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// Model time, s.
    pub fn seconds(&self) -> f64 {
        self.step as f64 * self.time.dt
    }

    /// The state at the newest time level.
    pub fn state(&self) -> &State {
        &self.now
    }

    /// The distributed transform.
    pub fn pencil(&self) -> &Pencil<T> {
        &self.pencil
    }

    /// The distributed transform, to move data without a step or in another way.
    pub fn pencil_mut(&mut self) -> &mut Pencil<T> {
        &mut self.pencil
    }

    /// All ranks.
    pub fn world(&self) -> &T {
        &self.world
    }

    /// Mean geopotential, m2/s2.
    pub fn phibar(&self) -> f64 {
        self.phibar
    }

    /// Largest wind of the initial state, m/s.
    pub fn initial_max_wind(&self) -> f64 {
        (self.wind_bound - super::start::WIND_MARGIN) / super::start::WIND_GROWTH
    }

    /// The wind above which a run is stopped, m/s.
    pub fn wind_bound(&self) -> f64 {
        self.wind_bound
    }

    /// Largest wind at this rank's points in the last evaluation, m/s.
    pub fn own_max_wind(&self) -> f64 {
        self.max_wind
    }

    /// Bytes of this rank's arrays.
    pub fn bytes(&self) -> usize {
        let state = 3 * size_of_val(self.now.zeta.as_slice());
        self.pencil.bytes()
            + self.operators.bytes()
            + self.damping.bytes()
            + size_of_val(self.surface_geopotential.as_slice())
            + size_of_val(self.secant2.as_slice())
            + 5 * state
            + size_of_val(self.work.grid_from.as_slice())
            + size_of_val(self.work.grid_to.as_slice())
            + size_of_val(self.surface_grid.as_slice())
    }

    /// Evaluations of the explicit tendency in a step (not the first).
    pub fn evaluations_per_step(&self) -> u32 {
        if self.time.scheme == Scheme::Rk4 {
            4
        } else {
            1
        }
    }

    /// Nominal flops of a step of the whole problem; see [`FLOPS_FORMULA`].
    pub fn flops_per_step(&self) -> f64 {
        let p = &self.problem;
        let transforms = (INVERSE_FIELDS + FORWARD_FIELDS) as f64;
        let (nlat, nlon) = (p.nlat as f64, p.nlon as f64);
        let coefficients = p.truncation.coefficients() as f64 + (p.truncation.m_max() + 1) as f64;
        let legendre = 4.0 * coefficients * nlat / 2.0;
        let fourier = 2.5 * nlon * nlon.log2() * nlat;
        let products = PRODUCT_FLOPS * nlat * nlon;
        let spectral = SPECTRAL_FLOPS * p.truncation.coefficients() as f64;
        let evaluation = transforms * (legendre + fourier) + products + spectral;
        p.levels as f64 * f64::from(self.evaluations_per_step()) * evaluation
    }
}

/// Flops per spectral coefficient and evaluation outside the transforms, counted in the source with
/// complex arithmetic as real: wind 38, divergence and curl 25 for each of two pairs of products,
/// tendencies 10, semi-implicit update 38.
const SPECTRAL_FLOPS: f64 = 136.0;

/// How [`Model::flops_per_step`] counts.
pub const FLOPS_FORMULA: &str = "levels x evaluations x [9 transforms x (4 per coefficient (degree \
    n_top + 1 included) and latitude pair + 2.5 nlon log2(nlon) per latitude) + 10 per grid point \
    + 136 per coefficient]; nominal: what kernels skip near the poles is counted";
