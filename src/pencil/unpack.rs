//! Messages into the working arrays: all of them, or the block of one rank.

use std::ops::Range;

use super::maps;
use super::stage::has_idle_lanes;
use crate::decomp::distribution::Distribution;
use crate::decomp::units::Unit;
use crate::transform::{CELL, POINT};

/// Puts what has come in place; blocks lie in the message in the order of ranks.
pub(super) trait Unpack {
    /// What comes before the first block.
    fn before(&self, _layout: &mut [f64]) {}

    /// The block of one rank.
    fn block(&self, layout: &mut [f64], peer: usize, block: &[f64]);

    /// All blocks.
    fn all(&self, layout: &mut [f64], message: &[f64]);
}

fn copy(layout: &mut [f64], message: &[f64]) -> impl FnMut(Range<usize>, Range<usize>) {
    move |there, at| layout[there].copy_from_slice(&message[at])
}

/// By [`maps::latitudes`].
pub(super) struct Latitudes<'a> {
    pub distribution: &'a Distribution,
    pub fields: usize,
}

impl Latitudes<'_> {
    fn units(&self, layout: &[f64]) -> usize {
        layout.len() / (self.distribution.all_groups() * self.fields * CELL)
    }
}

impl Unpack for Latitudes<'_> {
    fn before(&self, layout: &mut [f64]) {
        if has_idle_lanes(self.distribution) {
            layout.fill(0.0);
        }
    }

    fn block(&self, layout: &mut [f64], peer: usize, block: &[f64]) {
        let units = self.units(layout);
        let visit = copy(layout, block);
        maps::latitudes_of(self.distribution, peer, self.fields, units, visit);
    }

    fn all(&self, layout: &mut [f64], message: &[f64]) {
        self.before(layout);
        let units = self.units(layout);
        let visit = copy(layout, message);
        maps::latitudes(self.distribution, self.fields, units, visit);
    }
}

/// By [`maps::waves`].
pub(super) struct Waves<'a> {
    pub distribution: &'a Distribution,
    /// Row of the mesh.
    pub y: usize,
    pub fields: usize,
    pub units: &'a [Unit],
    pub waves: &'a [usize],
}

impl Waves<'_> {
    fn per_level(&self) -> usize {
        self.distribution.groups(self.y) * self.fields
    }
}

impl Unpack for Waves<'_> {
    fn block(&self, layout: &mut [f64], peer: usize, block: &[f64]) {
        let lines = self.distribution.line_groups(peer, self.y, self.fields);
        let visit = copy(layout, block);
        maps::waves_of(self.units, self.waves, self.per_level(), lines, visit);
    }

    fn all(&self, layout: &mut [f64], message: &[f64]) {
        let visit = copy(layout, message);
        maps::waves(self.units, self.waves, self.per_level(), visit);
    }
}

/// By [`maps::longitudes`].
pub(super) struct Longitudes<'a>(pub &'a Distribution);

impl Longitudes<'_> {
    fn lines(&self, layout: &[f64]) -> usize {
        layout.len() / (self.0.nlon * POINT)
    }
}

impl Unpack for Longitudes<'_> {
    fn block(&self, layout: &mut [f64], peer: usize, block: &[f64]) {
        let lines = self.lines(layout);
        maps::longitudes_of(self.0, peer, lines, copy(layout, block));
    }

    fn all(&self, layout: &mut [f64], message: &[f64]) {
        let lines = self.lines(layout);
        maps::longitudes(self.0, lines, copy(layout, message));
    }
}
