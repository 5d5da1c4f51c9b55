//! Spectral coefficients of fields given as rows on any grid with quadrature weights.
//!
//! This is how a start from a file gets into spectral space: once, for the zonal wavenumbers of
//! one rank, in plain loops. The model's own transforms are elsewhere.

use std::sync::Arc;

use num_complex::Complex64;
use realfft::{RealFftPlanner, RealToComplex};

use super::legendre::{DOUBLE_DOUBLE_BELOW, eps, eps_dd, sectoral, sectoral_factor};
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

/// The share of a row, or of two rows at opposite latitudes, in one zonal wavenumber.
struct Share<'a> {
    /// Place of the wavenumber among the orders, and the recurrence of its Legendre functions.
    order: usize,
    recurrence: &'a Recurrence,
    /// `sin(latitude)` and weight of the row.
    mu: f64,
    weight: f64,
    /// Fourier coefficients of each field for functions that are even and odd in `mu`: the sum and
    /// the difference of the two rows; of a row without opposite both are its own.
    even: &'a [Complex64],
    odd: &'a [Complex64],
}

type Accumulate<'a> = dyn FnMut(Share<'_>) + 'a;

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
    /// `row(j, values)` fills in the row at `mu[j]`. It is called once for each `j`, opposite rows
    /// one after the other, in the same order whatever `orders` are: rows may come from another
    /// rank. Exact, to rounding, for fields within the limits of the grid. Cost: nlat real
    /// transforms, and nlat/2 Legendre columns per order.
    ///
    /// # Errors
    /// Those of `row`.
    pub fn project_scalar<E>(
        &self,
        extra: usize,
        mut row: impl FnMut(usize, &mut [f64]) -> Result<(), E>,
    ) -> Result<Vec<Vec<Complex64>>, E> {
        let mut out = self.zeros(extra);
        let mut p = Vec::new();
        self.each(
            (extra, 0),
            1,
            &mut |_, j, values| row(j, values),
            &mut |share| {
                share.recurrence.column(Dd::from(share.mu), &mut p);
                let parts = [share.even[0] * share.weight, share.odd[0] * share.weight];
                for (i, (c, p)) in out[share.order].iter_mut().zip(&p).enumerate() {
                    *c += parts[i % 2] * *p;
                }
            },
        )?;
        Ok(out)
    }

    /// Vorticity and divergence (1/s) of a wind (m/s) given as rows, on a sphere of `radius` m;
    /// shaped as in [`Projection::project_scalar`] with `extra` 0. `row(0, j, values)` fills in u,
    /// `row(1, j, values)` v, in the order of that function.
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
        let (mut p, mut h) = (Vec::new(), Vec::new());
        self.each((0, 1), 2, &mut row, &mut |share| {
            if !share.recurrence.over_cosine(share.mu, &mut p, &mut h) {
                return;
            }
            let weight = share.weight / radius;
            let im = Complex64::new(0.0, share.recurrence.m as f64);
            let (even, odd) = (share.even, share.odd);
            let u = [even[0] * weight, odd[0] * weight];
            let v = [even[1] * weight, odd[1] * weight];
            let (zeta, delta) = (&mut zeta[share.order], &mut delta[share.order]);
            // H_n is even where P_n is odd.
            for (i, (p, h)) in p.iter().zip(&h).enumerate().take(zeta.len()) {
                let (same, other) = (i % 2, 1 - i % 2);
                zeta[i] += im * v[same] * *p + u[other] * *h;
                delta[i] += im * u[same] * *p - v[other] * *h;
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

    /// Transforms the rows and hands on the Fourier coefficients, two opposite rows at a time;
    /// the recurrences reach `beyond` degrees further than what is filled.
    fn each<E>(
        &self,
        (extra, beyond): (usize, usize),
        fields: usize,
        row: &mut FillRow<'_, E>,
        accumulate: &mut Accumulate<'_>,
    ) -> Result<(), E> {
        let mut input = self.fft.make_input_vec();
        let mut scratch = self.fft.make_scratch_vec();
        let mut transform = |field: usize, j: usize, spectrum: &mut [Complex64]| {
            row(field, j, &mut input)?;
            let done = self
                .fft
                .process_with_scratch(&mut input, spectrum, &mut scratch);
            debug_assert!(done.is_ok(), "all lengths come from the plan");
            Ok(())
        };
        let recurrences: Vec<Option<Recurrence>> = self
            .orders
            .iter()
            .map(|&m| Some(Recurrence::new(m, self.top(m, extra)? + beyond)))
            .collect();
        let mut north = vec![self.fft.make_output_vec(); fields];
        let mut south = north.clone();
        let zero = vec![Complex64::ZERO; fields];
        let (mut even, mut odd) = (zero.clone(), zero);
        let nlat = self.mu.len();
        for j in 0..nlat {
            let mirror = self.mirror(j);
            if mirror.is_some_and(|mirror| mirror < j) {
                continue;
            }
            for (field, spectrum) in north.iter_mut().enumerate() {
                transform(field, j, spectrum)?;
            }
            for (field, spectrum) in south.iter_mut().enumerate() {
                match mirror {
                    Some(mirror) => transform(field, mirror, spectrum)?,
                    None => spectrum.fill(Complex64::ZERO),
                }
            }
            for (order, recurrence) in recurrences.iter().enumerate() {
                let Some(recurrence) = recurrence else {
                    continue;
                };
                let m = recurrence.m;
                let turn = Complex64::cis(-(m as f64) * self.lon0) / self.nlon as f64;
                for f in 0..fields {
                    even[f] = (north[f][m] + south[f][m]) * turn;
                    odd[f] = (north[f][m] - south[f][m]) * turn;
                }
                accumulate(Share {
                    order,
                    recurrence,
                    mu: self.mu[j],
                    weight: self.weights[j],
                    even: &even,
                    odd: &odd,
                });
            }
        }
        Ok(())
    }

    /// The row opposite to row `j`, when it is exactly there and another one.
    fn mirror(&self, j: usize) -> Option<usize> {
        let other = self.mu.len() - 1 - j;
        let opposite = self.mu[other].to_bits() == (-self.mu[j]).to_bits();
        let equal = self.weights[other].to_bits() == self.weights[j].to_bits();
        (other != j && opposite && equal).then_some(other)
    }
}

/// The three-term recurrence of `P_nm` for one `m`, its coefficients computed once. As in
/// [`super::legendre::column`], double-double at small `m`, f64 with a scaled start above.
struct Recurrence {
    m: usize,
    top: usize,
    factor: Dd,
    /// `1/eps_n` and `eps_{n-1}/eps_n` for `n = m + 1 ..= top`.
    steps: Steps,
    /// `(n + 1) eps_n` and `n eps_{n+1}` for `n = m ..= top`.
    slopes: Vec<(f64, f64)>,
}

enum Steps {
    Double(Vec<(f64, f64)>),
    DoubleDouble(Vec<(Dd, Dd)>),
}

/// One unit of the exponent of scaled numbers is a factor `2^512`.
const SHRINK: f64 = f64::from_bits((1023 - 512) << 52);

impl Recurrence {
    fn new(m: usize, top: usize) -> Self {
        let steps = if m < DOUBLE_DOUBLE_BELOW {
            let step = |n: usize| {
                let inverse = Dd::from(1.0) / eps_dd(n, m);
                (inverse, eps_dd(n - 1, m) * inverse)
            };
            Steps::DoubleDouble((m + 1..=top).map(step).collect())
        } else {
            let step = |n: usize| (1.0 / eps(n, m), eps(n - 1, m) / eps(n, m));
            Steps::Double((m + 1..=top).map(step).collect())
        };
        let slope = |n: usize| ((n + 1) as f64 * eps(n, m), n as f64 * eps(n + 1, m));
        Self {
            m,
            top,
            factor: sectoral_factor(m),
            steps,
            slopes: (m..=top).map(slope).collect(),
        }
    }

    /// `P_nm(mu)` for `n = m ..= top`.
    fn column(&self, mu: Dd, out: &mut Vec<f64>) {
        out.clear();
        let start = sectoral(self.m, self.factor, mu);
        let mut exponent = start.exponent;
        let scale = |exponent: i32| match exponent {
            0 => 1.0,
            -1 => SHRINK,
            _ => 0.0,
        };
        match &self.steps {
            Steps::Double(steps) => {
                let x = mu.to_f64();
                let (mut p, mut previous) = (start.value.to_f64(), 0.0);
                out.push(p * scale(exponent));
                for (a, b) in steps {
                    (previous, p) = (p, a * x * p - b * previous);
                    if exponent < 0 && p.abs() > 1.0 {
                        (previous, p, exponent) = (previous * SHRINK, p * SHRINK, exponent + 1);
                    }
                    out.push(p * scale(exponent));
                }
            }
            Steps::DoubleDouble(steps) => {
                let (mut p, mut previous) = (start.value, Dd::ZERO);
                out.push(p.to_f64() * scale(exponent));
                for &(a, b) in steps {
                    (previous, p) = (p, a * (mu * p) - b * previous);
                    if exponent < 0 && p.hi.abs() > 1.0 {
                        previous = previous.scale(SHRINK);
                        (p, exponent) = (p.scale(SHRINK), exponent + 1);
                    }
                    out.push(p.to_f64() * scale(exponent));
                }
            }
        }
    }

    /// `P_n / cos(lat)` and `H_n / cos(lat)` for `n = m ..= top - 1`; `false` where all are zero.
    fn over_cosine(&self, mu: f64, p: &mut Vec<f64>, h: &mut Vec<f64>) -> bool {
        h.clear();
        if mu.abs() >= 1.0 {
            let limit = |n: usize| {
                let sign = if n.is_multiple_of(2) {
                    mu.signum()
                } else {
                    1.0
                };
                let n = n as f64;
                sign * ((2.0 * n + 1.0) * n * (n + 1.0) / 8.0).sqrt()
            };
            p.clear();
            p.extend((1..self.top).map(limit));
            h.extend(p.iter().map(|q| -mu * q));
            return self.m == 1;
        }
        self.column(Dd::from(mu), p);
        let inverse = 1.0 / ((1.0 - mu) * (1.0 + mu)).sqrt();
        for i in 0..self.top - self.m {
            let (below, above) = self.slopes[i];
            let before = if i == 0 { 0.0 } else { below * p[i - 1] };
            h.push((before - above * p[i + 1]) * inverse);
        }
        p.truncate(h.len());
        p.iter_mut().for_each(|p| *p *= inverse);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::gauss::GaussNodes;
    use crate::spectral::legendre::column;

    fn project(projection: &Projection, extra: usize, rows: &[Vec<f64>]) -> Vec<Vec<Complex64>> {
        let fill = |j: usize, values: &mut [f64]| {
            values.copy_from_slice(&rows[j]);
            Ok::<(), ()>(())
        };
        projection.project_scalar(extra, fill).unwrap()
    }

    /// A single harmonic comes back as 1 and nothing else, also near the underflow of `cos^m`.
    #[test]
    fn single_harmonics_at_high_truncation() {
        let (k, nlat, nlon, lon0) = (341, 342, 1024, 0.3);
        let gauss = GaussNodes::new(nlat);
        let south = gauss.weight.iter().rev();
        let weights: Vec<f64> = gauss.weight.iter().chain(south).copied().collect();
        let mu = gauss.all_mu();
        let truncation = Truncation::triangular(k);
        for (m, n) in [
            (0, 0),
            (0, 341),
            (1, 300),
            (63, 64),
            (64, 340),
            (300, 341),
            (341, 341),
        ] {
            let rows: Vec<Vec<f64>> = mu
                .iter()
                .map(|&mu| {
                    let p = column(m, n, Dd::from(mu))[n - m];
                    let turn = |i: usize| lon0 + std::f64::consts::TAU * i as f64 / nlon as f64;
                    let both = if m == 0 { 1.0 } else { 2.0 };
                    (0..nlon)
                        .map(|i| both * p * (m as f64 * turn(i)).cos())
                        .collect()
                })
                .collect();
            let orders = [m, (m + 17) % 342];
            let projection = Projection::new(truncation, &orders, &mu, &weights, nlon, lon0);
            let found = project(&projection, 0, &rows);
            for (row, &order) in found.iter().zip(&orders) {
                for (i, c) in row.iter().enumerate() {
                    let one = order == m && order + i == n;
                    let off = (c - f64::from(u8::from(one))).norm();
                    assert!(
                        off < 1e-12,
                        "({m}, {n}) at ({order}, {}): {off:e}",
                        order + i
                    );
                }
            }
        }
    }

    #[test]
    fn degrees_beyond_the_truncation_on_demand() {
        let gauss = GaussNodes::new(16);
        let south = gauss.weight.iter().rev();
        let weights: Vec<f64> = gauss.weight.iter().chain(south).copied().collect();
        let mu = gauss.all_mu();
        let rows: Vec<Vec<f64>> = mu
            .iter()
            .map(|&mu| vec![column(0, 9, Dd::from(mu))[9]; 30])
            .collect();
        let truncation = Truncation::triangular(8);
        let projection = Projection::new(truncation, &[0, 8], &mu, &weights, 30, 0.0);
        let found = project(&projection, 1, &rows);
        assert_eq!((found[0].len(), found[1].len()), (10, 2));
        assert!((found[0][9].re - 1.0).abs() < 1e-14);
        let limited = project(&projection.with_limits(8, 9), 1, &rows);
        assert_eq!(limited[0][9], Complex64::ZERO);
        assert!(limited[0][8].norm() < 1e-14);
    }
}
