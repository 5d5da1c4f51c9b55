//! The Legendre transform of the wavenumbers one rank owns, all latitudes.
//!
//! Inverse: `even(mu) = sum_l p_l s_l`, `odd(mu) = mu sum_l p_l s'_l` from spread coefficients;
//! forward: `d_l = sum_j w_j p_l(mu_j) even_j`, likewise odd with `w mu` (Gauss quadrature over
//! the northern half). See [`super::seeds`] for `p_l`.

use std::ops::Range;

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
    /// Spread coefficients, `[quad][step]`; a quad is one field of one level.
    spread: Vec<Lane>,
    /// Weighted latitudes of a block, `[quad][latitude]`.
    latitudes: Vec<[Lane; BLOCK_PAIRS]>,
}

/// Sines and weights of a latitude block; padding has weight zero.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub index: usize,
    pub groups: usize,
    pub mu: Row,
    pub mu2: Row,
    pub weight: Row,
}

/// Where the cells of one wavenumber lie, counted in cells.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Levels.
    pub levels: usize,
    /// Fields of a level.
    pub fields: usize,
    /// From a level to the next.
    pub level_stride: usize,
    /// From a field to the next.
    pub field_stride: usize,
    /// From a group to the next.
    pub group_stride: usize,
}

impl Places {
    /// The cells of the first group, of every field of every level.
    #[inline(always)]
    pub(super) fn quads(&self) -> impl Iterator<Item = usize> {
        let Self {
            fields,
            level_stride,
            field_stride,
            ..
        } = *self;
        (0..self.levels).flat_map(move |level| {
            (0..fields).map(move |field| level * level_stride + field * field_stride)
        })
    }
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
            .enumerate()
            .map(|(index, (mu, weight))| {
                let mut block = Block {
                    index,
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
            latitudes: vec![[[0.0; LANES]; BLOCK_PAIRS]; max_quads],
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

    /// Latitude blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The latitude groups of a range of blocks.
    pub fn groups_of(&self, blocks: &Range<usize>) -> Range<usize> {
        blocks.start * BLOCK..self.groups.min(blocks.end * BLOCK)
    }

    /// Steps of wave `index`: spread coefficients of a field.
    pub fn steps(&self, index: usize) -> usize {
        self.waves[index].steps
    }

    /// Spreads columns of wave `index` over its steps, as [`Self::inverse_blocks`] takes them.
    pub fn spread(&self, index: usize, columns: &[f64], s: &mut [Lane]) {
        kernels::spread(self.family, &self.waves[index], columns, s);
    }

    /// The adjoint of [`Self::spread`], of what [`Self::forward_blocks`] summed; an odd number of
    /// coefficients has something after the last.
    pub fn collect(&self, index: usize, d: &[Lane], columns: &mut [f64]) {
        kernels::collect(self.family, &self.waves[index], d, columns);
    }

    /// Inverse transform of wave `index` in a range of latitude blocks, from spread coefficients
    /// `[level][field][step]`. `cells` begin with the first group of the range.
    pub fn inverse_blocks(
        &mut self,
        index: usize,
        blocks: Range<usize>,
        s: &[Lane],
        cells: &mut [f64],
        places: &Places,
    ) {
        let (wave, stride) = (&self.waves[index], places.group_stride);
        let cells = to_cells_mut(cells);
        for (count, block) in self.blocks[blocks].iter().enumerate() {
            let cells = &mut cells[count * BLOCK * stride..];
            kernels::inverse(self.family, wave, block, &mut self.tile, s, cells, places);
        }
    }

    /// What a range of latitude blocks adds to the sums `d`, `[level][field][step]`, of wave
    /// `index`; the first ranges begin them, but for steps that no block of this plan has. Sums of several ranges are the same bits as those of one if they follow each other
    /// from the north.
    pub fn forward_blocks(
        &mut self,
        index: usize,
        blocks: Range<usize>,
        cells: &[f64],
        places: &Places,
        d: &mut [Lane],
    ) {
        let (wave, stride) = (&self.waves[index], places.group_stride);
        let cells = to_cells(cells);
        for (count, block) in self.blocks[blocks].iter().enumerate() {
            let scratch = (self.tile.as_mut_slice(), self.latitudes.as_mut_slice());
            let cells = &cells[count * BLOCK * stride..];
            kernels::forward(self.family, wave, block, scratch, cells, places, d);
        }
    }

    /// Cells `[level][group][field]` of all latitudes.
    fn places(&self, levels: usize, fields: usize) -> Places {
        Places {
            levels,
            fields,
            level_stride: self.groups * fields,
            field_stride: 1,
            group_stride: fields,
        }
    }

    /// Inverse transform of wave `index`, `levels` levels of `fields` fields.
    ///
    /// `columns`: `[level][field]` [columns](crate::spectral::column) of `n = m ..= n_max`; `cells`:
    /// `[level][group][field]` cells of all latitudes. 4 flops per coefficient and latitude pair.
    pub fn inverse(
        &mut self,
        index: usize,
        levels: usize,
        fields: usize,
        columns: &[f64],
        cells: &mut [f64],
    ) {
        let mut s = std::mem::take(&mut self.spread);
        self.spread(index, columns, &mut s);
        let places = self.places(levels, fields);
        self.inverse_blocks(index, 0..self.blocks.len(), &s, cells, &places);
        self.spread = s;
    }

    /// Forward transform of wave `index`: the adjoint layout of [`Self::inverse`].
    pub fn forward(
        &mut self,
        index: usize,
        levels: usize,
        fields: usize,
        cells: &[f64],
        columns: &mut [f64],
    ) {
        let steps = self.steps(index);
        let mut d = std::mem::take(&mut self.spread);
        let untouched = self.waves[index].untouched;
        for d in d.chunks_exact_mut(steps).take(levels * fields) {
            d[..untouched].fill([0.0; LANES]);
        }
        let places = self.places(levels, fields);
        self.forward_blocks(index, 0..self.blocks.len(), cells, &places, &mut d);
        self.collect(index, &d, columns);
        self.spread = d;
    }
}

/// Values as cells.
fn to_cells(values: &[f64]) -> &[[Lane; CELL / LANES]] {
    values.as_chunks().0.as_chunks().0
}

/// The same, to write.
fn to_cells_mut(values: &mut [f64]) -> &mut [[Lane; CELL / LANES]] {
    values.as_chunks_mut().0.as_chunks_mut().0
}
