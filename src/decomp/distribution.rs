//! The distribution of one problem over one mesh, seen from any position of the mesh.

use std::ops::Range;

use super::block::{block, block_of_units};
use super::mesh::Mesh;
use super::units::{ColumnUnits, deal_waves};
use crate::spectral::truncation::Truncation;

/// Latitude pairs that stand side by side in memory (the transforms' lane count).
const LANES: usize = 4;

/// Sizes of a problem and how its lines become local.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Spectral truncation.
    pub truncation: Truncation,
    /// Latitudes.
    pub nlat: usize,
    /// Longitudes.
    pub nlon: usize,
    /// Levels.
    pub levels: usize,
    /// The mesh.
    pub mesh: Mesh,
    /// Whether lines stay with their levels (single transpose) instead of going back over
    /// wavenumbers (double transpose).
    pub by_level: bool,
    /// Owner (column of the mesh) of each wavenumber, where wavenumbers are dealt.
    wave_owner: Vec<usize>,
}

impl Distribution {
    /// Distribution of a problem over a mesh.
    pub fn new(
        truncation: Truncation,
        (nlat, nlon): (usize, usize),
        levels: usize,
        mesh: Mesh,
        by_level: bool,
    ) -> Self {
        let wave_owner = deal_waves(&truncation, if by_level { 1 } else { mesh.px });
        Self {
            truncation,
            nlat,
            nlon,
            levels,
            mesh,
            by_level,
            wave_owner,
        }
    }

    /// Longitudes of column `x` on the grid.
    pub fn longitudes(&self, x: usize) -> Range<usize> {
        block(self.nlon, self.mesh.px, x)
    }

    /// Latitude pairs of row `y`: whole groups of four while there are enough of them.
    pub fn pairs(&self, y: usize) -> Range<usize> {
        block_of_units(self.nlat / 2, LANES, self.mesh.py, y)
    }

    /// Groups of latitude pairs of row `y`.
    pub fn groups(&self, y: usize) -> usize {
        self.pairs(y).len().div_ceil(LANES)
    }

    /// Groups of latitude pairs of the globe.
    pub fn all_groups(&self) -> usize {
        (self.nlat / 2).div_ceil(LANES)
    }

    /// Levels of column `x` where lines stay with their levels; else all.
    pub fn levels_of(&self, x: usize) -> Range<usize> {
        if self.by_level {
            block(self.levels, self.mesh.px, x)
        } else {
            0..self.levels
        }
    }

    /// Groups of lines of `(x, y)` for the FFT, out of `level x group x field` in that order.
    pub fn line_groups(&self, x: usize, y: usize, fields: usize) -> Range<usize> {
        let per_level = self.groups(y) * fields;
        if self.by_level {
            let levels = self.levels_of(x);
            levels.start * per_level..levels.end * per_level
        } else {
            block(self.levels * per_level, self.mesh.px, x)
        }
    }

    /// Wavenumbers of column `x`, ascending.
    pub fn waves(&self, x: usize) -> Vec<usize> {
        let all = 0..=self.truncation.m_max();
        if self.by_level {
            all.collect()
        } else {
            all.filter(|&m| self.wave_owner[m] == x).collect()
        }
    }

    /// The `(m, level)` units of column `x`, dealt to its rows.
    pub fn column_units(&self, x: usize) -> ColumnUnits {
        ColumnUnits::new(
            &self.truncation,
            &self.waves(x),
            self.levels_of(x),
            self.mesh.py,
        )
    }
}
