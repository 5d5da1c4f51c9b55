//! Accuracy of the serial transforms: round trips, single harmonics, and the plain reference.

#![allow(clippy::unwrap_used)]

use num_complex::Complex64;
use pstswm::dd::Dd;
use pstswm::grid::gauss::GaussNodes;
use pstswm::spectral::column as coefficient_column;
use pstswm::spectral::legendre::{column, column_dd};
use pstswm::transform::fourier::{FourierPlan, LineCells};
use pstswm::transform::kernels::Family;
use pstswm::transform::legendre::LegendrePlan;
use pstswm::transform::{CELL, LANES, POINT};

/// A fixed sequence of numbers in [-1, 1), keyed by position.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Coefficients of fields one after the other, as the transform takes them.
fn columns(fields: &[Complex64], degrees: usize) -> Vec<f64> {
    let each = fields.chunks_exact(degrees).map(|field| {
        let mut column = vec![0.0; coefficient_column::len(degrees)];
        coefficient_column::put(field, &mut column);
        column
    });
    each.collect::<Vec<_>>().concat()
}

/// The other way round.
fn coefficients(columns: &[f64], degrees: usize) -> Vec<Complex64> {
    let each = columns
        .chunks_exact(coefficient_column::len(degrees))
        .map(|column| {
            let mut field = vec![Complex64::default(); degrees];
            coefficient_column::get(column, &mut field);
            field
        });
    each.collect::<Vec<_>>().concat()
}

struct Serial {
    n_max: usize,
    nlat: usize,
    nlon: usize,
    legendre: LegendrePlan,
    fourier: FourierPlan,
    gauss: GaussNodes,
}

impl Serial {
    fn new(n_max: usize, nlat: usize, family: Family) -> Self {
        let gauss = GaussNodes::new(nlat);
        let waves: Vec<(usize, usize)> = (0..=n_max).map(|m| (m, n_max)).collect();
        Self {
            n_max,
            nlat,
            nlon: 2 * nlat,
            legendre: LegendrePlan::new(&waves, &gauss, 1, family),
            fourier: FourierPlan::new(2 * nlat, n_max, family),
            gauss,
        }
    }

    fn groups(&self) -> usize {
        (self.nlat / 2).div_ceil(LANES)
    }

    /// Cells `[m][group]`, as [`LineCells`] counts them.
    fn places(&self) -> (Vec<isize>, Vec<isize>) {
        let per_wave = self.groups() * CELL;
        let base = (0..=self.n_max).map(|m| (m * per_wave) as isize);
        (base.collect(), vec![CELL as isize; self.n_max + 1])
    }

    /// Coefficients `[m][n - m]` to the grid `[group][longitude][north | south][lane]`.
    fn inverse(&mut self, coefficients: &[Vec<Complex64>]) -> Vec<f64> {
        let groups = self.groups();
        let mut cells = vec![0.0; (self.n_max + 1) * groups * CELL];
        for (m, column) in coefficients.iter().enumerate() {
            let part = &mut cells[m * groups * CELL..(m + 1) * groups * CELL];
            self.legendre
                .inverse(m, 1, 1, &columns(column, column.len()), part);
        }
        let mut grid = vec![0.0; groups * self.nlon * POINT];
        let (base, stride) = self.places();
        for (group, line) in grid.chunks_exact_mut(self.nlon * POINT).enumerate() {
            let at = LineCells {
                base: &base,
                stride: &stride,
                line: group as isize,
                offset: 0,
                ahead: 0,
            };
            self.fourier.inverse(&cells, at, line);
        }
        grid
    }

    fn forward(&mut self, grid: &[f64]) -> Vec<Vec<Complex64>> {
        let groups = self.groups();
        let mut cells = vec![0.0; (self.n_max + 1) * groups * CELL];
        let (base, stride) = self.places();
        let mut lines = grid.to_vec();
        for (group, line) in lines.chunks_exact_mut(self.nlon * POINT).enumerate() {
            let at = LineCells {
                base: &base,
                stride: &stride,
                line: group as isize,
                offset: 0,
                ahead: 0,
            };
            self.fourier.forward(line, at, &mut cells);
        }
        (0..=self.n_max)
            .map(|m| {
                let degrees = self.n_max + 1 - m;
                let mut sums = vec![0.0; coefficient_column::len(degrees)];
                let part = &cells[m * groups * CELL..(m + 1) * groups * CELL];
                self.legendre.forward(m, 1, 1, part, &mut sums);
                coefficients(&sums, degrees)
            })
            .collect()
    }

    /// White noise, real at m = 0; `decay` as `(1 + n)^decay`.
    fn noise(&self, decay: f64) -> Vec<Vec<Complex64>> {
        let mut next = noise(17);
        (0..=self.n_max)
            .map(|m| {
                (m..=self.n_max)
                    .map(|n| {
                        let size = (1.0 + n as f64).powf(decay);
                        let im = next() * size;
                        Complex64::new(next() * size, if m == 0 { 0.0 } else { im })
                    })
                    .collect()
            })
            .collect()
    }
}

/// Relative l2 and max/max error.
fn errors(a: &[Vec<Complex64>], b: &[Vec<Complex64>]) -> (f64, f64) {
    let (mut sum, mut norm, mut worst, mut largest) = (0.0, 0.0, 0.0f64, 0.0f64);
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        sum += (a - b).norm_sqr();
        norm += b.norm_sqr();
        worst = worst.max((a - b).norm());
        largest = largest.max(b.norm());
    }
    ((sum / norm).sqrt(), worst / largest)
}

fn round_trip(n_max: usize, nlat: usize, decay: f64) -> (f64, f64) {
    let mut serial = Serial::new(n_max, nlat, Family::detect());
    let start = serial.noise(decay);
    let grid = serial.inverse(&start);
    let back = serial.forward(&grid);
    assert!(
        back[0].iter().all(|c| c.im == 0.0),
        "m = 0 must be exactly real"
    );
    errors(&back, &start)
}

#[test]
fn round_trip_of_white_noise() {
    for (n_max, nlat) in [(42, 64), (63, 96), (85, 128), (170, 256), (341, 512)] {
        let (l2, max) = round_trip(n_max, nlat, 0.0);
        eprintln!("T{n_max}: l2 {l2:.2e}, max {max:.2e}");
        assert!(l2 <= 5e-16 * n_max as f64, "T{n_max}: l2 {l2:e}");
        assert!(max <= 5e-15 * n_max as f64, "T{n_max}: max {max:e}");
    }
}

#[test]
fn round_trip_at_t1279() {
    let (l2, max) = round_trip(1279, 1920, 0.0);
    eprintln!("T1279: l2 {l2:.2e}, max {max:.2e}");
    assert!(
        l2 <= 6.4e-13 && max <= 6.4e-12,
        "white: l2 {l2:e}, max {max:e}"
    );
    let (l2, _) = round_trip(1279, 1920, -1.5);
    eprintln!("T1279 decaying: l2 {l2:.2e}");
    assert!(l2 <= 5e-13, "decaying: l2 {l2:e}");
}

/// Every harmonic of T42 against double-double Legendre functions, at all latitudes.
#[test]
fn single_harmonics_of_t42() {
    for family in [Family::Plain, Family::detect()] {
        let mut serial = Serial::new(42, 64, family);
        for m in 0..=42 {
            for n in m..=42 {
                let mut start: Vec<Vec<Complex64>> = (0..=42)
                    .map(|m| vec![Complex64::default(); 43 - m])
                    .collect();
                start[m][n - m] = Complex64::new(1.0, 0.0);
                let grid = serial.inverse(&start);
                let scale = 1.0 / (2.0 * std::f64::consts::PI).sqrt();
                for pair in 0..32 {
                    let mu = serial.gauss.mu[pair];
                    let p = *column_dd(m, n.max(m), mu).last().unwrap();
                    let parity = if (n - m) % 2 == 0 { 1.0 } else { -1.0 };
                    for i in [0usize, 5, 77] {
                        let angle = 2.0 * std::f64::consts::PI * (m * i % 128) as f64 / 128.0;
                        let wave = if m == 0 { 1.0 } else { 2.0 * angle.cos() };
                        let at = (pair / LANES * 128 + i) * POINT + pair % LANES;
                        let error = (grid[at] - p * wave)
                            .abs()
                            .max((grid[at + LANES] - parity * p * wave).abs());
                        assert!(error * scale < 1e-13, "Y_{n},{m} pair {pair}: {error:e}");
                    }
                }
            }
        }
    }
}

/// Harmonics at the edge of underflow at T1279, against double-double.
#[test]
fn extremes_of_t1279() {
    let gauss = GaussNodes::new(1920);
    for (n, m) in [(1279usize, 1279usize), (1278, 0), (1279, 0), (1279, 640)] {
        let mut plan = LegendrePlan::new(&[(m, 1279)], &gauss, 1, Family::detect());
        let mut start = vec![Complex64::default(); 1280 - m];
        start[n - m] = Complex64::new(1.0, 0.0);
        let mut cells = vec![0.0; 240 * CELL];
        plan.inverse(0, 1, 1, &columns(&start, start.len()), &mut cells);
        let part = if (n - m) % 2 == 0 { 0 } else { 2 };
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        for (pair, &mu) in gauss.mu.iter().enumerate() {
            let exact = *column_dd(m, n, mu).last().unwrap();
            let at = pair / LANES * CELL + part * LANES + pair % LANES;
            assert!(cells[at].is_finite());
            worst = worst.max((cells[at] - exact).abs());
            largest = largest.max(exact.abs());
        }
        assert!(
            worst <= 1e-12 * largest,
            "({n}, {m}): {:e}",
            worst / largest
        );
    }
}

/// The fast kernels against plain sums over `column`, one field and many: the same bits for each.
#[test]
fn fast_agrees_with_plain_sums_and_one_field_with_many() {
    let (n_max, nlat) = (63, 96);
    let gauss = GaussNodes::new(nlat);
    let groups = (nlat / 2usize).div_ceil(LANES);
    let mut next = noise(5);
    for m in [0usize, 1, 30, 63] {
        let waves = [(m, n_max)];
        let degrees = n_max + 1 - m;
        for (levels, fields) in [(1, 1), (1, 5), (3, 4)] {
            let quads = levels * fields;
            let mut plan = LegendrePlan::new(&waves, &gauss, quads, Family::detect());
            let start: Vec<Complex64> = (0..quads * degrees)
                .map(|_| Complex64::new(next(), next()))
                .collect();
            let mut cells = vec![0.0; levels * groups * fields * CELL];
            plan.inverse(0, levels, fields, &columns(&start, degrees), &mut cells);
            let mut back = vec![0.0; quads * coefficient_column::len(degrees)];
            plan.forward(0, levels, fields, &cells, &mut back);
            let back = coefficients(&back, degrees);
            for quad in 0..quads {
                let one = &start[quad * degrees..(quad + 1) * degrees];
                let mut single = LegendrePlan::new(&waves, &gauss, 1, Family::detect());
                let mut own = vec![0.0; groups * CELL];
                single.inverse(0, 1, 1, &columns(one, degrees), &mut own);
                for group in 0..groups {
                    let at = ((quad / fields * groups + group) * fields + quad % fields) * CELL;
                    assert_eq!(cells[at..at + CELL], own[group * CELL..(group + 1) * CELL]);
                }
                let mut own_back = vec![0.0; coefficient_column::len(degrees)];
                single.forward(0, 1, 1, &own, &mut own_back);
                let own_back = coefficients(&own_back, degrees);
                assert_eq!(back[quad * degrees..(quad + 1) * degrees], own_back[..]);
                for pair in [0, 1, 20, 47] {
                    let p = column(m, n_max, gauss.mu[pair]);
                    let (mut even, mut odd) = (Dd::ZERO, Dd::ZERO);
                    for (k, c) in one.iter().enumerate() {
                        let sum = if k % 2 == 0 { &mut even } else { &mut odd };
                        *sum = sum.add_product(p[k], c.re);
                    }
                    let at = pair / LANES * CELL + pair % LANES;
                    let scale: f64 = p.iter().map(|p| p.abs()).sum();
                    let even = (own[at] - even.to_f64()).abs() / scale;
                    let odd = (own[at + 2 * LANES] - odd.to_f64()).abs() / scale;
                    assert!(
                        even.max(odd) < 5e-15,
                        "m {m}, pair {pair}: {even:e} {odd:e}"
                    );
                }
            }
        }
    }
}
