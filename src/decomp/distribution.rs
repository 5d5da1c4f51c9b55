//! The distribution of one problem over one mesh, seen from any position of the mesh.

use std::ops::Range;

use super::algorithm::{FftAlgorithm, LegendreAlgorithm};
use super::block::{block, block_of_units};
use super::mesh::Mesh;
use super::units::{ColumnUnits, Unit, deal_waves, residue_waves};
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
    /// How the FFT meets the mesh.
    pub fft: FftAlgorithm,
    /// How the Legendre transform meets the mesh.
    pub legendre: LegendreAlgorithm,
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
        (fft, legendre): (FftAlgorithm, LegendreAlgorithm),
    ) -> Self {
        let wave_owner = match fft {
            FftAlgorithm::Distributed => residue_waves(&truncation, mesh.px),
            FftAlgorithm::SingleTranspose => deal_waves(&truncation, 1),
            FftAlgorithm::DoubleTranspose => deal_waves(&truncation, mesh.px),
        };
        Self {
            truncation,
            nlat,
            nlon,
            levels,
            mesh,
            fft,
            legendre,
            wave_owner,
        }
    }

    /// Whether lines stay with their levels.
    pub fn by_level(&self) -> bool {
        self.fft == FftAlgorithm::SingleTranspose
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
        if self.by_level() {
            block(self.levels, self.mesh.px, x)
        } else {
            0..self.levels
        }
    }

    /// Groups of lines of `(x, y)` for the FFT, out of `level x group x field` in that order; with
    /// a distributed FFT all of the row, of which this rank has its longitudes.
    pub fn line_groups(&self, x: usize, y: usize, fields: usize) -> Range<usize> {
        let per_level = self.groups(y) * fields;
        match self.fft {
            FftAlgorithm::Distributed => 0..self.levels * per_level,
            FftAlgorithm::SingleTranspose => {
                let levels = self.levels_of(x);
                levels.start * per_level..levels.end * per_level
            }
            FftAlgorithm::DoubleTranspose => block(self.levels * per_level, self.mesh.px, x),
        }
    }

    /// Wavenumbers of column `x`, ascending.
    pub fn waves(&self, x: usize) -> Vec<usize> {
        let all = 0..=self.truncation.m_max();
        if self.by_level() {
            all.collect()
        } else {
            all.filter(|&m| self.wave_owner[m] == x).collect()
        }
    }

    /// The `(m, level)` units of column `x`, dealt to its rows; with a distributed Legendre
    /// transform undealt, for every row has all of them.
    pub fn column_units(&self, x: usize) -> ColumnUnits {
        let parts = match self.legendre {
            LegendreAlgorithm::Transpose => self.mesh.py,
            LegendreAlgorithm::Distributed => 1,
        };
        let (waves, levels) = (self.waves(x), self.levels_of(x));
        ColumnUnits::new(&self.truncation, &waves, levels, parts)
    }

    /// Where among the units of its column those lie whose coefficients rank `(x, y)` has, and
    /// whether it answers for them: what others have too is counted and written once, by row 0.
    pub fn own_units(&self, column: &ColumnUnits, y: usize) -> (Range<usize>, bool) {
        match self.legendre {
            LegendreAlgorithm::Transpose => (column.range(y), true),
            LegendreAlgorithm::Distributed => (column.range(0), y == 0),
        }
    }

    /// The units that rank `(x, y)` answers for, sorted by `(m, level)`.
    pub fn counted_units(&self, x: usize, y: usize) -> Vec<Unit> {
        let column = self.column_units(x);
        let (range, counted) = self.own_units(&column, y);
        if counted {
            column.units[range].to_vec()
        } else {
            Vec::new()
        }
    }
}
