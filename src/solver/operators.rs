//! Derivatives in spectral space: wind from vorticity and divergence, divergence and curl of
//! products, the Laplacian.

use num_complex::Complex64;

use crate::pencil::SpectralLayout;
use crate::spectral::column::{self, BEFORE};
use crate::spectral::legendre::eps;
use crate::transform::kernels::Family;
use crate::transform::vector::{Vector, dispatch};

/// Constants of every wavenumber of this rank.
#[derive(Clone, Debug)]
pub(crate) struct Operators {
    waves: Vec<Wave>,
    /// Which of them belongs to a wavenumber.
    of: Vec<usize>,
    /// `n (n + 1) / a^2` of every coefficient of this rank, `[unit][n - m]`.
    pub laplacian: Vec<f64>,
    family: Family,
}

/// Constants of one wavenumber, by `n - m`, with the degree beyond the truncation and zeros to an
/// even number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wave {
    /// `- m a/(n (n + 1))`: from vorticity to the wind along its gradient; 0 at n = 0.
    turn: Vec<f64>,
    /// `- a eps_{n+1}/(n + 1)`, of the degree above.
    wind_up: Vec<f64>,
    /// `- a eps_n/n`, of the degree below.
    wind_down: Vec<f64>,
    /// `m/a` within the truncation.
    order: Vec<f64>,
    /// `n eps_{n+1}/a` within the truncation.
    up: Vec<f64>,
    /// `(n + 1) eps_n/a` within the truncation.
    down: Vec<f64>,
    /// `n (n + 1)/a^2` within the truncation.
    pub laplacian: Vec<f64>,
}

impl Operators {
    pub(crate) fn new(layout: &SpectralLayout, radius: f64, family: Family) -> Self {
        let mut result = Self {
            waves: Vec::new(),
            of: vec![usize::MAX; layout.truncation().m_max() + 1],
            laplacian: Vec::with_capacity(layout.len()),
            family,
        };
        let laplacian = |n: usize| (n * (n + 1)) as f64 / (radius * radius);
        for (m, _) in layout.waves() {
            result.of[m] = result.waves.len();
            let degrees = layout.truncation().degrees(m) + 1;
            result.waves.push(Wave::new(m, degrees, radius));
        }
        for (unit, range) in layout.iter() {
            result
                .laplacian
                .extend((unit.m..unit.m + range.len()).map(laplacian));
        }
        result
    }

    /// Constants of wavenumber `m`, which is one of this rank.
    pub(crate) fn wave(&self, m: usize) -> &Wave {
        &self.waves[self.of[m]]
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let of_wave = |wave: &Wave| 7 * size_of_val(wave.turn.as_slice());
        self.waves.iter().map(of_wave).sum::<usize>()
            + size_of_val(self.laplacian.as_slice())
            + size_of_val(self.of.as_slice())
    }

    /// `U = (1/a) [d(chi)/d(lambda) - (1 - mu^2) d(psi)/d(mu)]` and
    /// `V = (1/a) [d(psi)/d(lambda) + (1 - mu^2) d(chi)/d(mu)]`, where the Laplacians of `psi`
    /// and `chi` are `zeta` and `delta` (Hack & Jakob 1992, section 3.3), of wavenumber `m`, from
    /// columns to columns.
    pub(crate) fn wind_of(&self, m: usize, [zeta, delta]: [&[f64]; 2], [u, v]: [&mut [f64]; 2]) {
        wind(self.family, self.wave(m), zeta, delta, u, v);
    }

    /// `div_s(A, B)` and `curl_s(A, B)` of wavenumber `m` from the columns of `A/(1 - mu^2)` and
    /// `B/(1 - mu^2)`, of the degrees of the truncation; 0 beyond.
    pub(crate) fn divergence_and_curl_of(
        &self,
        m: usize,
        [a, b]: [&[f64]; 2],
        [div, curl]: [&mut [f64]; 2],
    ) {
        divergence_and_curl(self.family, self.wave(m), a, b, div, curl);
    }

    /// [`Self::wind_of`] of whole fields, U and V.
    pub(crate) fn wind(
        &self,
        layout: &SpectralLayout,
        zeta: &[Complex64],
        delta: &[Complex64],
    ) -> [Vec<Complex64>; 2] {
        self.whole(layout, [zeta, delta], |m, from, to| {
            self.wind_of(m, from, to)
        })
    }

    /// [`Self::divergence_and_curl_of`] of whole fields.
    pub(crate) fn divergence_and_curl(
        &self,
        layout: &SpectralLayout,
        a: &[Complex64],
        b: &[Complex64],
    ) -> [Vec<Complex64>; 2] {
        self.whole(layout, [a, b], |m, from, to| {
            self.divergence_and_curl_of(m, from, to);
        })
    }

    fn whole(
        &self,
        layout: &SpectralLayout,
        from: [&[Complex64]; 2],
        each: impl Fn(usize, [&[f64]; 2], [&mut [f64]; 2]),
    ) -> [Vec<Complex64>; 2] {
        let mut result = [(); 2].map(|()| vec![Complex64::default(); layout.len()]);
        for (unit, range) in layout.iter() {
            let of_unit = || vec![0.0; column::len(range.len())];
            let mut columns = [of_unit(), of_unit()];
            for (column, field) in columns.iter_mut().zip(from) {
                column::put(&field[range.clone()], column);
            }
            let mut made = [of_unit(), of_unit()];
            let [a, b] = &columns;
            each(unit.m, [a, b], made.each_mut().map(Vec::as_mut_slice));
            for (field, column) in result.iter_mut().zip(&made) {
                column::get(column, &mut field[range.clone()]);
            }
        }
        result
    }
}

impl Wave {
    fn new(m: usize, degrees: usize, radius: f64) -> Self {
        let padded = degrees.next_multiple_of(2);
        let table = |count: usize, value: &dyn Fn(f64, usize) -> f64| {
            let mut table = vec![0.0; padded];
            for (k, entry) in table.iter_mut().take(count).enumerate() {
                *entry = value((m + k) as f64, m + k);
            }
            table
        };
        let inside = degrees - 1;
        let order = m as f64 / radius;
        Self {
            turn: table(degrees, &|n, i| {
                if i == 0 {
                    0.0
                } else {
                    -order * radius * radius / (n * (n + 1.0))
                }
            }),
            wind_up: table(inside, &|n, i| -radius * eps(i + 1, m) / (n + 1.0)),
            wind_down: table(degrees, &|n, i| {
                if i == m { 0.0 } else { -radius * eps(i, m) / n }
            }),
            order: table(inside, &|_, _| order),
            up: table(inside, &|n, i| n * eps(i + 1, m) / radius),
            down: table(inside, &|n, i| {
                if i == m {
                    0.0
                } else {
                    (n + 1.0) * eps(i, m) / radius
                }
            }),
            laplacian: table(inside, &|n, _| n * (n + 1.0) / (radius * radius)),
        }
    }
}

/// Two coefficients at a time: those of degree n, of n + 1 and of n - 1.
#[inline(always)]
pub(super) fn neighbours(column: &[f64], pairs: usize) -> [&[[f64; 4]]; 3] {
    let from = |start: usize| column[start..start + 4 * pairs].as_chunks().0;
    [from(BEFORE), from(BEFORE + 2), from(BEFORE - 2)]
}

/// Two constants at a time.
#[inline(always)]
pub(super) fn constants(table: &[f64]) -> &[[f64; 2]] {
    table.as_chunks().0
}

/// Where two coefficients at a time are written.
#[inline(always)]
fn places(column: &mut [f64], pairs: usize) -> &mut [[f64; 4]] {
    column[BEFORE..BEFORE + 4 * pairs].as_chunks_mut().0
}

#[inline(always)]
fn wind_body<V: Vector>(wave: &Wave, zeta: &[f64], delta: &[f64], u: &mut [f64], v: &mut [f64]) {
    let pairs = wave.turn.len() / 2;
    let ([zeta, zeta_up, zeta_down], [delta, delta_up, delta_down]) =
        (neighbours(zeta, pairs), neighbours(delta, pairs));
    let (u, v) = (places(u, pairs), places(v, pairs));
    let (turn, up, down) = (
        constants(&wave.turn),
        constants(&wave.wind_up),
        constants(&wave.wind_down),
    );
    for k in 0..pairs {
        let (turn, up, down) = (V::pairs(&turn[k]), V::pairs(&up[k]), V::pairs(&down[k]));
        let gradient = V::load(&zeta_down[k]).mul(down);
        let gradient = V::load(&zeta_up[k]).mul_sub(up, gradient);
        V::load(&delta[k])
            .times_i()
            .mul_sub(turn, gradient)
            .store(&mut u[k]);
        let gradient = V::load(&delta_down[k]).mul(down);
        let gradient = V::load(&delta_up[k]).mul_sub(up, gradient);
        V::load(&zeta[k])
            .times_i()
            .mul_add(turn, gradient)
            .store(&mut v[k]);
    }
}

/// Divergence and curl of two coefficients.
#[inline(always)]
pub(super) fn divergence_and_curl_at<V: Vector>(
    (order, up, down): (V, V, V),
    [a, a_up, a_down]: [V; 3],
    [b, b_up, b_down]: [V; 3],
) -> [V; 2] {
    let along = b_up.mul_sub(up, b_down.mul(down));
    let across = a_up.mul_sub(up, a_down.mul(down));
    [
        a.times_i().mul_add(order, along),
        b.times_i().mul_sub(order, across),
    ]
}

/// The constants of two coefficients that [`divergence_and_curl_at`] takes.
#[inline(always)]
pub(super) fn derivative<V: Vector>(wave: &Wave, k: usize) -> (V, V, V) {
    (
        V::pairs(&constants(&wave.order)[k]),
        V::pairs(&constants(&wave.up)[k]),
        V::pairs(&constants(&wave.down)[k]),
    )
}

#[inline(always)]
fn divergence_and_curl_body<V: Vector>(
    wave: &Wave,
    a: &[f64],
    b: &[f64],
    div: &mut [f64],
    curl: &mut [f64],
) {
    let pairs = wave.turn.len() / 2;
    let (a, b) = (neighbours(a, pairs), neighbours(b, pairs));
    let (div, curl) = (places(div, pairs), places(curl, pairs));
    for k in 0..pairs {
        let a = [V::load(&a[0][k]), V::load(&a[1][k]), V::load(&a[2][k])];
        let b = [V::load(&b[0][k]), V::load(&b[1][k]), V::load(&b[2][k])];
        let [d, c] = divergence_and_curl_at(derivative(wave, k), a, b);
        d.store(&mut div[k]);
        c.store(&mut curl[k]);
    }
}

/// Tendencies of vorticity, divergence and geopotential without linear terms, from the columns of
/// the five products and of the surface's geopotential: see [`super::tendency`].
#[inline(always)]
fn tendencies_body<V: Vector>(
    wave: &Wave,
    products: [&[f64]; 5],
    surface: &[Complex64],
    [zeta, delta, phi]: [&mut [f64]; 3],
) {
    let surface: &[[Complex64; 2]] = surface.as_chunks().0;
    let pairs = surface.len();
    let [u_eta, v_eta, u_phi, v_phi, kinetic] = products;
    let (u_eta, v_eta) = (neighbours(u_eta, pairs), neighbours(v_eta, pairs));
    let (u_phi, v_phi) = (neighbours(u_phi, pairs), neighbours(v_phi, pairs));
    let kinetic = neighbours(kinetic, pairs)[0];
    let (zeta, delta, phi) = (
        places(zeta, pairs),
        places(delta, pairs),
        places(phi, pairs),
    );
    let laplacian = constants(&wave.laplacian);
    for k in 0..pairs {
        let constants = derivative(wave, k);
        let u = [
            V::load(&u_eta[0][k]),
            V::load(&u_eta[1][k]),
            V::load(&u_eta[2][k]),
        ];
        let v = [
            V::load(&v_eta[0][k]),
            V::load(&v_eta[1][k]),
            V::load(&v_eta[2][k]),
        ];
        let [div, curl] = divergence_and_curl_at(constants, u, v);
        V::zero().sub(div).store(&mut zeta[k]);
        V::load(&kinetic[k])
            .add(V::load_complex(&surface[k]))
            .mul_add(V::pairs(&laplacian[k]), curl)
            .store(&mut delta[k]);
        let u = [
            V::load(&u_phi[0][k]),
            V::load(&u_phi[1][k]),
            V::load(&u_phi[2][k]),
        ];
        let v = [
            V::load(&v_phi[0][k]),
            V::load(&v_phi[1][k]),
            V::load(&v_phi[2][k]),
        ];
        let [div, _] = divergence_and_curl_at(constants, u, v);
        V::zero().sub(div).store(&mut phi[k]);
    }
}

dispatch! {
    wind => wind_body(wave: &Wave, zeta: &[f64], delta: &[f64], u: &mut [f64], v: &mut [f64])
}

dispatch! {
    divergence_and_curl => divergence_and_curl_body(wave: &Wave, a: &[f64], b: &[f64],
        div: &mut [f64], curl: &mut [f64])
}

dispatch! {
    /// Tendencies of one unit, into columns.
    pub(super) tendencies => tendencies_body(wave: &Wave, products: [&[f64]; 5],
        surface: &[Complex64], tendencies: [&mut [f64]; 3])
}
