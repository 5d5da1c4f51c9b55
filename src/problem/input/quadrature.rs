//! Quadrature weights of equally spaced latitudes: integral over mu = sin(latitude).

use std::f64::consts::PI;

/// Clenshaw-Curtis weights of `n >= 2` latitudes from pole to pole, exact for polynomials in mu of
/// degree `n - 1` (Clenshaw & Curtis 1960; the closed sum of Waldvogel 2006, BIT 46, 195-202).
pub(super) fn clenshaw_curtis(n: usize) -> Vec<f64> {
    let last = n - 1;
    let weight = |j: usize| {
        let theta = PI * j as f64 / last as f64;
        let terms = (1..=last / 2).map(|k| {
            let factor = if 2 * k == last { 1.0 } else { 2.0 };
            let square = (4 * k * k - 1) as f64;
            factor * (2.0 * k as f64 * theta).cos() / square
        });
        let ends = if j == 0 || j == last { 1.0 } else { 2.0 };
        ends * (1.0 - terms.sum::<f64>()) / last as f64
    };
    symmetric(n, weight)
}

/// Weights of Fejer's first rule: `n` latitudes at the centres of `n` equal intervals between the
/// poles, exact for polynomials in mu of degree `n - 1` (Waldvogel 2006).
pub(super) fn fejer(n: usize) -> Vec<f64> {
    let weight = |j: usize| {
        let theta = PI * (j as f64 + 0.5) / n as f64;
        let terms = (1..=n / 2).map(|k| {
            let square = (4 * k * k - 1) as f64;
            2.0 * (2.0 * k as f64 * theta).cos() / square
        });
        2.0 * (1.0 - terms.sum::<f64>()) / n as f64
    };
    symmetric(n, weight)
}

/// The weights of the north, mirrored: both hemispheres to the same bits.
fn symmetric(n: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let north: Vec<f64> = (0..n.div_ceil(2)).map(weight).collect();
    (0..n).map(|j| north[j.min(n - 1 - j)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly() {
        for n in [2, 3, 8, 9, 73, 180] {
            for (weights, offset, cells) in [(clenshaw_curtis(n), 0.0, n - 1), (fejer(n), 0.5, n)] {
                for degree in (0..n).step_by(1 + n / 9) {
                    let sum: f64 = (0..n)
                        .map(|j| {
                            let theta = PI * (j as f64 + offset) / cells as f64;
                            weights[j] * theta.cos().powi(degree as i32)
                        })
                        .sum();
                    let exact = if degree % 2 == 0 {
                        2.0 / (degree as f64 + 1.0)
                    } else {
                        0.0
                    };
                    assert!(
                        (sum - exact).abs() < 1e-14,
                        "n {n} degree {degree}: {sum} {exact}"
                    );
                }
            }
        }
    }
}
