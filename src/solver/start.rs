//! The initial state: surface, wind and height into spectral space.

use num_complex::Complex64;

use super::diagnostics::Reference;
use super::from_file;
use super::model::{Model, SolverError};
use super::sums::{max_over_ranks, sum_over_ranks};
use crate::dd::Dd;
use crate::grid::gauss::{GaussNodes, cos2};
use crate::pencil::{FORWARD_FIELDS, GridShape, SpectralLayout};
use crate::problem::cases::{Case, Point};
use crate::problem::definition::{
    CaseName, HeightFrom, Mountain, Problem, ReferenceFile, StateFile,
};
use crate::problem::input::LAST_TIME;
use crate::transform::{LANES, Lane, POINT};
use crate::transport::Transport;

/// A run stops when the wind passes this many times its initial maximum plus [`WIND_MARGIN`].
pub(super) const WIND_GROWTH: f64 = 5.0;
pub(super) const WIND_MARGIN: f64 = 300.0;

/// Spectral coefficients of `f = 2 Omega (- cos(lon) cos(lat) sin(alpha) + sin(lat) cos(alpha))`
/// that this rank has: `c_10 = 2 Omega cos(alpha) sqrt(2/3)`, `c_11 = - Omega sin(alpha)
/// sqrt(4/3)`.
pub(super) fn coriolis(
    layout: &SpectralLayout,
    problem: &Problem,
    case: Option<&dyn Case>,
) -> Vec<(usize, Complex64)> {
    let alpha = case.map_or(0.0, Case::coriolis_tilt);
    let omega = problem.planet.omega;
    let mut found = Vec::new();
    for (unit, range) in layout.iter() {
        match unit.m {
            0 => {
                let c = 2.0 * omega * alpha.cos() * (2.0f64 / 3.0).sqrt();
                found.push((range.start + 1, Complex64::new(c, 0.0)));
            }
            1 if alpha != 0.0 => {
                let c = -omega * alpha.sin() * (4.0f64 / 3.0).sqrt();
                found.push((range.start, Complex64::new(c, 0.0)));
            }
            _ => {}
        }
    }
    found
}

/// `1/(1 - mu^2)` of the latitude pairs of a grid, by group; 0 in padding.
pub(super) fn secant2(shape: &GridShape, gauss: &GaussNodes) -> Vec<Lane> {
    let mut result = vec![[0.0; LANES]; shape.groups];
    for (own, pair) in shape.pairs.clone().enumerate() {
        result[own / LANES][own % LANES] = (Dd::from(1.0) / cos2(gauss.mu[pair])).to_f64();
    }
    result
}

impl<T: Transport> Model<T> {
    /// Makes the initial state, `Phibar`, and the first diagnostics.
    pub(super) fn start(&mut self) -> Result<(), SolverError> {
        self.surface_from_case()?;
        if let Mountain::File { path, variable } = self.problem.mountain.clone() {
            let surface = from_file::surface(self, &path, variable.as_deref())?;
            let gravity = self.problem.planet.gravity;
            for (to, from) in self.surface_geopotential.iter_mut().zip(surface) {
                *to = from * gravity;
            }
        }
        match self.problem.file.clone() {
            Some(file) => {
                from_file::state(self, &file)?;
                if file.height == HeightFrom::Balanced {
                    self.balance()?;
                } else {
                    // The file's geopotential is that of the free surface.
                    let pairs = self.now.phi.iter_mut().zip(&self.surface_geopotential);
                    pairs.for_each(|(phi, ground)| *phi -= ground);
                    self.remove_mean()?;
                }
            }
            None => {
                self.state_from_case()?;
                self.remove_mean()?;
            }
        }
        self.old.copy_from(&self.now);
        self.surface_to_grid()?;
        let (wind, depth, finite) = self.initial_extremes()?;
        if !finite {
            return Err(SolverError::Start(
                "the initial state has a value that is not a finite number".to_owned(),
            ));
        }
        if depth <= 0.0 && !self.advection_only {
            return Err(SolverError::Start(format!(
                "the initial height is not above the surface everywhere: the smallest depth \
                 h - h_s is {depth:.3} m, and it must be positive"
            )));
        }
        self.max_wind = wind;
        self.load_reference()?;
        self.wind_bound = WIND_GROWTH * wind + WIND_MARGIN;
        Ok(())
    }

    /// The state of `problem.reference`; in williamson-7, without it, the last of its own file.
    fn load_reference(&mut self) -> Result<(), SolverError> {
        let problem = &self.problem;
        let own = (problem.case == CaseName::Williamson7)
            .then(|| problem.file.clone())
            .flatten();
        let named = problem.reference.clone().or_else(|| {
            own.map(|file| ReferenceFile {
                path: file.path,
                time_index: None,
            })
        });
        let (Some(reference), names) = (named, problem.file.clone()) else {
            return Ok(());
        };
        let file = StateFile {
            path: reference.path,
            time_index: reference.time_index.unwrap_or(LAST_TIME),
            height: HeightFrom::Given,
            names: names.map(|file| file.names).unwrap_or_default(),
        };
        let key = if problem.reference.is_some() {
            "problem.reference.path"
        } else {
            "problem.file.path"
        };
        let loaded = from_file::load(self, key, &file)?;
        self.reference = Some(Reference::new(loaded, self.file_time));
        Ok(())
    }

    /// Samples the case's surface on the grid and projects it, as STSWM does.
    fn surface_from_case(&mut self) -> Result<(), SolverError> {
        let Some(case) = self.case.take() else {
            return Ok(());
        };
        let gravity = self.problem.planet.gravity;
        self.sample(|point, values, _| values[0] = gravity * case.surface(point));
        self.case = Some(case);
        let flux = self.analyse()?;
        let from = &flux[0];
        for (_, range) in self.pencil.layout().iter() {
            let inside = range.start..range.end - 1;
            self.surface_geopotential[inside.clone()].copy_from_slice(&from[inside]);
        }
        Ok(())
    }

    /// Samples the case's wind and height on the grid and projects them.
    fn state_from_case(&mut self) -> Result<(), SolverError> {
        let Some(case) = self.case.take() else {
            return Ok(());
        };
        let gravity = self.problem.planet.gravity;
        self.sample(|point, values, secant2| {
            let state = case.state(point, 0.0);
            let over_cos = point.cos_lat * secant2;
            values[0] = state.u * over_cos;
            values[1] = state.v * over_cos;
            values[2] = gravity * state.h;
        });
        self.case = Some(case);
        let [u, v, height, ..] = &self.analyse()?;
        let layout = self.pencil.layout();
        for (_, range) in layout.iter() {
            for at in range.start..range.end - 1 {
                self.now.phi[at] = height[at] - self.surface_geopotential[at];
            }
        }
        let [div, curl] = self.operators.divergence_and_curl(layout, u, v);
        (self.now.delta, self.now.zeta) = (div, curl);
        Ok(())
    }

    /// Fills the grid with `values(point, fields, 1/(1 - mu^2))`, the same on every level.
    fn sample(&mut self, values: impl Fn(&Point, &mut [f64; FORWARD_FIELDS], f64)) {
        let shape = &self.shape;
        let (gauss, nlon) = (self.pencil.gauss(), self.problem.nlon);
        let length = shape.longitudes.len() * POINT;
        let per_level = shape.groups * FORWARD_FIELDS * length;
        let grid = &mut self.work.grid_to;
        for (own, pair) in shape.pairs.clone().enumerate() {
            let mu = gauss.mu[pair];
            let cosine = cos2(mu).sqrt().to_f64();
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let sine = sign * mu.to_f64();
                let mut row = Point::new(sine.atan2(cosine), 0.0);
                (row.sin_lat, row.cos_lat) = (sine, cosine);
                for (i, longitude) in shape.longitudes.clone().enumerate() {
                    let lon = 2.0 * std::f64::consts::PI * longitude as f64 / nlon as f64;
                    let mut fields = [0.0; FORWARD_FIELDS];
                    values(
                        &row.at_longitude(lon),
                        &mut fields,
                        self.secant2[own / LANES][own % LANES],
                    );
                    for (field, value) in fields.into_iter().enumerate() {
                        let line = (own / LANES * FORWARD_FIELDS + field) * length;
                        grid[line + i * POINT + side * LANES + own % LANES] = value;
                    }
                }
            }
        }
        if per_level > 0 {
            let (first, others) = grid.split_at_mut(per_level);
            others
                .chunks_exact_mut(per_level)
                .for_each(|level| level.copy_from_slice(first));
        }
    }

    /// Transforms the fields of the grid that are to go back: their coefficients.
    pub(super) fn analyse(&mut self) -> Result<[Vec<Complex64>; FORWARD_FIELDS], SolverError> {
        let len = self.pencil.layout().len();
        let mut fields: [Vec<Complex64>; FORWARD_FIELDS] =
            std::array::from_fn(|_| vec![Complex64::default(); len]);
        self.pencil.forward(
            &mut self.work.grid_to,
            fields.each_mut().map(Vec::as_mut_slice),
            &mut self.phases,
        )?;
        Ok(fields)
    }

    /// `Phi` from the nonlinear balance equation, `d(delta)/dt = 0`, with the mean depth of
    /// `problem.phibar`.
    fn balance(&mut self) -> Result<(), SolverError> {
        let Some(phibar) = self.problem.phibar else {
            return Err(SolverError::Start(
                "problem.file.height = \"balanced\" leaves the mean depth open: give \
                 problem.phibar, the mean of g (h - h_s) in m2/s2 (98061.6 for 10 km)"
                    .to_owned(),
            ));
        };
        let now = std::mem::take(&mut self.now);
        let mut delta = vec![Complex64::default(); now.delta.len()];
        let result = self.explicit_tendency(&now, 0.0, |_, _, range, tendency| {
            for (k, at) in (range.start..range.end - 1).enumerate() {
                delta[at] = tendency.at(k)[1];
            }
        });
        self.now = now;
        result?;
        for (at, &l) in self.operators.laplacian.iter().enumerate() {
            self.now.phi[at] = if l > 0.0 {
                -delta[at] / l
            } else {
                Complex64::default()
            };
        }
        for (_, range) in self.pencil.layout().iter() {
            self.now.phi[range.end - 1] = Complex64::default();
        }
        self.phibar = phibar;
        Ok(())
    }

    /// Sets `Phibar`, given or the mean of the initial `g (h - h_s)`, and takes it out of `Phi`.
    fn remove_mean(&mut self) -> Result<(), SolverError> {
        let root2 = std::f64::consts::SQRT_2;
        let means: Vec<usize> = self
            .pencil
            .layout()
            .iter()
            .filter(|(unit, _)| unit.m == 0)
            .map(|(_, range)| range.start)
            .collect();
        let own = self
            .pencil
            .layout()
            .counted()
            .find(|(unit, _)| unit.m == 0 && unit.level == 0)
            .map_or(0.0, |(_, range)| self.now.phi[range.start].re / root2);
        let mean = sum_over_ranks(&self.world, &[Dd::from(own)])?[0];
        self.phibar = self.problem.phibar.unwrap_or(mean);
        for at in means {
            self.now.phi[at] -= self.phibar * root2;
        }
        Ok(())
    }

    /// `g h_s` of level 0 at this rank's points, from its series.
    fn surface_to_grid(&mut self) -> Result<(), SolverError> {
        let zero = vec![Complex64::default(); self.pencil.layout().len()];
        self.pencil.inverse(
            [&self.surface_geopotential, &zero, &zero, &zero],
            &mut self.work.grid_from,
            &mut self.phases,
        )?;
        let length = self.shape.longitudes.len() * POINT;
        self.surface_grid = (0..self.shape.groups)
            .flat_map(|group| {
                let start = group * crate::pencil::INVERSE_FIELDS * length;
                self.work.grid_from[start..start + length].iter().copied()
            })
            .collect();
        Ok(())
    }

    /// Largest wind, smallest depth, and whether everything is finite, over all ranks.
    fn initial_extremes(&mut self) -> Result<(f64, f64, bool), SolverError> {
        let now = std::mem::take(&mut self.now);
        let result = self.fields_to_grid(&now);
        self.now = now;
        result?;
        let (mut wind, mut depth, mut finite) = (0.0f64, f64::INFINITY, true);
        let gravity = self.problem.planet.gravity;
        self.each_point(&self.work.grid_from, |point| {
            finite &= point.zeta.is_finite() && point.phi.is_finite();
            finite &= point.u.is_finite() && point.v.is_finite();
            wind = wind.max(point.u.hypot(point.v));
            depth = depth.min((point.phi + self.phibar) / gravity);
        });
        let flag = if finite { 0.0 } else { 1.0 };
        let all = max_over_ranks(&self.world, &[wind, -depth, flag])?;
        Ok((all[0], -all[1], all[2] == 0.0))
    }
}
