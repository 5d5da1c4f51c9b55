//! The working arrays of a distributed transform.

use super::FORWARD_FIELDS;
use super::spectral_layout::SpectralLayout;
use crate::decomp::distribution::Distribution;
use crate::decomp::units::Unit;
use crate::transform::{CELL, POINT};

/// Working arrays, sized for the larger number of fields; empty where a movement is not needed.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// `[own unit][group of the globe][field]` cells.
    pub(super) spectral: Vec<f64>,
    /// Messages of the Legendre transpose.
    pub(super) latitudes: Vec<f64>,
    /// `[unit of the column][group][field]` cells.
    pub(super) fourier: Vec<f64>,
    /// `[level x group x field][own wavenumber]` cells.
    pub(super) waves: Vec<f64>,
    /// Cells of own lines, `[column][group of lines][wavenumber of the column]`.
    pub(super) cells: Vec<f64>,
    /// Whole own lines.
    pub(super) lines: Vec<f64>,
    /// Messages of the longitude transpose.
    pub(super) longitudes: Vec<f64>,
}

impl Buffers {
    pub(super) fn new(
        distribution: &Distribution,
        (x, y): (usize, usize),
        layout: &SpectralLayout,
        units: &[Unit],
    ) -> Self {
        const FIELDS: usize = FORWARD_FIELDS;
        let (px, py) = (distribution.mesh.px, distribution.mesh.py);
        let zeros = |needed: bool, len: usize| vec![0.0; if needed { len } else { 0 }];
        let globe = layout.units().len() * FIELDS * CELL;
        let message: usize = (0..py).map(|y| distribution.groups(y)).sum::<usize>() * globe;
        let own_lines = distribution.line_groups(x, y, FIELDS).len();
        let row_lines: usize = (0..px)
            .map(|x| distribution.line_groups(x, y, FIELDS).len())
            .sum();
        let waves = distribution.waves(x).len();
        let all_waves = distribution.truncation.m_max() + 1;
        let double = px > 1 && !distribution.by_level;
        Self {
            spectral: zeros(py > 1, distribution.all_groups() * globe),
            latitudes: zeros(py > 1, message),
            fourier: zeros(true, units.len() * distribution.groups(y) * FIELDS * CELL),
            waves: zeros(double, row_lines * waves * CELL),
            cells: zeros(double, own_lines * all_waves * CELL),
            lines: zeros(px > 1, own_lines * distribution.nlon * POINT),
            longitudes: zeros(px > 1, own_lines * distribution.nlon * POINT),
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let all = [
            &self.spectral,
            &self.latitudes,
            &self.fourier,
            &self.waves,
            &self.cells,
            &self.lines,
            &self.longitudes,
        ];
        all.iter()
            .map(|buffer| size_of_val(buffer.as_slice()))
            .sum()
    }
}
