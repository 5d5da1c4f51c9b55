//! Associated Legendre functions, normalised so that the integral of P_nm^2 over [-1, 1] is 1,
//! without the Condon-Shortley phase.
//!
//! Values far below the range of f64 occur near the poles (P_mm ~ cos(lat)^m), so recurrences
//! start in scaled arithmetic: a number is a mantissa times a power of `2^512`.

use crate::dd::Dd;
use crate::grid::gauss::cos2;

/// Below this zonal wavenumber f64 recurrences lose digits near the poles (1e-11 at T1279), and
/// double-double is used.
pub const DOUBLE_DOUBLE_BELOW: usize = 64;

/// One unit of the exponent of scaled numbers is a factor `2^512`.
pub const UNIT: i32 = 512;

/// `eps_n^m = sqrt((n^2 - m^2)/(4 n^2 - 1))`, the coefficient of `mu P_n = eps_{n+1} P_{n+1} +
/// eps_n P_{n-1}`.
pub fn eps(n: usize, m: usize) -> f64 {
    eps_dd(n, m).to_f64()
}

/// The same to double-double.
pub fn eps_dd(n: usize, m: usize) -> Dd {
    if n == m {
        return Dd::ZERO;
    }
    let square = Dd::from(((n - m) * (n + m)) as f64) / Dd::from((4 * n * n - 1) as f64);
    square.sqrt()
}

/// A double-double times `2^(512 exponent)`, `exponent <= 0`.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    /// Mantissa.
    pub value: Dd,
    /// Power of `2^512`.
    pub exponent: i32,
}

impl Scaled {
    fn normalised(value: Dd, exponent: i32) -> Self {
        let small = 2f64.powi(-UNIT / 2);
        if value.hi.abs() < small && value.hi != 0.0 {
            Self {
                value: value.scale(2f64.powi(UNIT)),
                exponent: exponent - 1,
            }
        } else if exponent < 0 && value.hi.abs() > 1.0 / small {
            Self {
                value: value.scale(2f64.powi(-UNIT)),
                exponent: exponent + 1,
            }
        } else {
            Self { value, exponent }
        }
    }

    fn times(self, other: Self) -> Self {
        Self::normalised(self.value * other.value, self.exponent + other.exponent)
    }

    /// As a double-double; zero where it is below the range of f64.
    pub fn to_dd(self) -> Dd {
        match self.exponent {
            0 => self.value,
            -1 => {
                let value = self.value.scale(2f64.powi(-UNIT));
                if value.hi.abs() < 1e-290 {
                    Dd::ZERO
                } else {
                    value
                }
            }
            _ => Dd::ZERO,
        }
    }
}

/// `P_mm = sqrt(1/2 prod_{k=1..m} (2k+1)/(2k)) cos(lat)^m` without the power of the cosine, which
/// is the part that all latitudes share.
pub fn sectoral_factor(m: usize) -> Dd {
    (1..=m)
        .fold(Dd::from(0.5), |product, k| {
            product * Dd::from((2 * k + 1) as f64) / Dd::from((2 * k) as f64)
        })
        .sqrt()
}

/// `P_mm(mu)`, scaled; `factor` is [`sectoral_factor`] of `m`.
pub fn sectoral(m: usize, factor: Dd, mu: Dd) -> Scaled {
    let mut power = Scaled {
        value: factor,
        exponent: 0,
    };
    let mut base = Scaled {
        value: cos2(mu).sqrt(),
        exponent: 0,
    };
    let mut rest = m;
    while rest > 0 {
        if rest % 2 == 1 {
            power = power.times(base);
        }
        base = base.times(base);
        rest /= 2;
    }
    power
}

/// `P_nm(mu)` for `n = m ..= n_max` by the three-term recurrence in `n`.
///
/// In double-double below m = 64 (accurate to 1e-16 of the largest value), in f64 above (1e-13 at
/// T1279). This is the reference that the fast kernels are checked against.
pub fn column(m: usize, n_max: usize, mu: Dd) -> Vec<f64> {
    if m < DOUBLE_DOUBLE_BELOW {
        return column_dd(m, n_max, mu);
    }
    let x = mu.to_f64();
    let start = sectoral(m, sectoral_factor(m), mu);
    let (mut p, mut previous, mut exponent) = (start.value.to_f64(), 0.0, start.exponent);
    let mut values = Vec::with_capacity(n_max + 1 - m);
    let (shrink, mut eps_n) = (2f64.powi(-UNIT), 0.0);
    for n in m..=n_max {
        values.push(match exponent {
            0 => p,
            -1 => p * shrink,
            _ => 0.0,
        });
        let eps_next = eps(n + 1, m);
        (previous, p) = (p, (x * p - eps_n * previous) / eps_next);
        eps_n = eps_next;
        if exponent < 0 && p.abs() > 1.0 {
            (previous, p, exponent) = (previous * shrink, p * shrink, exponent + 1);
        }
    }
    values
}

/// The same in double-double for any `m`.
pub fn column_dd(m: usize, n_max: usize, mu: Dd) -> Vec<f64> {
    let start = sectoral(m, sectoral_factor(m), mu);
    let (mut p, mut previous, mut exponent) = (start.value, Dd::ZERO, start.exponent);
    let mut values = Vec::with_capacity(n_max + 1 - m);
    let mut eps_n = Dd::ZERO;
    for n in m..=n_max {
        values.push(Scaled { value: p, exponent }.to_dd().to_f64());
        let eps_next = eps_dd(n + 1, m);
        (previous, p) = (p, (mu * p - eps_n * previous) / eps_next);
        eps_n = eps_next;
        if exponent < 0 && p.hi.abs() > 1.0 {
            let shrink = 2f64.powi(-UNIT);
            (previous, p, exponent) = (previous.scale(shrink), p.scale(shrink), exponent + 1);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::gauss::GaussNodes;

    /// Closed forms: P_00 = sqrt(1/2), P_10 = sqrt(3/2) mu, P_11 = sqrt(3/4) cos,
    /// P_20 = sqrt(5/8) (3 mu^2 - 1), P_21 = sqrt(15/4) mu cos, P_22 = sqrt(15/16) cos^2.
    #[test]
    fn low_degrees() {
        for x in [-0.9, 0.0, 0.3, 0.999] {
            let c = ((1.0f64 - x) * (1.0 + x)).sqrt();
            let expect = [
                (0, 0, 0.5f64.sqrt()),
                (1, 0, 1.5f64.sqrt() * x),
                (1, 1, 0.75f64.sqrt() * c),
                (2, 0, 0.625f64.sqrt() * (3.0 * x * x - 1.0)),
                (2, 1, 3.75f64.sqrt() * x * c),
                (2, 2, 0.9375f64.sqrt() * c * c),
            ];
            for (n, m, value) in expect {
                let p = column(m, n, Dd::from(x))[n - m];
                assert!(
                    (p - value).abs() < 2e-16 + 2e-16 * value.abs(),
                    "P_{n}{m}({x})"
                );
            }
        }
    }

    #[test]
    fn orthonormal_under_gauss_quadrature() {
        let gauss = GaussNodes::new(160);
        for m in [0usize, 1, 17, 63, 64, 90, 106] {
            let columns: Vec<Vec<f64>> = gauss.mu.iter().map(|&mu| column(m, 106, mu)).collect();
            for (a, b) in [
                (0, 0),
                (0, 2),
                (106 - m, 106 - m),
                ((106 - m) / 2, (106 - m) / 2),
            ] {
                if a.max(b) > 106 - m {
                    continue;
                }
                let dot: f64 = columns
                    .iter()
                    .zip(&gauss.weight)
                    .map(|(p, w)| 2.0 * w * p[a] * p[b])
                    .sum();
                let expect = if a == b { 1.0 } else { 0.0 };
                assert!((dot - expect).abs() < 2e-14, "m {m}, {a} {b}: {dot}");
            }
        }
    }

    /// The range of P at T2047: tiny at the pole, finite everywhere, and the addition theorem
    /// `sum_m (2 - [m = 0]) P_nm(mu)^2 = (2n + 1)/2` holds at every latitude.
    #[test]
    fn addition_theorem_at_t2047() {
        let nlat = 3072;
        for j in [0usize, 1, 40, 700, 1535] {
            let mu = GaussNodes::new(nlat).mu[j];
            let n = 2047;
            let mut sum = Dd::ZERO;
            for m in 0..=n {
                let p = *column(m, n, mu).last().unwrap();
                assert!(p.is_finite());
                sum = sum.add_product(if m == 0 { p } else { 2.0 * p }, p);
            }
            let expect = (2 * n + 1) as f64 / 2.0;
            assert!(
                (sum.to_f64() / expect - 1.0).abs() < 2e-12,
                "row {j}: {}",
                sum.to_f64()
            );
        }
    }
}
