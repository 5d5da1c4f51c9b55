//! Forcing that turns rigidly about the planet's axis (Williamson case 4).

use num_complex::Complex64;

use super::state::State;
use crate::grid::gauss::GaussNodes;
use crate::pencil::SpectralLayout;
use crate::problem::cases::{Forcing, Point};
use crate::problem::planet::Planet;
use crate::spectral::project::Projection;

/// Latitudes of the grid on which the forcing is projected, at least: the pattern is smooth to
/// rounding at T85, so that its coefficients carry no aliasing whatever the run's truncation.
const LEAST_LATITUDES: usize = 256;

/// Spectral forcing at t = 0; each coefficient turns by `exp(- i m rate t)`.
#[derive(Clone, Debug)]
pub(super) struct SpectralForcing {
    at_start: State,
    rate: f64,
}

impl SpectralForcing {
    /// Projects `forcing` for the wavenumbers of this rank. Every rank goes through the rows of
    /// the whole globe, one at a time.
    pub(super) fn new(layout: &SpectralLayout, forcing: &dyn Forcing, planet: &Planet, nlat: usize) -> Self {
        let nlat = nlat.max(LEAST_LATITUDES);
        let nlon = 2 * nlat;
        let gauss = GaussNodes::new(nlat);
        let latitudes = gauss.all_latitudes();
        let weights: Vec<f64> =
            gauss.weight.iter().chain(gauss.weight.iter().rev()).copied().collect();
        let rows: [Vec<Vec<f64>>; 3] = {
            let mut rows = [const { Vec::new() }; 3];
            for &lat in &latitudes {
                let start = Point::new(lat, 0.0);
                let mut row = [const { Vec::new() }; 3];
                for i in 0..nlon {
                    let lon = 2.0 * std::f64::consts::PI * i as f64 / nlon as f64;
                    let at = forcing.at(&start.at_longitude(lon));
                    row[0].push(at.fu);
                    row[1].push(at.fv);
                    row[2].push(at.fh * planet.gravity);
                }
                for (rows, row) in rows.iter_mut().zip(row) {
                    rows.push(row);
                }
            }
            rows
        };
        let waves: Vec<usize> = layout.waves().map(|(m, _)| m).collect();
        let projection =
            Projection::new(*layout.truncation(), &waves, &gauss.all_mu(), &weights, nlon, 0.0);
        let (zeta, delta) =
            projection.project_vector(planet.radius, |j| &rows[0][j], |j| &rows[1][j]);
        let phi = projection.project_scalar(0, |j| &rows[2][j]);
        let mut at_start = State::zeros(layout.len());
        for (wave, (_, units)) in layout.waves().enumerate() {
            for unit in units {
                let range = layout.range(unit);
                let inside = range.start..range.end - 1;
                at_start.zeta[inside.clone()].copy_from_slice(&zeta[wave]);
                at_start.delta[inside.clone()].copy_from_slice(&delta[wave]);
                at_start.phi[inside].copy_from_slice(&phi[wave]);
            }
        }
        Self { at_start, rate: forcing.angular_speed() }
    }

    /// Adds the forcing at `seconds`.
    pub(super) fn add(&self, layout: &SpectralLayout, seconds: f64, tendency: &mut State) {
        for (unit, range) in layout.iter() {
            let turn = Complex64::cis(-(unit.m as f64) * self.rate * seconds);
            for at in range {
                tendency.zeta[at] += self.at_start.zeta[at] * turn;
                tendency.delta[at] += self.at_start.delta[at] * turn;
                tendency.phi[at] += self.at_start.phi[at] * turn;
            }
        }
    }
}
