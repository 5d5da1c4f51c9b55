//! One rank's share of FFTs whose lines are split over a row of PX ranks, PX a power of two.
//!
//! Decimation in frequency (Gentleman and Sande 1966) with contiguous blocks of longitudes: in stage
//! i = 0, 1, ... the partner is the rank `x XOR PX / 2^(i+1)`, which has the point half a
//! sub-transform away. The lower of the two keeps the sums, the upper the differences times
//! `exp(-2 pi i j 2^i / nlon)`. After log2 PX stages the rank holds a whole line of `nlon / PX`
//! points of its own, whose transform are the wavenumbers k with `k mod PX` = the bits of x
//! reversed. The way to the grid is the same backwards. Lines are complex, north + i south, so that
//! wavenumbers m and -m are needed for the cell of m; those of -m lie on the rank of the opposite
//! residue, with which they are swapped: [`Mirror`].
//!
//! Data are `[line][longitude of this rank][north | south][lane]`, as on the grid, and
//! `[line][k / PX][re | im][lane]` in between.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::fourier::{as_points, quad, to_points};
use super::kernels::Family;
use super::lane_fft::{self, LaneFft};
use super::mirror::{Quad, fold, unfold};
use super::vector::Array;
use super::{CELL, LANES, POINT};
use crate::decomp::units::reverse_bits;

/// What folds and unfolds: nothing is rounded there that another vector would round otherwise.
type Plain = Array<false>;

/// The share of rank x of PX.
pub struct SplitFourier {
    nlon: usize,
    px: usize,
    x: usize,
    /// k mod PX of this rank.
    residue: usize,
    m_max: usize,
    family: Family,
    /// Of the points that are left after the butterflies.
    fft: LaneFft,
    /// `[stage][longitude]`: `exp(-2 pi i j 2^stage / nlon)` where this rank keeps differences.
    twiddles: Vec<Option<Vec<Complex64>>>,
}

/// The swap of wavenumbers -m: with the rank of the opposite residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The rank; this one itself for residues 0 and PX/2.
    pub partner: usize,
    /// Wavenumbers `0 < m <= m_max` of this rank.
    pub own: usize,
    /// Those of the partner.
    pub theirs: usize,
}

impl SplitFourier {
    /// The share of rank `x` of `px`, a power of two that divides `nlon`; wavenumbers
    /// `0 ..= m_max`, `2 m_max < nlon`.
    ///
    /// # Panics
    /// `nlon` with a prime factor above 5: no such grid is made.
    pub fn new(nlon: usize, m_max: usize, (px, x): (usize, usize), family: Family) -> Self {
        let length = nlon / px;
        let Some(fft) = LaneFft::new(length) else {
            unreachable!("longitudes are a product of 2, 3 and 5")
        };
        let twiddles = (0..px.trailing_zeros()).map(|stage| {
            let distance = px >> (stage + 1);
            let first = (x % distance) * length;
            let turn = -2.0 * PI * (1_usize << stage) as f64 / nlon as f64;
            let at = |i: usize| Complex64::cis(turn * (first + i) as f64);
            (x & distance != 0).then(|| (0..length).map(at).collect())
        });
        Self {
            nlon,
            px,
            x,
            residue: reverse_bits(x, px),
            m_max,
            twiddles: twiddles.collect(),
            family,
            fft,
        }
    }

    /// Stages, log2 PX.
    pub fn stages(&self) -> usize {
        self.twiddles.len()
    }

    /// The partner of a stage.
    pub fn partner(&self, stage: usize) -> usize {
        self.x ^ (self.px >> (stage + 1))
    }

    /// With whom wavenumbers -m are swapped.
    pub fn mirror(&self) -> Mirror {
        let opposite = (self.px - self.residue) % self.px;
        Mirror {
            partner: reverse_bits(opposite, self.px),
            own: self.waves(self.residue).count(),
            theirs: self.waves(opposite).count(),
        }
    }

    /// Positive wavenumbers of a residue.
    fn waves(&self, residue: usize) -> impl Iterator<Item = usize> + use<> {
        let first = if residue == 0 { self.px } else { residue };
        (first..=self.m_max).step_by(self.px)
    }

    /// f64 values of a line of this rank.
    pub fn line(&self) -> usize {
        self.nlon / self.px * POINT
    }

    /// Towards wavenumbers: a stage, from own lines and the partner's.
    pub fn combine_forward(&self, stage: usize, lines: &mut [f64], partner: &[f64]) {
        let (points, _) = lines.as_chunks_mut::<POINT>();
        let (others, _) = partner.as_chunks::<POINT>();
        let Some(twiddles) = &self.twiddles[stage] else {
            for (value, other) in points.as_flattened_mut().iter_mut().zip(partner) {
                *value += other;
            }
            return;
        };
        for ((point, other), w) in points.iter_mut().zip(others).zip(twiddles.iter().cycle()) {
            for lane in 0..LANES {
                let re = other[lane] - point[lane];
                let im = other[LANES + lane] - point[LANES + lane];
                point[lane] = re * w.re - im * w.im;
                point[LANES + lane] = re * w.im + im * w.re;
            }
        }
    }

    /// Towards the grid, before own lines are sent: the upper rank turns its part.
    pub fn turn(&self, stage: usize, lines: &mut [f64]) {
        let Some(twiddles) = &self.twiddles[stage] else {
            return;
        };
        let (points, _) = lines.as_chunks_mut::<POINT>();
        for (point, w) in points.iter_mut().zip(twiddles.iter().cycle()) {
            for lane in 0..LANES {
                let (re, im) = (point[lane], point[LANES + lane]);
                point[lane] = re * w.re + im * w.im;
                point[LANES + lane] = im * w.re - re * w.im;
            }
        }
    }

    /// Towards the grid: a stage, from own lines and the partner's, both as sent.
    pub fn combine_inverse(&self, stage: usize, lines: &mut [f64], partner: &[f64]) {
        if self.twiddles[stage].is_some() {
            for (value, other) in lines.iter_mut().zip(partner) {
                *value = other - *value;
            }
        } else {
            for (value, other) in lines.iter_mut().zip(partner) {
                *value += other;
            }
        }
    }

    /// The transform of the points that are left on this rank, of one line, to wavenumbers.
    pub fn line_forward(&self, line: &mut [f64]) {
        lane_fft::forward(self.family, &self.fft, to_points(line));
    }

    /// The inverse of it, unnormalised.
    pub fn line_inverse(&self, line: &mut [f64]) {
        lane_fft::inverse(self.family, &self.fft, to_points(line));
    }

    /// Where wavenumber `k`, of this rank's residue, lies in a line.
    fn place(&self, k: usize) -> usize {
        self.fft.place(k / self.px)
    }

    /// Cells of own wavenumbers to a line of wavenumbers of this residue, where those of the
    /// partner's -m are still to come, and to the message for the partner: own -m, `[m][POINT]`.
    pub fn unfold_line<'a>(
        &self,
        cell: impl Fn(usize) -> &'a [f64; CELL],
        line: &mut [f64],
        message: &mut [f64],
    ) {
        line.fill(0.0);
        let (points, message) = (to_points(line), to_points(message));
        if self.residue == 0 {
            points[self.place(0)] = unfold::<Plain>(quad(cell(0)), 0).0;
        }
        for (m, mirror) in self.waves(self.residue).zip(message) {
            let (value, opposite) = unfold::<Plain>(quad(cell(m)), m);
            points[self.place(m)] = value;
            *mirror = opposite;
        }
    }

    /// The partner's message into a line: wavenumbers -m of the partner's m are of this residue.
    pub fn place_mirror(&self, message: &[f64], line: &mut [f64]) {
        let (points, _) = line.as_chunks_mut::<POINT>();
        let (message, _) = message.as_chunks::<POINT>();
        let opposite = (self.px - self.residue) % self.px;
        for (m, mirror) in self.waves(opposite).zip(message) {
            points[self.place(self.nlon - m)] = *mirror;
        }
    }

    /// What the partner lacks of a line of wavenumbers: -m of its own m, `[m][POINT]`.
    pub fn take_mirror(&self, line: &[f64], message: &mut [f64]) {
        let (points, _) = line.as_chunks::<POINT>();
        let (message, _) = message.as_chunks_mut::<POINT>();
        let opposite = (self.px - self.residue) % self.px;
        for (m, mirror) in self.waves(opposite).zip(message) {
            *mirror = points[self.place(self.nlon - m)];
        }
    }

    /// A line of wavenumbers and the partner's message to cells of own wavenumbers.
    pub fn fold_line(
        &self,
        line: &[f64],
        message: &[f64],
        mut cell: impl FnMut(usize, &[f64; CELL]),
    ) {
        let (points, message) = (as_points(line), as_points(message));
        let scale = 0.5 / self.nlon as f64;
        let mut give = |m: usize, values: Quad| match values.as_flattened().first_chunk() {
            Some(values) => cell(m, values),
            None => unreachable!("a cell has {CELL} values"),
        };
        if self.residue == 0 {
            let mean = &points[self.place(0)];
            give(0, fold::<Plain>(mean, mean, scale, 0));
        }
        for (m, mirror) in self.waves(self.residue).zip(message) {
            give(m, fold::<Plain>(&points[self.place(m)], mirror, scale, m));
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let turns = self.twiddles.iter().flatten();
        turns
            .map(|turns| size_of_val(turns.as_slice()))
            .sum::<usize>()
            + self.fft.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::fourier::{FourierPlan, LineCells};

    /// Every rank's share of one line of the grid, swapped by hand.
    fn to_cells(grid: &[f64], nlon: usize, m_max: usize, px: usize) -> Vec<[f64; CELL]> {
        let ranks: Vec<SplitFourier> = (0..px)
            .map(|x| SplitFourier::new(nlon, m_max, (px, x), Family::detect()))
            .collect();
        let mut lines: Vec<Vec<f64>> = grid.chunks(grid.len() / px).map(<[f64]>::to_vec).collect();
        for stage in 0..ranks[0].stages() {
            let before = lines.clone();
            for (rank, line) in ranks.iter().zip(&mut lines) {
                rank.combine_forward(stage, line, &before[rank.partner(stage)]);
            }
        }
        for (rank, line) in ranks.iter().zip(&mut lines) {
            rank.line_forward(line);
        }
        let mut cells = vec![[f64::NAN; CELL]; m_max + 1];
        for (rank, line) in ranks.iter().zip(&lines) {
            let mirror = rank.mirror();
            let mut message = vec![0.0; mirror.own * POINT];
            let partner = mirror.partner;
            assert_eq!(ranks[partner].mirror().theirs, mirror.own);
            ranks[partner].take_mirror(&lines[partner], &mut message);
            rank.fold_line(line, &message, |m, cell| cells[m] = *cell);
        }
        cells
    }

    fn to_grid(cells: &[[f64; CELL]], nlon: usize, px: usize) -> Vec<f64> {
        let m_max = cells.len() - 1;
        let ranks: Vec<SplitFourier> = (0..px)
            .map(|x| SplitFourier::new(nlon, m_max, (px, x), Family::detect()))
            .collect();
        let mut messages = Vec::new();
        let mut lines = Vec::new();
        for rank in &ranks {
            let mut message = vec![0.0; rank.mirror().own * POINT];
            let mut line = vec![f64::NAN; rank.line()];
            rank.unfold_line(|m| &cells[m], &mut line, &mut message);
            messages.push(message);
            lines.push(line);
        }
        for (rank, line) in ranks.iter().zip(&mut lines) {
            rank.place_mirror(&messages[rank.mirror().partner], line);
            rank.line_inverse(line);
        }
        for stage in (0..ranks[0].stages()).rev() {
            for (rank, line) in ranks.iter().zip(&mut lines) {
                rank.turn(stage, line);
            }
            let before = lines.clone();
            for (rank, line) in ranks.iter().zip(&mut lines) {
                rank.combine_inverse(stage, line, &before[rank.partner(stage)]);
            }
        }
        lines.concat()
    }

    #[test]
    fn shares_together_are_the_whole_transform() {
        for (nlon, m_max) in [(128, 42), (96, 31), (48, 23), (16, 7)] {
            let grid: Vec<f64> = (0..nlon * POINT)
                .map(|i| ((i * i * 7 + i) % 97) as f64 / 97.0 - 0.4)
                .collect();
            let mut whole = vec![[0.0; CELL]; m_max + 1];
            let plan = FourierPlan::new(nlon, m_max, Family::detect());
            let base: Vec<isize> = (0..=m_max).map(|m| (m * CELL) as isize).collect();
            let at = LineCells {
                base: &base,
                stride: &vec![0; m_max + 1],
                line: 0,
                offset: 0,
                ahead: 0,
            };
            plan.forward(&mut grid.clone(), at, whole.as_flattened_mut());
            let mut back = vec![0.0; grid.len()];
            plan.inverse(whole.as_flattened(), at, &mut back);
            for px in [1, 2, 4, 8, 16] {
                let cells = to_cells(&grid, nlon, m_max, px);
                for (cell, expected) in cells.iter().zip(&whole) {
                    for (value, expected) in cell.iter().zip(expected) {
                        assert!((value - expected).abs() < 1e-15, "{nlon} {px}");
                    }
                }
                let points = to_grid(&cells, nlon, px);
                for (value, expected) in points.iter().zip(&back) {
                    assert!((value - expected).abs() < 2e-14, "{nlon} {px}");
                }
            }
        }
    }
}
