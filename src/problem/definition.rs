//! The problem after validation: what is integrated, on which grid, how long. Plain data.

use std::path::PathBuf;

use super::planet::Planet;
use crate::spectral::truncation::Truncation;

/// Which initial state, surface and forcing (Williamson et al. 1992; Galewsky et al. 2004).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseName {
    /// Advection of a cosine bell by solid-body rotation.
    Williamson1,
    /// Steady zonal geostrophic flow.
    Williamson2,
    /// Steady zonal flow with compact support.
    Williamson3,
    /// Forced translating low.
    Williamson4,
    /// Zonal flow over an isolated mountain.
    Williamson5,
    /// Rossby-Haurwitz wave of wavenumber 4.
    Williamson6,
    /// Analysed 500 hPa state from a file.
    Williamson7,
    /// Barotropic instability of a perturbed mid-latitude jet.
    Galewsky,
    /// The same jet without the perturbation.
    GalewskyBalanced,
    /// Any state from a file.
    File,
}

impl CaseName {
    /// Every case.
    pub const ALL: [Self; 10] = [
        Self::Williamson1,
        Self::Williamson2,
        Self::Williamson3,
        Self::Williamson4,
        Self::Williamson5,
        Self::Williamson6,
        Self::Williamson7,
        Self::Galewsky,
        Self::GalewskyBalanced,
        Self::File,
    ];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Williamson1 => "williamson-1",
            Self::Williamson2 => "williamson-2",
            Self::Williamson3 => "williamson-3",
            Self::Williamson4 => "williamson-4",
            Self::Williamson5 => "williamson-5",
            Self::Williamson6 => "williamson-6",
            Self::Williamson7 => "williamson-7",
            Self::Galewsky => "galewsky",
            Self::GalewskyBalanced => "galewsky-balanced",
            Self::File => "file",
        }
    }

    /// The case with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.name() == name)
    }
}

/// The surface of williamson-5, `file` and williamson-7.
#[derive(Clone, Debug, PartialEq)]
pub enum Mountain {
    /// No mountain.
    Flat,
    /// The cone of Williamson et al. 1992, case 5, sampled on the model's grid.
    Cone,
    /// `2000 exp(-64 (1 - cos gamma))` m about the same centre.
    Smooth,
    /// Surface height in m from a NetCDF file.
    File {
        /// The file.
        path: PathBuf,
        /// Name of the variable; `None`: found by its standard name (surface_altitude).
        variable: Option<String>,
    },
}

/// How the height of a `file` start is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeightFrom {
    /// The file has it.
    Given,
    /// From the nonlinear balance equation of the wind.
    Balanced,
}

/// Names of variables in a file; `None`: found by CF standard name or usual name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableNames {
    /// Free-surface height, m (or geopotential, m2/s2: told by its units).
    pub h: Option<String>,
    /// Eastward wind, m/s.
    pub u: Option<String>,
    /// Northward wind, m/s.
    pub v: Option<String>,
    /// Relative vorticity, 1/s.
    pub zeta: Option<String>,
    /// Divergence, 1/s.
    pub delta: Option<String>,
    /// Latitude, degrees.
    pub lat: Option<String>,
    /// Longitude, degrees.
    pub lon: Option<String>,
}

/// A state in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFile {
    /// The file, relative to the namelist's folder.
    pub path: PathBuf,
    /// Index along its time dimension.
    pub time_index: usize,
    /// Whether the file holds the height.
    pub height: HeightFrom,
    /// Names given in the namelist.
    pub names: VariableNames,
}

/// What is integrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The case.
    pub case: CaseName,
    /// Angle between the axis of the flow and of the planet, radians (cases 1-3).
    pub alpha: f64,
    /// Speed of the background flow, m/s (case 4: 20 or 40; case 5: 20).
    pub u0: f64,
    /// Spectral truncation.
    pub truncation: Truncation,
    /// Gaussian latitudes, even.
    pub nlat: usize,
    /// Longitudes.
    pub nlon: usize,
    /// Independent copies of the problem.
    pub levels: usize,
    /// Time steps to take.
    pub steps: u64,
    /// Given mean geopotential, m2/s2; `None`: mean of the initial `g (h - h_s)`.
    pub phibar: Option<f64>,
    /// Surface height.
    pub mountain: Mountain,
    /// The sphere.
    pub planet: Planet,
    /// Where the start comes from (williamson-7 and file).
    pub file: Option<StateFile>,
    /// State to compare the end with; `time_index: None`: the time of the file nearest the output.
    pub reference: Option<ReferenceFile>,
}

/// A reference state in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceFile {
    /// The file.
    pub path: PathBuf,
    /// Index along its time dimension; `None`: the last.
    pub time_index: Option<usize>,
}

/// Time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Leapfrog, linear gravity-wave terms averaged.
    SemiImplicit,
    /// Leapfrog.
    Explicit,
    /// Classical Runge-Kutta of order four.
    Rk4,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 3] = [Self::SemiImplicit, Self::Explicit, Self::Rk4];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::SemiImplicit => "semi-implicit",
            Self::Explicit => "explicit",
            Self::Rk4 => "rk4",
        }
    }

    /// The scheme with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

/// Time stepping and damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStepping {
    /// Time step, s.
    pub dt: f64,
    /// Scheme.
    pub scheme: Scheme,
    /// Robert-Asselin coefficient.
    pub asselin: f64,
    /// Williams' alpha (2009, MWR 137, 2538-2546); 1 is the classic filter.
    pub williams: f64,
    /// Hyperdiffusion coefficient, m^order/s.
    pub diffusion: f64,
    /// 4, 6 or 8.
    pub diffusion_order: u32,
    /// Laplacian viscosity nu, m2/s.
    pub laplacian: f64,
}

/// What is written, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Folder of history and checkpoint files.
    pub directory: PathBuf,
    /// Steps between outputs; 0: at the start and the end only.
    pub every_steps: u64,
    /// Samples in a history file; 0: no history is written.
    pub samples_per_file: usize,
    /// NetCDF format of history files.
    pub format: HistoryFormat,
    /// Steps between checkpoints; 0: none.
    pub checkpoint_steps: u64,
    /// Points (latitude, longitude in degrees) at which the series are summed.
    pub points: Vec<(f64, f64)>,
}

/// NetCDF format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryFormat {
    /// NetCDF-3 (64-bit offset).
    Classic,
    /// NetCDF-4, needs feature `netcdf4`.
    NetCdf4,
}

/// How a run is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasurePlan {
    /// Steps at the start that are left out of the timing.
    pub warmup: u64,
    /// Repetitions of a timed sample set.
    pub repeat: u64,
    /// Cap on the time of a sample set, s; 0: none.
    pub max_seconds: f64,
    /// Seed of everything random.
    pub seed: u64,
}
