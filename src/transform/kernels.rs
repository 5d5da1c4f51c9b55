//! The inner loops of the Legendre transform, and which machine code runs them.
//!
//! One source for every machine: the loops are written over a `Vector` of four lanes, and are
//! compiled once for AVX2 with fused multiply-add and once for the baseline. A *family* is what
//! decides the bits: with fused operations or without. Every sum runs over steps (inverse) or
//! latitudes (forward) one by one in one chain, whatever the number of fields, so a field's result
//! does not depend on its neighbours.

use super::Lane;
use super::legendre::{Block, Places};
use super::seeds::{BLOCK, BLOCK_PAIRS, Row, Wave};
use super::vector::{Vector, dispatch};
use crate::spectral::column::{self, BEFORE};

/// Which machine code runs, and so which bits come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Separate multiplication and addition, any machine.
    Plain,
    /// Fused multiply-add (AVX2 + FMA on x86-64; every aarch64). Made only by [`Family::detect`]:
    /// elsewhere the machine may lack the instructions.
    #[non_exhaustive]
    Fused,
}

impl Family {
    /// The fastest family of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return Self::Fused;
        }
        if cfg!(target_arch = "aarch64") {
            Self::Fused
        } else {
            Self::Plain
        }
    }

    /// Names in reports, by [`Self::index`].
    const NAMES: [&'static str; 2] = [
        "plain",
        if cfg!(target_arch = "x86_64") {
            "fused (AVX2 + FMA)"
        } else {
            "fused"
        },
    ];

    /// A number for each family, to be sent to other ranks.
    pub fn index(self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Fused => 1,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }

    /// The name of what the ranks of a job run, from the [`Self::index`] of each: that of their
    /// family, or that they are mixed and how, since bits are then those of this mixture alone.
    pub fn of_ranks(indices: &[usize]) -> String {
        let count = |family: usize| indices.iter().filter(|&&index| index == family).count();
        match (count(0), count(1)) {
            (_, 0) => Self::NAMES[0].to_owned(),
            (0, _) => Self::NAMES[1].to_owned(),
            (plain, fused) => format!(
                "mixed: {} on {fused} ranks, {} on {plain};",
                Self::NAMES[1],
                Self::NAMES[0]
            ),
        }
    }
}

/// `sums[k] = a sums[k] + b`, `steps` times: chains that do not depend on each other.
#[inline(always)]
fn chains<V: Vector, const N: usize>(steps: usize, a: f64, b: &Lane, sums: &mut [Lane; N]) {
    let (a, b) = (V::splat(a), V::load(b));
    let mut sum = [V::zero(); N];
    for k in 0..N {
        sum[k] = V::load(&sums[k]);
    }
    for _ in 0..steps {
        for k in 0..N {
            sum[k] = a.mul_add(sum[k], b);
        }
    }
    for (to, sum) in sums.iter_mut().zip(sum) {
        sum.store(to);
    }
}

#[inline(always)]
fn chains_12_body<V: Vector>(steps: usize, a: f64, b: &Lane, sums: &mut [Lane; 12]) {
    chains::<V, 12>(steps, a, b, sums);
}

#[inline(always)]
fn chains_6_body<V: Vector>(steps: usize, a: f64, b: &Lane, sums: &mut [Lane; 6]) {
    chains::<V, 6>(steps, a, b, sums);
}

/// Groups that the recurrence advances at a time: as many chains as hide the latency of one.
const CHAINS: usize = 4;

/// Fills `tile` with `p_l` of one chunk and leaves the next two in `state`.
#[inline(always)]
fn generate<V: Vector>(
    tile: &mut [Row],
    recurrence: &[[f64; 2]],
    mu2: &Row,
    state: &mut [Row; 2],
    groups: usize,
) {
    for part in 0..BLOCK / CHAINS {
        let from = part * CHAINS;
        if from >= groups {
            break;
        }
        let (mut p, mut previous) = ([V::zero(); CHAINS], [V::zero(); CHAINS]);
        let mut squares = [V::zero(); CHAINS];
        for g in 0..CHAINS {
            p[g] = V::load(&state[0][from + g]);
            previous[g] = V::load(&state[1][from + g]);
            squares[g] = V::load(&mu2[from + g]);
        }
        // Two steps at a time: the two arrays change roles without a move.
        let (rows, last_row) = tile.as_chunks_mut::<2>();
        let (factors, last_factors) = recurrence.as_chunks::<2>();
        for (rows, factors) in rows.iter_mut().zip(factors) {
            let (a, b) = (V::splat(factors[0][0]), V::splat(factors[0][1]));
            for g in 0..CHAINS {
                p[g].store(&mut rows[0][from + g]);
                previous[g] = a.mul_add(squares[g], b).mul_sub(p[g], previous[g]);
            }
            let (a, b) = (V::splat(factors[1][0]), V::splat(factors[1][1]));
            for g in 0..CHAINS {
                previous[g].store(&mut rows[1][from + g]);
                p[g] = a.mul_add(squares[g], b).mul_sub(previous[g], p[g]);
            }
        }
        for (row, &[a, b]) in last_row.iter_mut().zip(last_factors) {
            let (a, b) = (V::splat(a), V::splat(b));
            for g in 0..CHAINS {
                p[g].store(&mut row[from + g]);
                let next = a.mul_add(squares[g], b).mul_sub(p[g], previous[g]);
                previous[g] = p[g];
                p[g] = next;
            }
        }
        for g in 0..CHAINS {
            p[g].store(&mut state[0][from + g]);
            previous[g].store(&mut state[1][from + g]);
        }
    }
}

/// `sums[g][c] += sum_l tile[l][group + g] s[l][c]` for `G` neighbouring groups.
#[inline(always)]
fn sum_steps<V: Vector, const G: usize>(
    tile: &[Row],
    group: usize,
    s: &[Lane],
    sums: &mut [[V; 4]; G],
) {
    assert!(group + G <= BLOCK);
    let mut sum = *sums;
    for (row, s) in tile.iter().zip(s) {
        let mut p = [V::zero(); G];
        for g in 0..G {
            p[g] = V::load(&row[group + g]);
        }
        for c in 0..4 {
            let s = V::splat(s[c]);
            for g in 0..G {
                sum[g][c] = p[g].mul_add(s, sum[g][c]);
            }
        }
    }
    *sums = sum;
}

/// What a chunk adds to the cells of `G` neighbouring groups, which are at `at`.
#[inline(always)]
fn sum_chunk<V: Vector, const G: usize>(
    tile: &[Row],
    (group, mu): (usize, &Row),
    s: &[Lane],
    (first, last): (bool, bool),
    cells: &mut [[Lane; 4]],
    at: [usize; G],
) {
    let mut sums = [[V::zero(); 4]; G];
    if !first {
        for g in 0..G {
            for c in 0..4 {
                sums[g][c] = V::load(&cells[at[g]][c]);
            }
        }
    }
    sum_steps::<V, G>(tile, group, s, &mut sums);
    for g in 0..G {
        // After the last chunk the odd sums get their factor mu.
        if last {
            let mu = V::load(&mu[group + g]);
            sums[g][2] = sums[g][2].mul(mu);
            sums[g][3] = sums[g][3].mul(mu);
        }
        for c in 0..4 {
            sums[g][c].store(&mut cells[at[g]][c]);
        }
    }
}

#[inline(always)]
fn inverse_body<V: Vector>(
    wave: &Wave,
    block: &Block,
    tile: &mut [Row],
    s: &[Lane],
    cells: &mut [[Lane; 4]],
    places: &Places,
) {
    let stride = places.group_stride;
    let first = wave.first_step[block.index];
    if first >= wave.steps {
        for place in places.quads() {
            for group in 0..block.groups {
                cells[place + group * stride] = [[0.0; 4]; 4];
            }
        }
    }
    let mut state = [[[0.0; 4]; BLOCK]; 2];
    for range in wave.chunks(block.index) {
        let tile = &mut tile[..range.len()];
        if let Some(seed) = wave.seed(block.index, range.start) {
            state = *seed;
        }
        let recurrence = &wave.recurrence[range.clone()];
        generate::<V>(tile, recurrence, &block.mu2, &mut state, block.groups);
        let ends = (range.start == first, range.end == wave.steps);
        for (s, place) in s.chunks_exact(wave.steps).zip(places.quads()) {
            let s = &s[range.clone()];
            let mut group = 0;
            while group + 2 <= block.groups {
                let at = [place + group * stride, place + (group + 1) * stride];
                sum_chunk::<V, 2>(tile, (group, &block.mu), s, ends, cells, at);
                group += 2;
            }
            if group < block.groups {
                // The same chain of operations, hence the same bits.
                let at = [place + group * stride];
                sum_chunk::<V, 1>(tile, (group, &block.mu), s, ends, cells, at);
            }
        }
    }
}

/// Weighted latitudes of a block: `[latitude][c]` of one field, four at a time.
#[inline(always)]
fn weigh<V: Vector>(block: &Block, group: usize, cell: &[Lane; 4], to: &mut [Lane]) {
    let w = V::load(&block.weight[group]);
    let w_mu = w.mul(V::load(&block.mu[group]));
    let columns = V::transpose([
        V::load(&cell[0]).mul(w),
        V::load(&cell[1]).mul(w),
        V::load(&cell[2]).mul(w_mu),
        V::load(&cell[3]).mul(w_mu),
    ]);
    for lane in 0..4 {
        columns[lane].store(&mut to[lane]);
    }
}

/// `d[q][l] += sum_j tile[l][j] g[q][j]` for `L` steps and `Q` fields; `fresh`: d starts at zero.
#[inline(always)]
fn sum_latitudes<V: Vector, const L: usize, const Q: usize>(
    tile: &[Row],
    g: &[[Lane; BLOCK_PAIRS]; Q],
    groups: usize,
    d: &mut [&mut [Lane]; Q],
    (step, fresh): (usize, bool),
) {
    let rows: &[Row; L] = match tile[step..].first_chunk() {
        Some(rows) => rows,
        None => return,
    };
    let mut sum = [[V::zero(); Q]; L];
    if !fresh {
        for l in 0..L {
            for q in 0..Q {
                sum[l][q] = V::load(&d[q][step + l]);
            }
        }
    }
    for group in 0..groups.min(BLOCK) {
        for lane in 0..4 {
            let mut latitude = [V::zero(); Q];
            for q in 0..Q {
                latitude[q] = V::load(&g[q][4 * group + lane]);
            }
            for l in 0..L {
                let p = V::splat(rows[l][group][lane]);
                for q in 0..Q {
                    sum[l][q] = p.mul_add(latitude[q], sum[l][q]);
                }
            }
        }
    }
    for l in 0..L {
        for q in 0..Q {
            sum[l][q].store(&mut d[q][step + l]);
        }
    }
}

/// All steps of a tile for `Q` fields, in register blocks of about the same size, at most `MOST`.
#[inline(always)]
fn sum_tile<V: Vector, const Q: usize, const MOST: usize>(
    tile: &[Row],
    g: &[[Lane; BLOCK_PAIRS]; Q],
    groups: usize,
    mut d: [&mut [Lane]; Q],
    fresh: bool,
) {
    let mut step = 0;
    while step < tile.len() {
        let left = tile.len() - step;
        let size = left.div_ceil(left.div_ceil(MOST));
        let at = (step, fresh);
        match size {
            8 => sum_latitudes::<V, 8, Q>(tile, g, groups, &mut d, at),
            7 => sum_latitudes::<V, 7, Q>(tile, g, groups, &mut d, at),
            6 => sum_latitudes::<V, 6, Q>(tile, g, groups, &mut d, at),
            5 => sum_latitudes::<V, 5, Q>(tile, g, groups, &mut d, at),
            4 => sum_latitudes::<V, 4, Q>(tile, g, groups, &mut d, at),
            3 => sum_latitudes::<V, 3, Q>(tile, g, groups, &mut d, at),
            2 => sum_latitudes::<V, 2, Q>(tile, g, groups, &mut d, at),
            _ => sum_latitudes::<V, 1, Q>(tile, g, groups, &mut d, at),
        }
        step += size;
    }
}

/// All fields of a tile, two at a time: six steps of two fill the registers.
#[inline(always)]
fn sum_all<'a, V: Vector>(
    tile: &[Row],
    g: &[[Lane; BLOCK_PAIRS]],
    groups: usize,
    mut d: impl Iterator<Item = &'a mut [Lane]>,
    fresh: bool,
) {
    let mut rest = g;
    let mut next = || d.next().unwrap_or_default();
    while let Some((g, after)) = rest.split_first_chunk() {
        sum_tile::<V, 2, 6>(tile, g, groups, [next(), next()], fresh);
        rest = after;
    }
    if let Some((g, _)) = rest.split_first_chunk() {
        sum_tile::<V, 1, 8>(tile, g, groups, [next()], fresh);
    }
}

#[inline(always)]
fn forward_body<V: Vector>(
    wave: &Wave,
    block: &Block,
    (tile, latitudes): (&mut [Row], &mut [[Lane; BLOCK_PAIRS]]),
    cells: &[[Lane; 4]],
    places: &Places,
    d: &mut [Lane],
) {
    if wave.first_step[block.index] >= wave.steps {
        return;
    }
    let mut quads = 0;
    for (latitudes, place) in latitudes.iter_mut().zip(places.quads()) {
        for (group, to) in latitudes.chunks_exact_mut(4).take(block.groups).enumerate() {
            let cell = &cells[place + group * places.group_stride];
            weigh::<V>(block, group, cell, to);
        }
        quads += 1;
    }
    let mut state = [[[0.0; 4]; BLOCK]; 2];
    for range in wave.chunks(block.index) {
        let tile = &mut tile[..range.len()];
        if let Some(seed) = wave.seed(block.index, range.start) {
            state = *seed;
        }
        let recurrence = &wave.recurrence[range.clone()];
        generate::<V>(tile, recurrence, &block.mu2, &mut state, block.groups);
        let start = range.start;
        // Sums of the steps that no block before this one has begin here.
        let begin = wave.fresh_below[block.index].clamp(range.start, range.end);
        for (range, fresh) in [(range.start..begin, true), (begin..range.end, false)] {
            sum_all::<V>(
                &tile[range.start - start..range.end - start],
                &latitudes[..quads],
                block.groups,
                d.chunks_exact_mut(wave.steps)
                    .map(|d| &mut d[range.clone()]),
                fresh,
            );
        }
    }
}

/// Two degrees a step: `s_l = own_l c_l + next_l c_{l+1}`, where `c_l` are the coefficients of
/// degrees `m + 2l` and `m + 2l + 1`.
#[inline(always)]
fn spread_body<V: Vector>(wave: &Wave, columns: &[f64], s: &mut [Lane]) {
    let steps = wave.steps;
    let (own, next) = (&wave.own[..steps], &wave.next[..steps]);
    let columns = columns.chunks_exact(column::len(2 * steps));
    for (column, s) in columns.zip(s.chunks_exact_mut(steps)) {
        let here: &[Lane] = column[BEFORE..BEFORE + 4 * steps].as_chunks().0;
        let above: &[Lane] = column[BEFORE + 4..BEFORE + 4 + 4 * steps].as_chunks().0;
        for l in 0..steps {
            let sum = V::load(&above[l]).mul(V::load(&next[l]));
            V::load(&here[l])
                .mul_add(V::load(&own[l]), sum)
                .store(&mut s[l]);
        }
    }
}

/// The adjoint: `c_l = own_l d_l + next_{l-1} d_{l-1}`.
#[inline(always)]
fn collect_body<V: Vector>(wave: &Wave, d: &[Lane], columns: &mut [f64]) {
    let steps = wave.steps;
    let (own, next) = (&wave.own[..steps], &wave.next[..steps]);
    let columns = columns.chunks_exact_mut(column::len(2 * steps));
    for (column, d) in columns.zip(d.chunks_exact(steps)) {
        let to: &mut [Lane] = column[BEFORE..BEFORE + 4 * steps].as_chunks_mut().0;
        let mut below = V::zero();
        for l in 0..steps {
            let sum = V::load(&d[l]);
            sum.mul_add(V::load(&own[l]), below).store(&mut to[l]);
            below = sum.mul(V::load(&next[l]));
        }
    }
}

dispatch! {
    /// Columns of coefficients to steps.
    pub(super) spread => spread_body(wave: &Wave, columns: &[f64], s: &mut [Lane])
}

dispatch! {
    /// Sums of steps to columns of coefficients; an odd number of them has something after the last.
    pub(super) collect => collect_body(wave: &Wave, d: &[Lane], columns: &mut [f64])
}

dispatch! {
    /// Inverse transform of one wave in one block of latitudes: `s` is `[quad][step]`, and the
    /// cells at `places` are written.
    pub(super) inverse => inverse_body(wave: &Wave, block: &Block, tile: &mut [Row], s: &[Lane],
        cells: &mut [[Lane; 4]], places: &Places)
}

dispatch! {
    /// What one block of latitudes adds to the sums `d`, `[quad][step]`, of one wave. `scratch`: a
    /// tile, and weighted latitudes of every quad.
    pub(super) forward => forward_body(wave: &Wave, block: &Block,
        scratch: (&mut [Row], &mut [[Lane; BLOCK_PAIRS]]), cells: &[[Lane; 4]], places: &Places,
        d: &mut [Lane])
}

dispatch! {
    /// `sums[k] = a sums[k] + b`, `steps` times, in as many chains as the registers of fused
    /// machines hold.
    pub(super) chains_12 => chains_12_body(steps: usize, a: f64, b: &Lane, sums: &mut [Lane; 12])
}

dispatch! {
    /// The same in half as many, for registers of half the width.
    pub(super) chains_6 => chains_6_body(steps: usize, a: f64, b: &Lane, sums: &mut [Lane; 6])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_after_its_families() {
        let fused = Family::NAMES[1];
        assert_eq!(Family::of_ranks(&[0, 0]), "plain");
        assert_eq!(Family::of_ranks(&[1]), fused);
        let mixed = format!("mixed: {fused} on 2 ranks, plain on 1;");
        assert_eq!(Family::of_ranks(&[1, 0, 1]), mixed);
    }
}
