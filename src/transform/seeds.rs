//! Seeds of the Legendre functions: what the fast kernels start their recurrence from.
//!
//! The recurrence is that of Ishioka (2018, J. Meteor. Soc. Japan 96, 241-249): with
//! `P_{m+2l+1} = gamma_l mu p_l`, the functions `p_l` obey
//! `p_{l+1} = (a_l mu^2 + b_l) p_l - p_{l-1}` and give the even degrees too,
//! `P_{m+2l} = e_l p_l + d_{l-1} p_{l-1}`. One chain serves both parities; the combination with
//! `gamma, e, d` is made once per coefficient, not per latitude.
//!
//! The degrees are cut into chunks of [`CHUNK`] steps and the latitudes into blocks of [`BLOCK`]
//! groups. A block begins at the first step at which some `|p_l|` of it is not negligible, so the
//! polar underflow costs nothing. All this depends on the truncation and the grid alone.
//!
//! Accuracy (against 40 digits, latitudes from the pole to the equator): in f64 the chain loses
//! digits near poles and equator as the square of the degree, 2e-10 at T1279, m = 0. Below m = 64
//! every chunk therefore starts from double-double values, which leaves 2e-12 (largest value 36);
//! above, the plain chain stays within 2e-12.

use super::{LANES, Lane};
use crate::dd::Dd;
use crate::grid::gauss::GaussNodes;
use crate::spectral::legendre::{
    DOUBLE_DOUBLE_BELOW, Scaled, UNIT, eps_dd, sectoral, sectoral_factor,
};

/// Steps of the recurrence (two degrees each) in a chunk, at most.
pub const CHUNK: usize = 64;

/// Steps between double-double seeds where the largest degree is above [`LONG`]: half as many lose
/// half as many digits.
const SHORT_CHUNK: usize = 32;

/// See [`SHORT_CHUNK`].
const LONG: usize = 400;

/// Lane groups in a latitude block.
pub const BLOCK: usize = 8;

/// Latitude pairs in a block.
pub const BLOCK_PAIRS: usize = BLOCK * LANES;

/// A Legendre function below this everywhere in a block and chunk is left out: relative to the
/// largest values (about 1 to 10) it is two digits below rounding.
const NEGLIGIBLE: f64 = 1e-18;

/// One row of latitudes of a block.
pub type Row = [Lane; BLOCK];

/// What the recurrence needs at one zonal wavenumber.
#[derive(Clone, Debug)]
pub struct Wave {
    /// Zonal wavenumber.
    pub m: usize,
    /// Steps in a chunk.
    chunk: usize,
    /// Steps `l`: degrees `m + 2l` and `m + 2l + 1` up to the largest.
    pub steps: usize,
    /// `a_l`, `b_l`.
    pub recurrence: Vec<[f64; 2]>,
    /// `e_l, e_l, gamma_l, gamma_l`, what coefficients of the degrees `m + 2l` and `m + 2l + 1` are
    /// multiplied by: see the module's formulas.
    pub own: Vec<Lane>,
    /// `d_l, d_l, 0, 0`, the same for the next two.
    pub next: Vec<Lane>,
    /// First step of each latitude block that is not negligible; the number of steps if none.
    pub first_step: Vec<usize>,
    /// For each latitude block, the first step that a block before it has: sums over latitudes
    /// begin in the steps below.
    pub fresh_below: Vec<usize>,
    /// Steps that no latitude block has: their sums are zero.
    pub untouched: usize,
    /// For each latitude block, where its seeds start.
    offset: Vec<usize>,
    /// `p_l` and `p_{l-1}` at the first step, below m = 64 at the start of every later chunk too.
    seeds: Vec<[Row; 2]>,
}

impl Wave {
    /// Seeds for the degrees `m ..= n_max` at all latitude pairs of `gauss`.
    pub fn new(m: usize, n_max: usize, gauss: &GaussNodes) -> Self {
        let steps = (n_max - m) / 2 + 1;
        let (exact, own, next) = coefficients(m, steps);
        let recurrence: Vec<[f64; 2]> = exact
            .iter()
            .map(|c| [c[0].to_f64(), c[1].to_f64()])
            .collect();
        let factor = sectoral_factor(m);
        let chunk = if m < DOUBLE_DOUBLE_BELOW && n_max > LONG {
            SHORT_CHUNK
        } else {
            CHUNK
        };
        let chunks = steps.div_ceil(chunk);
        let (mut first_step, mut offset, mut seeds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut fresh_below, mut lowest) = (Vec::new(), steps);
        for block in gauss.mu.chunks(BLOCK_PAIRS) {
            offset.push(seeds.len());
            let mut seed = |of: &dyn Fn(usize) -> [f64; 2]| {
                let mut rows = [[[0.0; LANES]; BLOCK]; 2];
                for pair in 0..block.len() {
                    let (group, lane) = (pair / LANES, pair % LANES);
                    [rows[0][group][lane], rows[1][group][lane]] = of(pair);
                }
                seeds.push(rows);
            };
            let first = if m < DOUBLE_DOUBLE_BELOW {
                let marches: Vec<_> = block
                    .iter()
                    .map(|&mu| march_dd(sectoral(m, factor, mu), &exact, mu, chunk))
                    .collect();
                let first = (0..chunks)
                    .find(|&index| marches.iter().any(|at| at[index].largest > NEGLIGIBLE))
                    .unwrap_or(chunks);
                for index in first..chunks {
                    seed(&|pair| [marches[pair][index].p, marches[pair][index].previous]);
                }
                steps.min(first * chunk)
            } else {
                let start: Vec<_> = block
                    .iter()
                    .map(|&mu| (sectoral(m, factor, mu), (mu * mu).to_f64()))
                    .collect();
                let first = start
                    .iter()
                    .map(|&(start, mu2)| march(start, &recurrence, mu2).0)
                    .min()
                    .unwrap_or(steps);
                if first < steps {
                    seed(&|pair| march(start[pair].0, &recurrence[..first], start[pair].1).1);
                }
                first
            };
            fresh_below.push(lowest);
            lowest = lowest.min(first);
            first_step.push(first);
        }
        Self {
            m,
            chunk,
            steps,
            recurrence,
            own,
            next,
            first_step,
            fresh_below,
            untouched: lowest,
            offset,
            seeds,
        }
    }

    /// The steps of a block, chunk by chunk; the first may be a part of one.
    pub fn chunks(&self, block: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let (steps, chunk) = (self.steps, self.chunk);
        let mut start = self.first_step[block];
        std::iter::from_fn(move || {
            let end = steps.min((start / chunk + 1) * chunk);
            let range = start..end;
            start = end;
            (!range.is_empty()).then_some(range)
        })
    }

    /// Seeds of a block at the start of a chunk; `None`: the recurrence goes on from the chunk
    /// before.
    pub fn seed(&self, block: usize, start: usize) -> Option<&[Row; 2]> {
        let first = self.first_step[block];
        (start == first || self.m < DOUBLE_DOUBLE_BELOW)
            .then(|| &self.seeds[self.offset[block] + start / self.chunk - first / self.chunk])
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.seeds.as_slice())
            + size_of_val(self.recurrence.as_slice())
            + 2 * size_of_val(self.own.as_slice())
    }
}

/// `a_l, b_l` to double-double, and the combination.
fn coefficients(m: usize, steps: usize) -> (Vec<[Dd; 2]>, Vec<Lane>, Vec<Lane>) {
    let eps: Vec<Dd> = (0..2 * steps + 4).map(|k| eps_dd(m + k, m)).collect();
    let mut gamma = vec![Dd::from(1.0) / eps[1]; steps + 1];
    for l in 1..steps {
        gamma[l + 1] =
            gamma[l - 1] * (eps[2 * l + 1] * eps[2 * l]) / (eps[2 * l + 3] * eps[2 * l + 2]);
    }
    let recurrence = (0..steps)
        .map(|l| {
            let a = gamma[l] / (gamma[l + 1] * eps[2 * l + 3] * eps[2 * l + 2]);
            let squares = eps[2 * l + 2] * eps[2 * l + 2] + eps[2 * l + 1] * eps[2 * l + 1];
            [a, -(squares * a)]
        })
        .collect();
    let own = (0..steps).map(|l| {
        let (e, odd) = ((gamma[l] * eps[2 * l + 1]).to_f64(), gamma[l].to_f64());
        [e, e, odd, odd]
    });
    let next = (0..steps).map(|l| {
        let d = (gamma[l] * eps[2 * l + 2]).to_f64();
        [d, d, 0.0, 0.0]
    });
    (recurrence, own.collect(), next.collect())
}

/// One latitude at the start of a chunk.
struct Start {
    p: f64,
    previous: f64,
    /// Largest `|p_l|` within the chunk.
    largest: f64,
}

/// Marches the recurrence over all chunks in double-double.
fn march_dd(start: Scaled, recurrence: &[[Dd; 2]], mu: Dd, chunk: usize) -> Vec<Start> {
    let mu2 = mu * mu;
    let shrink = 2f64.powi(-UNIT);
    let (mut p, mut previous, mut exponent) = (start.value, Dd::ZERO, start.exponent);
    let mut starts = Vec::with_capacity(recurrence.len().div_ceil(chunk));
    for recurrence in recurrence.chunks(chunk) {
        let value = |p| Scaled { value: p, exponent }.to_dd().to_f64();
        let mut at = Start {
            p: value(p),
            previous: value(previous),
            largest: 0.0,
        };
        for [a, b] in recurrence {
            at.largest = at
                .largest
                .max(Scaled { value: p, exponent }.to_dd().hi.abs());
            (previous, p) = (p, (*a * mu2 + *b) * p - previous);
            if exponent < 0 && p.hi.abs() > 1.0 {
                (previous, p, exponent) = (previous.scale(shrink), p.scale(shrink), exponent + 1);
            }
        }
        starts.push(at);
    }
    starts
}

/// The same in f64, for large `m`: the first step that is not negligible (the number of steps if
/// none), and the last two values.
fn march(start: Scaled, recurrence: &[[f64; 2]], mu2: f64) -> (usize, [f64; 2]) {
    let shrink = 2f64.powi(-UNIT);
    let (mut p, mut previous, mut exponent) = (start.value.to_f64(), 0.0, start.exponent);
    let mut first = recurrence.len();
    for (l, [a, b]) in recurrence.iter().enumerate() {
        if exponent == 0 && p.abs() > NEGLIGIBLE {
            first = first.min(l);
        }
        (previous, p) = (p, (a * mu2 + b) * p - previous);
        if exponent < 0 && p.abs() > 1.0 {
            (previous, p, exponent) = (previous * shrink, p * shrink, exponent + 1);
        }
    }
    let value = |p: f64| {
        let value = Dd::from(p);
        Scaled { value, exponent }.to_dd().hi
    };
    (first, [value(p), value(previous)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectral::legendre::column_dd;

    /// The largest error of `P_nm` made from seeds by the f64 chain, over latitudes.
    fn largest_error(m: usize, n_max: usize, nlat: usize, pairs: &[usize]) -> f64 {
        let gauss = GaussNodes::new(nlat);
        let wave = Wave::new(m, n_max, &gauss);
        let mut worst = 0.0f64;
        for &pair in pairs {
            let exact = column_dd(m, n_max + 1, gauss.mu[pair]);
            let mu = gauss.mu[pair].to_f64();
            let mu2 = (gauss.mu[pair] * gauss.mu[pair]).to_f64();
            let (block, group, lane) =
                (pair / BLOCK_PAIRS, pair % BLOCK_PAIRS / LANES, pair % LANES);
            let (mut p, mut previous) = (0.0, 0.0);
            for l in 0..wave.steps {
                if l < wave.first_step[block] {
                    worst = worst.max(exact[2 * l].abs()).max(exact[2 * l + 1].abs());
                    continue;
                }
                if (l % wave.chunk == 0 || l == wave.first_step[block])
                    && let Some(seed) = wave.seed(block, l)
                {
                    (p, previous) = (seed[0][group][lane], seed[1][group][lane]);
                }
                let d = if l > 0 { wave.next[l - 1][0] } else { 0.0 };
                let even = wave.own[l][0] * p + d * previous;
                let odd = wave.own[l][2] * mu * p;
                worst = worst
                    .max((even - exact[2 * l]).abs())
                    .max((odd - exact[2 * l + 1]).abs());
                let [a, b] = wave.recurrence[l];
                (previous, p) = (p, (a * mu2 + b) * p - previous);
            }
        }
        worst
    }

    #[test]
    fn every_function_of_t42_to_1e_13() {
        let pairs: Vec<usize> = (0..32).collect();
        for m in 0..=43 {
            let error = largest_error(m, 43, 64, &pairs);
            assert!(error < 1e-13, "m {m}: {error:e}");
        }
    }

    #[test]
    fn t1279_from_pole_to_equator() {
        for m in [0, 1, 2, 7, 63, 64, 170, 600, 1279] {
            let error = largest_error(m, 1280, 1920, &[0, 1, 5, 31, 32, 200, 600, 900, 958, 959]);
            assert!(error < 5e-12, "m {m}: {error:e}");
        }
    }

    #[test]
    fn t2047_skips_what_is_negligible_and_only_that() {
        for m in [0, 3, 63, 64, 300, 1500, 2047] {
            let error = largest_error(m, 2048, 3072, &[0, 3, 33, 100, 500, 1000, 1535]);
            assert!(error < 1.2e-11, "m {m}: {error:e}");
        }
    }
}
