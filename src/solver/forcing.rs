//! Forcing that turns rigidly about the planet's axis (Williamson case 4).

use std::convert::Infallible;
use std::ops::Range;

use num_complex::Complex64;

use super::state::State;
use crate::grid::gauss::GaussNodes;
use crate::pencil::SpectralLayout;
use crate::problem::cases::{Forcing, ForcingAt, Point};
use crate::problem::planet::Planet;
use crate::spectral::column::BEFORE;
use crate::spectral::project::Projection;

/// The grid on which the forcing is projected, and its degrees: the pattern is smooth to rounding
/// at T85, so its coefficients carry no aliasing, and those beyond are zero.
const NLAT: usize = 256;
const NLON: usize = 512;
const DEGREES: usize = 170;

/// Spectral forcing at t = 0; each coefficient turns by `exp(- i m rate t)`.
#[derive(Clone, Debug)]
pub(super) struct SpectralForcing {
    at_start: State,
    rate: f64,
}

impl SpectralForcing {
    /// Projects `forcing` for the wavenumbers of this rank.
    pub(super) fn new(layout: &SpectralLayout, forcing: &dyn Forcing, planet: &Planet) -> Self {
        let gauss = GaussNodes::new(NLAT);
        let latitudes = gauss.all_latitudes();
        let weights: Vec<f64> = gauss
            .weight
            .iter()
            .chain(gauss.weight.iter().rev())
            .copied()
            .collect();
        let row = |j: usize, values: &mut [f64], pick: fn(&ForcingAt) -> f64| {
            let start = Point::new(latitudes[j], 0.0);
            for (i, value) in values.iter_mut().enumerate() {
                let lon = 2.0 * std::f64::consts::PI * i as f64 / NLON as f64;
                *value = pick(&forcing.at(&start.at_longitude(lon)));
            }
            Ok::<(), Infallible>(())
        };
        let waves: Vec<usize> = layout.waves().map(|(m, _)| m).collect();
        let truncation = *layout.truncation();
        let projection = Projection::new(truncation, &waves, &gauss.all_mu(), &weights, NLON, 0.0)
            .with_limits(DEGREES, DEGREES);
        let Ok((zeta, delta)) = projection.project_vector(planet.radius, |field, j, values| {
            row(j, values, if field == 0 { |at| at.fu } else { |at| at.fv })
        });
        let Ok(height) = projection.project_scalar(0, |j, values| row(j, values, |at| at.fh));
        let mut at_start = State::zeros(layout.len());
        for (wave, (_, units)) in layout.waves().enumerate() {
            for unit in units {
                let range = layout.range(unit);
                let inside = range.start..range.end - 1;
                at_start.zeta[inside.clone()].copy_from_slice(&zeta[wave]);
                at_start.delta[inside.clone()].copy_from_slice(&delta[wave]);
                for (phi, h) in at_start.phi[inside].iter_mut().zip(&height[wave]) {
                    *phi = h * planet.gravity;
                }
            }
        }
        Self {
            at_start,
            rate: forcing.angular_speed(),
        }
    }

    /// Adds the forcing at `seconds` to the columns of tendencies of the degrees of wavenumber `m` at
    /// `range`.
    pub(super) fn add(
        &self,
        m: usize,
        range: Range<usize>,
        seconds: f64,
        tendency: [&mut [f64]; 3],
    ) {
        let turn = Complex64::cis(-(m as f64) * self.rate * seconds);
        for (to, field) in tendency.into_iter().zip(self.at_start.fields()) {
            let to = to[BEFORE..].as_chunks_mut::<2>().0;
            for ([re, im], forcing) in to.iter_mut().zip(&field[range.clone()]) {
                let forcing = forcing * turn;
                *re += forcing.re;
                *im += forcing.im;
            }
        }
    }
}
