//! Norms, invariants, extremes and the spectrum of a state, and where a run blew up.
//!
//! All of level 0: the levels are copies. Sums are Gauss-weighted and in double-double, so what is
//! printed is the same for every mesh.

use num_complex::Complex64;

use super::from_file::Loaded;
use super::model::{Model, SolverError};
use super::state::State;
use super::sums::{max_over_ranks, sum_over_ranks};
use crate::dd::{Dd, two_product};
use crate::measure::Phase;
use crate::pencil::INVERSE_FIELDS;
use crate::problem::cases::Point;
use crate::problem::planet::DAY;
use crate::report::run::{Advection, DiagnosticsRecord, Norm, Norms};
use crate::transform::{LANES, POINT};
use crate::transport::Transport;

/// Values of level 0 at one grid point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointValues {
    /// Where it stands in a single field of this rank.
    pub index: usize,
    /// Latitude pair from the north, and 0 (north) or 1 (south).
    pub pair: usize,
    pub side: usize,
    /// Longitude index of the globe.
    pub longitude: usize,
    /// Gauss weight over nlon: the weights of all points sum to 2.
    pub weight: f64,
    pub zeta: f64,
    pub phi: f64,
    pub u: f64,
    pub v: f64,
}

/// Global means that an inviscid run conserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invariants {
    /// Depth h - h_s, m.
    pub mass: f64,
    /// `(h - h_s) v^2/2 + g (h^2 - h_s^2)/2`, m3/s2.
    pub energy: f64,
    /// Potential enstrophy `(zeta + f)^2 / (2 (h - h_s))`, 1/(m s2).
    pub enstrophy: f64,
    /// Vorticity, 1/s.
    pub zeta: f64,
    /// Divergence, 1/s.
    pub delta: f64,
    /// Largest wind on the grid, m/s.
    pub max_wind: f64,
}

impl Invariants {
    /// Before anything was diagnosed.
    pub(super) fn unknown() -> Self {
        let nan = f64::NAN;
        Self {
            mass: nan,
            energy: nan,
            enstrophy: nan,
            zeta: nan,
            delta: nan,
            max_wind: nan,
        }
    }
}

/// A state to compare with, and when.
pub(super) struct Reference {
    loaded: Loaded,
    /// Model time of the reference, s; `None`: the end of the run.
    seconds: Option<f64>,
}

impl Reference {
    /// `start`: time in the file that is the start of the run.
    pub(super) fn new(loaded: Loaded, start: Option<f64>) -> Self {
        let seconds = loaded.time.zip(start).map(|(time, start)| time - start);
        Self { loaded, seconds }
    }
}

impl<T: Transport> Model<T> {
    /// Vorticity (relative), `Phi`, U and V of a state onto the grid.
    pub(super) fn fields_to_grid(&mut self, state: &State) -> Result<(), SolverError> {
        let [u, v] = self
            .operators
            .wind(self.pencil.layout(), &state.zeta, &state.delta);
        self.pencil.inverse(
            [&state.zeta, &state.phi, &u, &v],
            &mut self.work.grid_from,
            &mut self.phases,
        )?;
        Ok(())
    }

    /// Visits this rank's grid points of level 0, as [`Self::fields_to_grid`] left them.
    pub(super) fn each_point(&self, grid: &[f64], mut visit: impl FnMut(&PointValues)) {
        let shape = &self.shape;
        let (gauss, nlon) = (self.pencil.gauss(), self.problem.nlon as f64);
        let length = shape.longitudes.len() * POINT;
        for (own, pair) in shape.pairs.clone().enumerate() {
            let (group, lane) = (own / LANES, own % LANES);
            let row = group * INVERSE_FIELDS * length;
            let secant = self.secant2[group][lane].sqrt();
            for side in 0..2 {
                for (i, longitude) in shape.longitudes.clone().enumerate() {
                    let at = i * POINT + side * LANES + lane;
                    let field = |field: usize| grid[row + field * length + at];
                    visit(&PointValues {
                        index: group * length + at,
                        pair,
                        side,
                        longitude,
                        weight: gauss.weight[pair] / nlon,
                        zeta: field(0),
                        phi: field(1),
                        u: field(2) * secant,
                        v: field(3) * secant,
                    });
                }
            }
        }
    }

    /// The point of the sphere of a visited point.
    fn place(&self, point: &PointValues) -> Point {
        let sign = if point.side == 0 { 1.0 } else { -1.0 };
        let mu = self.pencil.gauss().mu[point.pair];
        let cosine = crate::grid::gauss::cos2(mu).sqrt().to_f64();
        let sine = sign * mu.to_f64();
        let lon = 2.0 * std::f64::consts::PI * point.longitude as f64 / self.problem.nlon as f64;
        let mut place = Point::new(sine.atan2(cosine), lon);
        (place.sin_lat, place.cos_lat) = (sine, cosine);
        place
    }

    /// Norms, invariants and spectrum of the newest state. Every rank calls it; all get the same.
    ///
    /// # Errors
    /// A lost rank.
    pub fn diagnose(&mut self, last: bool) -> Result<DiagnosticsRecord, SolverError> {
        let start = self.phases.start();
        let before = self.phases.clone();
        let now = std::mem::take(&mut self.now);
        let result = self.diagnose_state(&now, last);
        self.now = now;
        // The transforms of diagnostics are no part of a time step.
        self.phases = before;
        self.phases.stop(Phase::Diagnostics, start);
        result
    }

    fn diagnose_state(
        &mut self,
        state: &State,
        last: bool,
    ) -> Result<DiagnosticsRecord, SolverError> {
        let truth = self.truth_on_grid(last)?;
        self.fields_to_grid(state)?;
        let now = self.invariants(state)?;
        let initial = *self.initial.get_or_insert(now);
        let relative = |now: f64, then: f64| {
            if then == 0.0 {
                now
            } else {
                (now - then) / then
            }
        };
        let (norms, case1) = match truth {
            Some(truth) => {
                let (norms, case1) = self.norms(&truth)?;
                (Some(norms), case1)
            }
            None => (None, None),
        };
        Ok(DiagnosticsRecord {
            step: self.step,
            day: self.seconds() / DAY,
            norms,
            mass: relative(now.mass, initial.mass),
            energy: relative(now.energy, initial.energy),
            enstrophy: relative(now.enstrophy, initial.enstrophy),
            zeta_mean: now.zeta,
            delta_mean: now.delta,
            max_wind: now.max_wind,
            case1,
            spectrum: self.spectrum(state)?,
        })
    }

    /// The exact or reference state at this rank's points, `[index][h, u, v]`.
    fn truth_on_grid(&mut self, last: bool) -> Result<Option<Vec<[f64; 3]>>, SolverError> {
        let mut values = vec![[0.0; 3]; self.surface_grid.len()];
        if let Some(case) = self.case.as_deref().filter(|case| case.exact()) {
            let seconds = self.seconds();
            self.each_point(&self.work.grid_from, |point| {
                let truth = case.state(&self.place(point), seconds);
                values[point.index] = [truth.h, truth.u, truth.v];
            });
            return Ok(Some(values));
        }
        let Some(reference) = self.reference.take() else {
            return Ok(None);
        };
        let due = reference.seconds.map_or(last, |seconds| {
            (seconds - self.seconds()).abs() < 0.5 * self.time.dt
        });
        let result = if due {
            self.fields_to_grid(&reference.loaded.state)
        } else {
            Ok(())
        };
        self.reference = Some(reference);
        result?;
        if !due {
            return Ok(None);
        }
        let gravity = self.problem.planet.gravity;
        self.each_point(&self.work.grid_from, |point| {
            values[point.index] = [point.phi / gravity, point.u, point.v];
        });
        Ok(Some(values))
    }

    /// The invariants of the state whose fields are on the grid.
    fn invariants(&self, state: &State) -> Result<Invariants, SolverError> {
        let gravity = self.problem.planet.gravity;
        let tilt = self
            .case
            .as_deref()
            .map_or(0.0, |case| case.coriolis_tilt());
        let omega2 = 2.0 * self.problem.planet.omega;
        let mut sums = [Dd::ZERO; 3];
        let mut max_wind = 0.0f64;
        self.each_point(&self.work.grid_from, |point| {
            let place = self.place(point);
            let f =
                omega2 * (place.sin_lat * tilt.cos() - place.cos_lon * place.cos_lat * tilt.sin());
            let depth = (self.phibar + point.phi) / gravity;
            let ground = self.surface_grid[point.index] / gravity;
            let wind2 = point.u * point.u + point.v * point.v;
            let h = depth + ground;
            let energy = 0.5 * (depth * wind2 + gravity * (h * h - ground * ground));
            let vorticity = point.zeta + f;
            // Half the weight: the weights of the sphere sum to 2.
            let weight = 0.5 * point.weight;
            for (sum, value) in
                sums.iter_mut()
                    .zip([depth, energy, 0.5 * vorticity * vorticity / depth])
            {
                *sum = *sum + two_product(weight, value);
            }
            max_wind = if wind2 > max_wind || wind2.is_nan() {
                wind2
            } else {
                max_wind
            };
        });
        let mean = |field: &[Complex64]| {
            let root2 = std::f64::consts::SQRT_2;
            let own = self
                .pencil
                .layout()
                .counted()
                .find(|(unit, _)| unit.m == 0 && unit.level == 0);
            Dd::from(own.map_or(0.0, |(_, range)| field[range.start].re / root2))
        };
        let all = [
            sums[0],
            sums[1],
            sums[2],
            mean(&state.zeta),
            mean(&state.delta),
        ];
        let all = sum_over_ranks(&self.world, &all)?;
        let max_wind = max_over_ranks(&self.world, &[max_wind])?[0].sqrt();
        Ok(Invariants {
            mass: all[0],
            energy: all[1],
            enstrophy: all[2],
            zeta: all[3],
            delta: all[4],
            max_wind,
        })
    }

    /// `l1 = I|x - t| / I|t|`, `l2 = sqrt(I(x - t)^2 / I(t^2))`, `linf = max|x - t| / max|t|` with
    /// I the mean over the sphere, of h and of the wind as a vector (Williamson et al. 1992,
    /// eqs. 82-87); in case 1 also its mean, variance and extremes.
    fn norms(&self, truth: &[[f64; 3]]) -> Result<(Norms, Option<Advection>), SolverError> {
        let gravity = self.problem.planet.gravity;
        let mut sums = [Dd::ZERO; 12];
        let mut largest = [f64::NEG_INFINITY; 8];
        let value = |point: &PointValues| {
            (self.phibar + point.phi + self.surface_grid[point.index]) / gravity
        };
        self.each_point(&self.work.grid_from, |point| {
            let [h, u, v] = truth[point.index];
            let own = value(point);
            let error = own - h;
            let (wind, wind_error) = (u.hypot(v), (point.u - u).hypot(point.v - v));
            let terms = [
                error.abs(),
                h.abs(),
                error * error,
                h * h,
                wind_error,
                wind,
                wind_error * wind_error,
                wind * wind,
                own,
                h,
                own * own,
                1.0,
            ];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum = *sum + two_product(0.5 * point.weight, term);
            }
            let extremes = [error.abs(), h.abs(), wind_error, wind, own, -own, h, -h];
            for (largest, value) in largest.iter_mut().zip(extremes) {
                if value > *largest || value.is_nan() {
                    *largest = value;
                }
            }
        });
        let sums = sum_over_ranks(&self.world, &sums)?;
        let largest = max_over_ranks(&self.world, &largest)?;
        let norm = |at: usize, max: usize| Norm {
            l1: sums[at] / sums[at + 1],
            l2: (sums[at + 2] / sums[at + 3]).sqrt(),
            linf: largest[max] / largest[max + 1],
        };
        let norms = Norms {
            h: norm(0, 0),
            v: (!self.advection_only).then(|| norm(4, 2)),
        };
        if !self.advection_only {
            return Ok((norms, None));
        }
        let (mean, true_mean) = (sums[8], sums[9]);
        let mut variances = [Dd::ZERO; 2];
        self.each_point(&self.work.grid_from, |point| {
            let deviations = [value(point) - mean, truth[point.index][0] - true_mean];
            for (sum, d) in variances.iter_mut().zip(deviations) {
                *sum = *sum + two_product(0.5 * point.weight, d * d);
            }
        });
        let variances = sum_over_ranks(&self.world, &variances)?;
        let range = largest[6] + largest[7];
        let advection = Advection {
            min: (largest[7] - largest[5]) / range,
            max: (largest[4] - largest[6]) / range,
            mean: (mean - true_mean) / true_mean,
            variance: (variances[0] - variances[1]) / variances[1],
        };
        Ok((norms, Some(advection)))
    }

    /// Kinetic energy by degree n, m2/s2, level 0: their sum is the mean of `(u^2 + v^2)/2`.
    fn spectrum(&self, state: &State) -> Result<Vec<f64>, SolverError> {
        let truncation = self.problem.truncation;
        let radius2 = self.problem.planet.radius.powi(2);
        let mut sums = vec![Dd::ZERO; truncation.k_max() + 1];
        for (unit, range) in self
            .pencil
            .layout()
            .counted()
            .filter(|(unit, _)| unit.level == 0)
        {
            let both = if unit.m == 0 { 1.0 } else { 2.0 };
            for (k, at) in range.take(truncation.degrees(unit.m)).enumerate() {
                let n = unit.m + k;
                if n > 0 {
                    let square = state.zeta[at].norm_sqr() + state.delta[at].norm_sqr();
                    let factor = 0.25 * both * radius2 / (n * (n + 1)) as f64;
                    sums[n] = sums[n] + two_product(factor, square);
                }
            }
        }
        Ok(sum_over_ranks(&self.world, &sums)?)
    }

    /// Largest wind of the last evaluation over all ranks, m/s. Every rank calls it.
    ///
    /// # Errors
    /// A lost rank.
    pub fn max_wind(&self) -> Result<f64, SolverError> {
        Ok(max_over_ranks(&self.world, &[self.max_wind])?[0])
    }
}
