//! Norms, extremes and means of fields on a Gaussian grid.

use ndarray::Array2;

use crate::grid::gauss::GaussNodes;
use crate::problem::planet::Planet;
use crate::report::netcdf::LevelFields;

/// A grid to integrate over.
pub struct Quadrature {
    /// Sine of latitude by row.
    mu: Vec<f64>,
    /// Weight of a point by row; all points sum to 1.
    weights: Vec<f64>,
}

impl Quadrature {
    /// The Gaussian grid of `nlat` rows, north to south, and `nlon` columns.
    pub fn new(nlat: usize, nlon: usize) -> Self {
        let gauss = GaussNodes::new(nlat);
        let north = gauss.weight.iter().map(|w| 0.5 * w / nlon as f64);
        let south: Vec<f64> = north.clone().rev().collect();
        Self {
            mu: gauss.all_mu(),
            weights: north.chain(south).collect(),
        }
    }

    /// Mean over the sphere of a function of the point `[row, column]`.
    fn mean(&self, nlon: usize, value: impl Fn([usize; 2]) -> f64) -> f64 {
        let rows = self.weights.iter().enumerate();
        rows.map(|(j, w)| w * (0..nlon).map(|i| value([j, i])).sum::<f64>())
            .sum()
    }

    /// `sqrt(I((a - b)^2) / I(b^2))`.
    pub fn l2(&self, a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        let nlon = a.ncols();
        let error = self.mean(nlon, |p| (a[p] - b[p]).powi(2));
        (error / self.mean(nlon, |p| b[p] * b[p])).sqrt()
    }

    /// The same of the vector wind.
    pub fn l2_wind(&self, a: &LevelFields, b: &LevelFields) -> f64 {
        let nlon = a.u.ncols();
        let error = self.mean(nlon, |p| {
            (a.u[p] - b.u[p]).powi(2) + (a.v[p] - b.v[p]).powi(2)
        });
        (error / self.mean(nlon, |p| b.u[p].powi(2) + b.v[p].powi(2))).sqrt()
    }

    /// Means of depth (m), energy (m3/s2) and potential enstrophy (1/(m s2)), f = 2 omega mu.
    pub fn invariants(
        &self,
        fields: &LevelFields,
        surface: Option<&Array2<f64>>,
        planet: &Planet,
    ) -> [f64; 3] {
        let nlon = fields.h.ncols();
        let ground = |p: [usize; 2]| surface.map_or(0.0, |surface| surface[p]);
        let depth = |p: [usize; 2]| fields.h[p] - ground(p);
        let energy = |p: [usize; 2]| {
            let wind2 = fields.u[p].powi(2) + fields.v[p].powi(2);
            let heights = fields.h[p].powi(2) - ground(p).powi(2);
            0.5 * (depth(p) * wind2 + planet.gravity * heights)
        };
        let enstrophy = |p: [usize; 2]| {
            let absolute = fields.zeta[p] + 2.0 * planet.omega * self.mu[p[0]];
            0.5 * absolute * absolute / depth(p)
        };
        [
            self.mean(nlon, depth),
            self.mean(nlon, energy),
            self.mean(nlon, enstrophy),
        ]
    }

    /// Largest potential vorticity (zeta + f)/h in the northern hemisphere, 1/(m s).
    pub fn largest_potential_vorticity(&self, fields: &LevelFields, omega: f64) -> f64 {
        let values = fields
            .zeta
            .indexed_iter()
            .map(|((j, i), zeta)| (zeta + 2.0 * omega * self.mu[j]) / fields.h[[j, i]]);
        values.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Smallest and largest value.
pub fn extremes(field: &Array2<f64>) -> (f64, f64) {
    field
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        })
}

/// Largest absolute value.
pub fn largest(field: &Array2<f64>) -> f64 {
    let (low, high) = extremes(field);
    high.max(-low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_over_the_sphere() {
        let (nlat, nlon) = (16, 4);
        let grid = Quadrature::new(nlat, nlon);
        let mu = GaussNodes::new(nlat).all_mu();
        let field = Array2::from_shape_fn((nlat, nlon), |(j, _)| mu[j]);
        assert!((grid.mean(nlon, |p| field[p] * field[p]) - 1.0 / 3.0).abs() < 1e-15);
        let twice = field.mapv(|value| 2.0 * value);
        assert!((grid.l2(&twice, &field) - 1.0).abs() < 1e-14);
        let (low, high) = extremes(&field);
        assert!(low == -high && high == largest(&field) && high < 1.0);
    }
}
