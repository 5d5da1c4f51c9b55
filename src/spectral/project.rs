//! Spectral coefficients of fields given as rows on any grid with quadrature weights.
//!
//! This is how a start from a file gets into spectral space: once, for the zonal wavenumbers of
//! one rank, in plain loops. The model's own transforms are elsewhere.

use std::sync::Arc;

use num_complex::Complex64;
use realfft::{RealFftPlanner, RealToComplex};

use super::legendre::{column, eps};
use super::truncation::Truncation;
use crate::dd::Dd;

/// Projects rows onto the spherical harmonics of a truncation.
///
/// `c_nm = sum_j w_j F_m(mu_j) P_nm(mu_j)`, `F_m` the Fourier coefficient of row `j`. Coefficients
/// beyond the limits of [`Projection::with_limits`] are zero.
pub struct Projection {
    truncation: Truncation,
    orders: Vec<usize>,
    mu: Vec<f64>,
    weights: Vec<f64>,
    nlon: usize,
    lon0: f64,
    degree: usize,
    order: usize,
    fft: Arc<dyn RealToComplex<f64>>,
}

impl std::fmt::Debug for Projection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Projection")
            .field("truncation", &self.truncation)
            .field("orders", &self.orders)
            .field("nlat", &self.mu.len())
            .field("nlon", &self.nlon)
            .finish_non_exhaustive()
    }
}

/// Fills in row `j` of a field.
type FillRow<'a, E> = dyn FnMut(usize, usize, &mut [f64]) -> Result<(), E> + 'a;

/// Row `j` times Legendre functions, for one zonal wavenumber.
type Accumulate<'a> = dyn FnMut(usize, usize, &[Complex64]) + 'a;

impl Projection {
    /// A projection onto the zonal wavenumbers `orders` from rows at `mu = sin(latitude)` with
    /// quadrature `weights` (sum 2) and `nlon` longitudes `lon0 + 2 pi i / nlon`, radians.
    pub fn new(
        truncation: Truncation,
        orders: &[usize],
        mu: &[f64],
        weights: &[f64],
        nlon: usize,
        lon0: f64,
    ) -> Self {
        Self {
            truncation,
            orders: orders.to_vec(),
            mu: mu.to_vec(),
            weights: weights.to_vec(),
            nlon,
            lon0,
            degree: usize::MAX,
            order: (nlon - 1) / 2,
            fft: RealFftPlanner::new().plan_fft_forward(nlon),
        }
    }

    /// Coefficients of degrees above `degree` and zonal wavenumbers above `order` become zero:
    /// the grid does not resolve them.
    #[must_use]
    pub fn with_limits(mut self, degree: usize, order: usize) -> Self {
        self.degree = degree;
        self.order = order.min((self.nlon - 1) / 2);
        self
    }

    /// What of the truncation the grid cannot fill, in words for the user; `None`: nothing.
    pub fn shortfall(&self) -> Option<String> {
        let (k, m) = (self.truncation.k_max(), self.truncation.m_max());
        if k <= self.degree && m <= self.order {
            return None;
        }
        Some(format!(
            "the file's grid of {} x {} points supports degrees up to {} and zonal wavenumbers up \
             to {}; the coefficients of {} beyond are zero",
            self.mu.len(),
            self.nlon,
            self.degree.min(k),
            self.order,
            self.truncation
        ))
    }

    /// Coefficients of a scalar field: for each of the orders, `n = m ..= n_top(m) + extra`.
    ///
    /// `row(j, values)` fills in the row at `mu[j]`; it is called once for each `j`, in order, so
    /// that rows may come from another rank. Exact, to rounding, for fields within the limits of
    /// the grid. Cost: nlat real transforms and nlat Legendre columns per order.
    ///
    /// # Errors
    /// Those of `row`.
    pub fn project_scalar<E>(
        &self,
        extra: usize,
        mut row: impl FnMut(usize, &mut [f64]) -> Result<(), E>,
    ) -> Result<Vec<Vec<Complex64>>, E> {
        let mut out = self.zeros(extra);
        self.each(
            1,
            &mut |_, j, values| row(j, values),
            &mut |j, k, values| {
                let m = self.orders[k];
                let Some(top) = self.top(m, extra) else {
                    return;
                };
                let p = column(m, top, Dd::from(self.mu[j]));
                let value = values[0] * self.weights[j];
                for (c, p) in out[k].iter_mut().zip(&p) {
                    *c += value * *p;
                }
            },
        )?;
        Ok(out)
    }

    /// Vorticity and divergence (1/s) of a wind (m/s) given as rows, on a sphere of `radius` m;
    /// shaped as in [`Projection::project_scalar`] with `extra` 0. `row(0, j, values)` fills in
    /// u, `row(1, j, values)` v, once for each `j`, in order.
    ///
    /// With u_m, v_m the Fourier coefficients of the wind, and integrating by parts in mu,
    /// `zeta_n = (1/a) sum_j w_j (i m v_m P_n + u_m H_n) / cos(lat)` and
    /// `delta_n = (1/a) sum_j w_j (i m u_m P_n - v_m H_n) / cos(lat)`,
    /// `H_n = (1 - mu^2) dP_n/dmu = (n + 1) eps_n P_{n-1} - n eps_{n+1} P_{n+1}`
    /// (Hack & Jakob 1992, NCAR/TN-343, section 4). For a wind of degree N the summand is a
    /// polynomial in mu of degree N + n, so it is as exact as a scalar. At a pole only m = 1 has a
    /// share, and its limit is used: `P_n / cos -> Q`, `H_n / cos -> -mu Q`, with
    /// `Q = mu^(n-1) sqrt((2n + 1) n (n + 1) / 8)`.
    ///
    /// # Errors
    /// Those of `row`.
    #[allow(clippy::type_complexity)] // two lists of columns, as the text says
    pub fn project_vector<E>(
        &self,
        radius: f64,
        mut row: impl FnMut(usize, usize, &mut [f64]) -> Result<(), E>,
    ) -> Result<(Vec<Vec<Complex64>>, Vec<Vec<Complex64>>), E> {
        let (mut zeta, mut delta) = (self.zeros(0), self.zeros(0));
        self.each(2, &mut row, &mut |j, k, values| {
            let m = self.orders[k];
            let Some(top) = self.top(m, 0) else { return };
            let Some((p, h)) = over_cosine(m, top, self.mu[j]) else {
                return;
            };
            let weight = self.weights[j] / radius;
            let (u, v) = (values[0] * weight, values[1] * weight);
            let im = Complex64::new(0.0, m as f64);
            for i in 0..p.len() {
                zeta[k][i] += im * v * p[i] + u * h[i];
                delta[k][i] += im * u * p[i] - v * h[i];
            }
        })?;
        Ok((zeta, delta))
    }

    fn zeros(&self, extra: usize) -> Vec<Vec<Complex64>> {
        let row = |&m: &usize| vec![Complex64::ZERO; self.truncation.degrees(m) + extra];
        self.orders.iter().map(row).collect()
    }

    /// The largest degree to fill at `m`, `None` when there is none.
    fn top(&self, m: usize, extra: usize) -> Option<usize> {
        let top = (self.truncation.n_top(m) + extra).min(self.degree);
        (m <= self.order && m <= top).then_some(top)
    }

    /// Transforms the rows of one or two fields and hands on the Fourier coefficients, row by row.
    fn each<E>(
        &self,
        fields: usize,
        row: &mut FillRow<'_, E>,
        accumulate: &mut Accumulate<'_>,
    ) -> Result<(), E> {
        let mut input = self.fft.make_input_vec();
        let mut output = vec![self.fft.make_output_vec(); fields];
        let mut scratch = self.fft.make_scratch_vec();
        let mut values = vec![Complex64::ZERO; fields];
        for j in 0..self.mu.len() {
            for (field, spectrum) in output.iter_mut().enumerate() {
                row(field, j, &mut input)?;
                let done = self
                    .fft
                    .process_with_scratch(&mut input, spectrum, &mut scratch);
                debug_assert!(done.is_ok(), "all lengths come from the plan");
            }
            let resolved = self
                .orders
                .iter()
                .enumerate()
                .filter(|(_, m)| **m <= self.order);
            for (k, &m) in resolved {
                let turn = Complex64::cis(-(m as f64) * self.lon0) / self.nlon as f64;
                for (value, spectrum) in values.iter_mut().zip(&output) {
                    *value = spectrum[m] * turn;
                }
                accumulate(j, k, &values);
            }
        }
        Ok(())
    }
}

/// `P_n / cos(lat)` and `H_n / cos(lat)` for `n = m ..= top`; `None` where both are zero.
fn over_cosine(m: usize, top: usize, mu: f64) -> Option<(Vec<f64>, Vec<f64>)> {
    if mu.abs() >= 1.0 {
        if m != 1 {
            return None;
        }
        let limit = |n: usize| {
            let sign = if n.is_multiple_of(2) {
                mu.signum()
            } else {
                1.0
            };
            let n = n as f64;
            sign * ((2.0 * n + 1.0) * n * (n + 1.0) / 8.0).sqrt()
        };
        let p: Vec<f64> = (1..=top).map(limit).collect();
        let h = p.iter().map(|q| -mu * q).collect();
        return Some((p, h));
    }
    let p = column(m, top + 1, Dd::from(mu));
    let cosine = ((1.0 - mu) * (1.0 + mu)).sqrt();
    let h = (m..=top).map(|n| {
        let i = n - m;
        let below = if i == 0 {
            0.0
        } else {
            (n as f64 + 1.0) * eps(n, m) * p[i - 1]
        };
        (below - n as f64 * eps(n + 1, m) * p[i + 1]) / cosine
    });
    let h = h.collect();
    let p = p[..=top - m].iter().map(|p| p / cosine).collect();
    Some((p, h))
}
