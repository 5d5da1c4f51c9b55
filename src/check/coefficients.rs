//! Symmetries of the spectral series of a kept state.

use ndarray::Array2;
use num_complex::Complex64;

use crate::grid::gauss::GaussNodes;
use crate::report::netcdf::CheckpointData;
use crate::spectral::legendre::column;
use crate::spectral::truncation::Truncation;

/// A coefficient of a field with its wavenumber m and degree n.
type Coefficient = (usize, usize, Complex64);

/// Which degrees of freedom a symmetry empties: of (m, n).
pub type Empty = fn(usize, usize) -> bool;

fn truncation(state: &CheckpointData) -> Option<Truncation> {
    let [m, n, k] = state.truncation;
    Truncation::new(m, n, k).ok()
}

/// (m, n) of the coefficients of one level in the order of a checkpoint.
fn order(truncation: &Truncation) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..=truncation.m_max()).flat_map(|m| (m..m + truncation.degrees(m)).map(move |n| (m, n)))
}

/// Level 0 of a field at the newest time level: `zeta_now`, `delta_now` or `phi_now`.
pub fn field(state: &CheckpointData, name: &str) -> Vec<Coefficient> {
    let (Some(truncation), Some(values)) = (truncation(state), state.field(name)) else {
        return Vec::new();
    };
    order(&truncation)
        .zip(values.chunks_exact(2))
        .map(|((m, n), c)| (m, n, Complex64::new(c[0], c[1])))
        .collect()
}

/// Largest absolute value of the coefficients that `empty` picks, over the largest of `scale`.
/// NaN where a field is missing.
pub fn share(state: &CheckpointData, name: &str, empty: Empty, scale: &str) -> f64 {
    let largest = |name: &str, pick: Empty| {
        field(state, name)
            .into_iter()
            .filter(|&(m, n, _)| pick(m, n))
            .map(|(_, _, c)| c.norm())
            .fold(0.0, f64::max)
    };
    let scale = largest(scale, |_, _| true);
    if scale > 0.0 {
        largest(name, empty) / scale
    } else {
        f64::NAN
    }
}

/// The state mirrored at the equator: latitude and northward wind change sign, so h and delta
/// keep theirs and zeta turns: `c_nm` times `(-1)^(n - m)`, or the opposite for zeta.
pub fn mirrored(state: &CheckpointData) -> CheckpointData {
    changed(state, |name, m, n, c| {
        let even = (n - m) % 2 == 0;
        if even == name.starts_with("zeta") {
            -c
        } else {
            c
        }
    })
}

/// The state turned eastward by `radians`: `c_nm exp(-i m radians)`.
pub fn turned(state: &CheckpointData, radians: f64) -> CheckpointData {
    changed(state, |_, m, _, c| {
        c * Complex64::cis(-(m as f64) * radians)
    })
}

/// Height in m above a flat surface on a Gaussian grid, which may be another than the run's.
pub fn heights(state: &CheckpointData, gravity: f64, nlat: usize, nlon: usize) -> Array2<f64> {
    let phi = field(state, "phi_now");
    let mean = state.scalar("phibar").unwrap_or(f64::NAN);
    let gauss = GaussNodes::new(nlat);
    let turn = 2.0 * std::f64::consts::PI / nlon as f64;
    let mut grid = Array2::from_elem((nlat, nlon), mean / gravity);
    for (pair, &mu) in gauss.mu.iter().enumerate() {
        for wave in phi.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(m, n_max, _)) = wave.last() else {
                continue;
            };
            let legendre = column(m, n_max, mu);
            let (mut even, mut odd) = (Complex64::default(), Complex64::default());
            for ((_, n, c), p) in wave.iter().zip(&legendre) {
                let sum = if (n - m) % 2 == 0 {
                    &mut even
                } else {
                    &mut odd
                };
                *sum += c * p;
            }
            let both = if m == 0 { 1.0 } else { 2.0 } / gravity;
            for i in 0..nlon {
                let phase = Complex64::cis(turn * (m * i % nlon) as f64);
                grid[[pair, i]] += both * ((even + odd) * phase).re;
                grid[[nlat - 1 - pair, i]] += both * ((even - odd) * phase).re;
            }
        }
    }
    grid
}

fn changed(
    state: &CheckpointData,
    change: impl Fn(&str, usize, usize, Complex64) -> Complex64,
) -> CheckpointData {
    let mut result = state.clone();
    let Some(truncation) = truncation(state) else {
        return result;
    };
    let order: Vec<(usize, usize)> = order(&truncation).collect();
    for (name, values) in &mut result.fields {
        for ((m, n), pair) in order.iter().cycle().zip(values.chunks_exact_mut(2)) {
            let c = change(name, *m, *n, Complex64::new(pair[0], pair[1]));
            (pair[0], pair[1]) = (c.re, c.im);
        }
    }
    result
}

/// Largest over the fields of the l2 difference of two states, relative to the first.
pub fn difference(a: &CheckpointData, b: &CheckpointData) -> f64 {
    let relative = |name: &str| {
        let (a, b) = (field(a, name), field(b, name));
        if a.is_empty() || a.len() != b.len() {
            return f64::NAN;
        }
        // The mean of the geopotential would hide everything else.
        let pairs = || a.iter().zip(&b).skip(1);
        let error: f64 = pairs().map(|(a, b)| (a.2 - b.2).norm_sqr()).sum();
        let norm: f64 = pairs().map(|(a, _)| a.2.norm_sqr()).sum();
        (error / norm).sqrt()
    };
    let all = ["zeta_now", "delta_now", "phi_now"].map(relative);
    if all.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    all.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T3, one level, every field 1, 2, 3, ... in both parts.
    fn state() -> CheckpointData {
        let values: Vec<f64> = (0..10).flat_map(|k| [1.0 + k as f64; 2]).collect();
        let names = ["zeta_now", "delta_now", "phi_now"];
        CheckpointData {
            step: 1,
            time: 1.0,
            truncation: [3, 3, 3],
            levels: 1,
            fields: names
                .into_iter()
                .map(|name| (name.to_owned(), values.clone()))
                .collect(),
            scalars: Vec::new(),
            text: Vec::new(),
        }
    }

    #[test]
    fn coefficients_know_their_place() {
        let all = field(&state(), "phi_now");
        assert_eq!(all.len(), 10);
        assert_eq!((all[4].0, all[4].1), (1, 1));
        assert_eq!((all[9].0, all[9].1), (3, 3));
        let share = share(&state(), "phi_now", |m, _| m == 1, "zeta_now");
        assert!((share - 0.7).abs() < 1e-15, "{share}");
    }

    #[test]
    fn heights_are_the_sum_of_the_series() {
        let mut state = state();
        state.scalars.push(("phibar".to_owned(), 100.0));
        // c_00 = 1 + i: a constant of 1/sqrt(2) on top of Phibar; c_10 gives 2 sqrt(3/2) mu.
        for (name, values) in &mut state.fields {
            let kept = if name == "phi_now" { 4 } else { 0 };
            values[kept..].fill(0.0);
        }
        let grid = heights(&state, 10.0, 8, 6);
        let mu = GaussNodes::new(8).all_mu();
        for ((j, _), value) in grid.indexed_iter() {
            let expected = 10.0 + (0.5f64.sqrt() + 2.0 * 1.5f64.sqrt() * mu[j]) / 10.0;
            assert!((value - expected).abs() < 1e-14, "{value} {expected}");
        }
    }

    #[test]
    fn twice_mirrored_and_turned_all_round_is_the_same() {
        let state = state();
        assert_eq!(mirrored(&mirrored(&state)), state);
        assert!(difference(&state, &mirrored(&state)) > 1.0);
        let round = turned(&state, 2.0 * std::f64::consts::PI);
        assert!(difference(&state, &round) < 1e-14);
        assert!(difference(&state, &turned(&state, 0.1)) > 0.01);
    }
}
