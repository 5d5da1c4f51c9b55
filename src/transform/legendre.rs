//! The Legendre transform of the wavenumbers one rank owns, all latitudes.
//!
//! Inverse: `even(mu) = sum_l p_l s_l`, `odd(mu) = mu sum_l p_l s'_l` from spread coefficients;
//! forward: `d_l = sum_j w_j p_l(mu_j) even_j`, likewise odd with `w mu` (Gauss quadrature over
//! the northern half). See [`super::seeds`] for `p_l`.

use num_complex::Complex64;

use super::kernels::{self, Family};
use super::seeds::{BLOCK, BLOCK_PAIRS, CHUNK, Row, Wave};
use super::{CELL, LANES, Lane};
use crate::grid::gauss::GaussNodes;

/// Seeds and scratch of the wavenumbers one rank owns.
#[derive(Debug)]
pub struct LegendrePlan {
    waves: Vec<Wave>,
    family: Family,
    /// Groups of latitude pairs, all of the globe.
    groups: usize,
    blocks: Vec<Block>,
    tile: Vec<Row>,
    /// Spread coefficients, `[step][quad]`; a quad is one field of one level.
    spread: Vec<Lane>,
    /// Weighted latitudes of a block, `[latitude][quad]`.
    latitudes: Vec<Lane>,
}

/// Sines and weights of a latitude block; padding has weight zero.
#[derive(Clone, Debug)]
struct Block {
    groups: usize,
    mu: Row,
    mu2: Row,
    weight: Row,
}

impl LegendrePlan {
    /// Plan for zonal wavenumbers `waves` with largest degrees `(m, n_max)`, for at most
    /// `max_quads` fields times levels at a time.
    pub fn new(
        waves: &[(usize, usize)],
        gauss: &GaussNodes,
        max_quads: usize,
        family: Family,
    ) -> Self {
        let waves: Vec<Wave> = waves
            .iter()
            .map(|&(m, n_max)| Wave::new(m, n_max, gauss))
            .collect();
        let blocks = gauss
            .mu
            .chunks(BLOCK_PAIRS)
            .zip(gauss.weight.chunks(BLOCK_PAIRS))
            .map(|(mu, weight)| {
                let mut block = Block {
                    groups: mu.len().div_ceil(LANES),
                    mu: [[0.0; LANES]; BLOCK],
                    mu2: [[0.0; LANES]; BLOCK],
                    weight: [[0.0; LANES]; BLOCK],
                };
                for (pair, (&mu, &weight)) in mu.iter().zip(weight).enumerate() {
                    let (group, lane) = (pair / LANES, pair % LANES);
                    block.mu[group][lane] = mu.to_f64();
                    block.mu2[group][lane] = (mu * mu).to_f64();
                    block.weight[group][lane] = weight;
                }
                block
            })
            .collect();
        let steps = waves.iter().map(|wave| wave.steps).max().unwrap_or(0);
        Self {
            waves,
            family,
            groups: gauss.mu.len().div_ceil(LANES),
            blocks,
            tile: vec![[[0.0; LANES]; BLOCK]; CHUNK],
            spread: vec![[0.0; LANES]; steps * max_quads],
            latitudes: vec![[0.0; LANES]; BLOCK_PAIRS * max_quads],
        }
    }

    /// Which machine code runs.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.waves.iter().map(Wave::bytes).sum::<usize>()
            + size_of_val(self.spread.as_slice())
            + size_of_val(self.latitudes.as_slice())
    }

    /// Inverse transform of wave `index`, `levels` levels of `fields` fields.
    ///
    /// `coefficients`: `[level][field][n - m]` for `n = m ..= n_max`; `cells`:
    /// `[level][group][field]` cells of all latitudes. 4 flops per coefficient and latitude pair.
    pub fn inverse(
        &mut self,
        index: usize,
        levels: usize,
        fields: usize,
        coefficients: &[Complex64],
        cells: &mut [f64],
    ) {
        let (wave, quads) = (&self.waves[index], levels * fields);
        let degrees = coefficients.len() / quads.max(1);
        for (quad, column) in coefficients.chunks_exact(degrees.max(1)).enumerate() {
            spread(wave, column, &mut self.spread, quads, quad);
        }
        let (cells, _) = cells.as_chunks_mut::<CELL>();
        let mut first_group = 0;
        for (block_index, block) in self.blocks.iter().enumerate() {
            let at = |quad: usize, group: usize| {
                ((quad / fields) * self.groups + first_group + group) * fields + quad % fields
            };
            let first = wave.first_chunk[block_index];
            if first >= wave.chunks() {
                for quad in 0..quads {
                    for group in 0..block.groups {
                        cells[at(quad, group)] = [0.0; CELL];
                    }
                }
            }
            let mut state = [[[0.0; LANES]; BLOCK]; 2];
            for chunk in first..wave.chunks() {
                let range = wave.steps_of(chunk);
                let tile = &mut self.tile[..range.len()];
                if let Some(seed) = wave.seed(block_index, chunk) {
                    state = *seed;
                }
                let recurrence = &wave.recurrence[range.clone()];
                kernels::generate(self.family, tile, recurrence, &block.mu2, &mut state);
                let s = &self.spread[range.start * quads..range.end * quads];
                let last = chunk + 1 == wave.chunks();
                for quad in 0..quads {
                    let mut group = 0;
                    while group < block.groups {
                        if group + 1 < block.groups {
                            let ends = [at(quad, group), at(quad, group + 1)];
                            let mut sums = [[[0.0; LANES]; 4]; 2];
                            if chunk > first {
                                sums = ends.map(|end| to_lanes(&cells[end]));
                            }
                            kernels::inverse_pair(
                                self.family,
                                tile,
                                group,
                                s,
                                quads,
                                quad,
                                &mut sums,
                            );
                            for (g, end) in ends.into_iter().enumerate() {
                                finish(&mut sums[g], &block.mu[group + g], last);
                                from_lanes(&sums[g], &mut cells[end]);
                            }
                        } else {
                            let end = at(quad, group);
                            let mut sums = [[[0.0; LANES]; 4]; 1];
                            if chunk > first {
                                sums[0] = to_lanes(&cells[end]);
                            }
                            kernels::inverse_single(
                                self.family,
                                tile,
                                group,
                                s,
                                quads,
                                quad,
                                &mut sums,
                            );
                            finish(&mut sums[0], &block.mu[group], last);
                            from_lanes(&sums[0], &mut cells[end]);
                        }
                        group += 2;
                    }
                }
            }
            first_group += block.groups;
        }
    }

    /// Forward transform of wave `index`: the adjoint layout of [`Self::inverse`].
    pub fn forward(
        &mut self,
        index: usize,
        levels: usize,
        fields: usize,
        cells: &[f64],
        coefficients: &mut [Complex64],
    ) {
        let (wave, quads) = (&self.waves[index], levels * fields);
        let d = &mut self.spread[..wave.steps * quads];
        d.fill([0.0; LANES]);
        let (cells, _) = cells.as_chunks::<CELL>();
        let mut first_group = 0;
        for (block_index, block) in self.blocks.iter().enumerate() {
            let first = wave.first_chunk[block_index];
            if first < wave.chunks() {
                for quad in 0..quads {
                    for group in 0..block.groups {
                        let at = ((quad / fields) * self.groups + first_group + group) * fields
                            + quad % fields;
                        let cell = to_lanes(&cells[at]);
                        for lane in 0..LANES {
                            let w = block.weight[group][lane];
                            let w_mu = w * block.mu[group][lane];
                            self.latitudes[(group * LANES + lane) * quads + quad] = [
                                cell[0][lane] * w,
                                cell[1][lane] * w,
                                cell[2][lane] * w_mu,
                                cell[3][lane] * w_mu,
                            ];
                        }
                    }
                }
            }
            let mut state = [[[0.0; LANES]; BLOCK]; 2];
            for chunk in first..wave.chunks() {
                let range = wave.steps_of(chunk);
                let tile = &mut self.tile[..range.len()];
                if let Some(seed) = wave.seed(block_index, chunk) {
                    state = *seed;
                }
                let recurrence = &wave.recurrence[range.clone()];
                kernels::generate(self.family, tile, recurrence, &block.mu2, &mut state);
                let part = &mut d[range.start * quads..range.end * quads];
                kernels::forward(
                    self.family,
                    tile,
                    &self.latitudes,
                    quads,
                    block.groups,
                    part,
                );
            }
            first_group += block.groups;
        }
        let degrees = coefficients.len() / quads.max(1);
        for (quad, column) in coefficients.chunks_exact_mut(degrees.max(1)).enumerate() {
            collect(wave, d, quads, quad, column);
        }
    }
}

#[inline(always)]
fn to_lanes(cell: &[f64; CELL]) -> [Lane; 4] {
    std::array::from_fn(|c| std::array::from_fn(|lane| cell[c * LANES + lane]))
}

#[inline(always)]
fn from_lanes(lanes: &[Lane; 4], cell: &mut [f64; CELL]) {
    for (part, lane) in cell.chunks_exact_mut(LANES).zip(lanes) {
        part.copy_from_slice(lane);
    }
}

/// After the last chunk the odd sums get their factor `mu`.
#[inline(always)]
fn finish(sums: &mut [Lane; 4], mu: &Lane, last: bool) {
    if last {
        for odd in &mut sums[2..] {
            for (value, mu) in odd.iter_mut().zip(mu) {
                *value *= mu;
            }
        }
    }
}

/// Coefficients of one field into steps: `s_l = e_l c_{m+2l} + d_l c_{m+2l+2}` for the even
/// degrees, `gamma_l c_{m+2l+1}` for the odd.
fn spread(wave: &Wave, column: &[Complex64], s: &mut [Lane], quads: usize, quad: usize) {
    let at = |k: usize| column.get(k).copied().unwrap_or_default();
    for (l, c) in wave.combine.iter().enumerate() {
        let even = at(2 * l) * c.e + at(2 * l + 2) * c.d;
        let odd = at(2 * l + 1) * c.gamma;
        s[l * quads + quad] = [even.re, even.im, odd.re, odd.im];
    }
}

/// The adjoint of [`spread`].
fn collect(wave: &Wave, d: &[Lane], quads: usize, quad: usize, column: &mut [Complex64]) {
    let at = |l: usize| {
        let lane = d[l * quads + quad];
        (
            Complex64::new(lane[0], lane[1]),
            Complex64::new(lane[2], lane[3]),
        )
    };
    let mut before = Complex64::default();
    for (l, c) in wave.combine.iter().enumerate() {
        let (even, odd) = at(l);
        if let Some(value) = column.get_mut(2 * l) {
            *value = even * c.e + before;
        }
        if let Some(value) = column.get_mut(2 * l + 1) {
            *value = odd * c.gamma;
        }
        before = even * c.d;
    }
}
