//! Derivatives in spectral space: wind from vorticity and divergence, divergence and curl of
//! products, the Laplacian.

use std::ops::Range;

use num_complex::Complex64;

use crate::pencil::SpectralLayout;
use crate::spectral::legendre::eps;

/// Constants of every coefficient of this rank, `[unit][n - m]`, with the degree beyond the
/// truncation.
#[derive(Clone, Debug)]
pub(crate) struct Operators {
    /// `eps_n^m`.
    eps: Vec<f64>,
    /// `- a^2 / (n (n + 1))`, 0 at n = 0: from vorticity to stream function.
    inverse_laplacian: Vec<f64>,
    /// `n (n + 1) / a^2`.
    pub laplacian: Vec<f64>,
    per_radius: f64,
}

impl Operators {
    pub(crate) fn new(layout: &SpectralLayout, radius: f64) -> Self {
        let mut result = Self {
            eps: Vec::with_capacity(layout.len()),
            inverse_laplacian: Vec::with_capacity(layout.len()),
            laplacian: Vec::with_capacity(layout.len()),
            per_radius: 1.0 / radius,
        };
        for (unit, range) in layout.iter() {
            for n in unit.m..unit.m + range.len() {
                let nn = (n * (n + 1)) as f64;
                result.eps.push(eps(n, unit.m));
                result.laplacian.push(nn / (radius * radius));
                result
                    .inverse_laplacian
                    .push(if n == 0 { 0.0 } else { -radius * radius / nn });
            }
        }
        result
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        3 * size_of_val(self.eps.as_slice())
    }

    /// `U = (1/a) [d(chi)/d(lambda) - (1 - mu^2) d(psi)/d(mu)]` and
    /// `V = (1/a) [d(psi)/d(lambda) + (1 - mu^2) d(chi)/d(mu)]`, where the Laplacians of `psi`
    /// and `chi` are `zeta` and `delta` (Hack & Jakob 1992, section 3.3).
    pub(crate) fn wind(
        &self,
        layout: &SpectralLayout,
        zeta: &[Complex64],
        delta: &[Complex64],
    ) -> [Vec<Complex64>; 2] {
        let mut wind = [(); 2].map(|()| vec![Complex64::default(); layout.len()]);
        let [u, v] = &mut wind;
        for (unit, range) in layout.iter() {
            let (zeta, delta) = (&zeta[range.clone()], &delta[range.clone()]);
            let (u, v) = (&mut u[range.clone()], &mut v[range.clone()]);
            self.wind_of_unit(unit.m, range, zeta, delta, u, v);
        }
        wind
    }

    /// The same of the unit at `range`, from and to its own coefficients.
    pub(crate) fn wind_of_unit(
        &self,
        m: usize,
        range: Range<usize>,
        zeta: &[Complex64],
        delta: &[Complex64],
        u: &mut [Complex64],
        v: &mut [Complex64],
    ) {
        let len = range.len();
        let (eps, inverse) = (&self.eps[range.clone()], &self.inverse_laplacian[range]);
        let order = m as f64 * self.per_radius;
        for k in 0..len {
            let n = (m + k) as f64;
            let (mut psi_mu, mut chi_mu) = (Complex64::default(), Complex64::default());
            if k + 1 < len {
                let factor = (n + 2.0) * eps[k + 1] * inverse[k + 1];
                psi_mu += zeta[k + 1] * factor;
                chi_mu += delta[k + 1] * factor;
            }
            if k > 0 {
                let factor = (n - 1.0) * eps[k] * inverse[k - 1];
                psi_mu -= zeta[k - 1] * factor;
                chi_mu -= delta[k - 1] * factor;
            }
            let (psi, chi) = (zeta[k] * inverse[k], delta[k] * inverse[k]);
            u[k] = times_i(chi) * order - psi_mu * self.per_radius;
            v[k] = times_i(psi) * order + chi_mu * self.per_radius;
        }
    }

    /// `div_s(A, B)` and `curl_s(A, B)` of the unit at `range` from its coefficients `a`, `b` of
    /// `A/(1 - mu^2)` and `B/(1 - mu^2)`: `each(k, div, curl)` for every degree `m + k` of the
    /// truncation.
    #[inline]
    pub(crate) fn divergence_and_curl(
        &self,
        m: usize,
        range: Range<usize>,
        a: &[Complex64],
        b: &[Complex64],
        mut each: impl FnMut(usize, Complex64, Complex64),
    ) {
        let eps = &self.eps[range];
        let order = m as f64 * self.per_radius;
        for k in 0..a.len() - 1 {
            let n = (m + k) as f64;
            let up = n * eps[k + 1] * self.per_radius;
            let (mut div_mu, mut curl_mu) = (b[k + 1] * up, a[k + 1] * -up);
            if k > 0 {
                let down = (n + 1.0) * eps[k] * self.per_radius;
                div_mu -= b[k - 1] * down;
                curl_mu += a[k - 1] * down;
            }
            each(
                k,
                times_i(a[k]) * order + div_mu,
                times_i(b[k]) * order + curl_mu,
            );
        }
    }
}

/// `i z`.
#[inline]
fn times_i(z: Complex64) -> Complex64 {
    Complex64::new(-z.im, z.re)
}
