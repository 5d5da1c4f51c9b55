//! The working arrays of a distributed transform.

use super::FORWARD_FIELDS;
use super::spectral_layout::SpectralLayout;
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::distribution::Distribution;
use crate::decomp::units::Unit;
use crate::transform::{CELL, POINT};

/// Two arrays between which data go back and forth, so that no stage has one of its own:
///
/// ```text
/// to the grid     first           second            first           second
///   spectral cells -> messages -> Fourier cells -> messages -> cells of own lines -> lines
///                                                                 -> messages (first) -> grid
/// from the grid: the same, backwards
/// ```
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// `[own unit][group of the globe][field]` cells; `[unit of the column][group][field]` cells;
    /// cells of own lines, `[column][group of lines][wavenumber of the column]`; messages of the
    /// longitude transpose.
    pub(super) first: Vec<f64>,
    /// Messages of the Legendre transpose; `[level x group x field][own wavenumber]` cells; whole
    /// own lines, or own longitudes of all lines.
    pub(super) second: Vec<f64>,
    /// As long as the first, where blocks are put in place as they come: there the first is still
    /// being sent, and the two change roles afterwards. Empty elsewhere.
    pub(super) third: Vec<f64>,
}

impl Buffers {
    /// Sized for the larger number of fields, and for what this mesh needs.
    pub(super) fn new(
        distribution: &Distribution,
        (x, y): (usize, usize),
        layout: &SpectralLayout,
        units: &[Unit],
    ) -> Self {
        const FIELDS: usize = FORWARD_FIELDS;
        let (px, py) = (distribution.mesh.px, distribution.mesh.py);
        let only = |needed: bool, len: usize| if needed { len } else { 0 };
        let per_group = layout.units().len() * FIELDS * CELL;
        let rows: usize = (0..py).map(|y| distribution.groups(y)).sum();
        let lines_of = |x| distribution.line_groups(x, y, FIELDS).len();
        let row_lines: usize = (0..px).map(lines_of).sum();
        let waves = distribution.waves(x).len();
        let all_waves = distribution.truncation.m_max() + 1;
        let double = px > 1 && distribution.fft == FftAlgorithm::DoubleTranspose;
        let split = px > 1 && distribution.fft == FftAlgorithm::Distributed;
        let transposed = py > 1 && distribution.legendre == LegendreAlgorithm::Transpose;
        let whole_lines = only(px > 1 && !split, lines_of(x) * distribution.nlon * POINT);
        let parts = distribution.longitudes(x).len() * POINT;
        let first = [
            only(transposed, distribution.all_groups() * per_group),
            units.len() * distribution.groups(y) * FIELDS * CELL,
            only(double, lines_of(x) * all_waves * CELL),
            whole_lines,
        ];
        let second = [
            only(transposed, rows * per_group),
            only(double, row_lines * waves * CELL),
            whole_lines,
            only(split, lines_of(x) * parts),
            // Where rows are transformed there and back at once, cells go from one to the other.
            only(px == 1 && py > 1, first[1]),
        ];
        let longest = |needs: &[usize]| needs.iter().copied().max().unwrap_or(0);
        Self {
            first: vec![0.0; longest(&first)],
            second: vec![0.0; longest(&second)],
            third: Vec::new(),
        }
    }

    /// Grows where movements need more. `alike`: the first two as long as the longer, for those
    /// after which they change roles. `third`: there is one.
    pub(super) fn fit(&mut self, alike: bool, third: bool) {
        let mut len = self.first.len().max(self.third.len());
        if alike {
            len = len.max(self.second.len());
            self.second.resize(len, 0.0);
        }
        self.first.resize(len, 0.0);
        if third || !self.third.is_empty() {
            self.third.resize(len, 0.0);
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let all = [&self.first, &self.second, &self.third];
        all.into_iter()
            .map(|array| size_of_val(array.as_slice()))
            .sum()
    }
}
