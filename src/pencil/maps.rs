//! Where the elements of a message lie in the working layouts: each map once, for the copies that
//! pack and unpack, and for an engine that needs no packing.
//!
//! A map visits pairs of ranges of equal length, in the layout and in the message.

use std::ops::Range;

use crate::decomp::distribution::Distribution;
use crate::decomp::units::Unit;
use crate::transform::{CELL, LANES, POINT};
use crate::transport::Block;

/// Whether the groups of a row of the mesh are whole groups of the globe. Only with more rows than
/// groups they are not: then rows share groups, lane by lane.
pub(super) fn is_whole(distribution: &Distribution, y: usize) -> bool {
    let pairs = distribution.pairs(y);
    let last = pairs.end == distribution.nlat / 2;
    pairs.start.is_multiple_of(LANES) && (last || pairs.len().is_multiple_of(LANES))
}

/// Spectral side of the Legendre transpose: `[unit][group of the globe][field]` cells against
/// blocks `[row y][unit][group of y][field]`.
pub(super) fn latitudes(
    distribution: &Distribution,
    fields: usize,
    units: usize,
    mut visit: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut at = 0;
    for y in 0..distribution.mesh.py {
        latitudes_of(distribution, y, fields, units, |there, inside| {
            visit(there, at + inside.start..at + inside.end);
        });
        at += units * distribution.groups(y) * fields * CELL;
    }
}

/// The part of [`latitudes`] that is about the block of row `y`, counted from its start.
pub(super) fn latitudes_of(
    distribution: &Distribution,
    y: usize,
    fields: usize,
    units: usize,
    mut visit: impl FnMut(Range<usize>, Range<usize>),
) {
    let globe = distribution.all_groups() * fields * CELL;
    let pairs = distribution.pairs(y);
    let block = distribution.groups(y) * fields * CELL;
    let whole = is_whole(distribution, y);
    for unit in 0..units {
        let (start, at) = (unit * globe, unit * block);
        if whole {
            let first = start + pairs.start / LANES * fields * CELL;
            visit(first..first + block, at..at + block);
        } else {
            lanes(pairs.clone(), fields, |global, local| {
                let (global, local) = (start + global, at + local);
                visit(global..global + 1, local..local + 1);
            });
        }
    }
}

/// Grid side of the Legendre transpose: the elements of row `y` in its own cells,
/// `[unit of the column][group of y][field]`; lanes that no pair fills are left out.
pub(super) fn own_latitudes(
    distribution: &Distribution,
    y: usize,
    fields: usize,
    units: usize,
    mut visit: impl FnMut(Range<usize>),
) {
    let block = distribution.groups(y) * fields * CELL;
    for start in (0..units).map(|unit| unit * block) {
        if is_whole(distribution, y) {
            visit(start..start + block);
        } else {
            lanes(distribution.pairs(y), fields, |_, local| {
                visit(start + local..start + local + 1);
            });
        }
    }
}

/// Elements of some latitude pairs in the cells of the globe and in cells of their own.
fn lanes(pairs: Range<usize>, fields: usize, mut visit: impl FnMut(usize, usize)) {
    for (own, pair) in pairs.enumerate() {
        for column in 0..fields * CELL / LANES {
            let at = |pair: usize| pair / LANES * fields * CELL + column * LANES + pair % LANES;
            visit(at(pair), at(own));
        }
    }
}

/// Fourier side of the wavenumber transpose: `[unit][group][field]` cells against
/// `[level x group x field][own wavenumber]`.
pub(super) fn waves(
    units: &[Unit],
    waves: &[usize],
    per_level: usize,
    visit: impl FnMut(Range<usize>, Range<usize>),
) {
    waves_of(units, waves, per_level, 0..usize::MAX, visit);
}

/// The part of [`waves`] that is about the block of these groups of lines (level x group x field),
/// counted from its start.
pub(super) fn waves_of(
    units: &[Unit],
    waves: &[usize],
    per_level: usize,
    lines: Range<usize>,
    mut visit: impl FnMut(Range<usize>, Range<usize>),
) {
    for (index, unit) in units.iter().enumerate() {
        let wave = waves.partition_point(|&m| m < unit.m);
        let first = unit.level * per_level;
        for line in first.max(lines.start)..(first + per_level).min(lines.end) {
            let cell = (index * per_level + line - first) * CELL;
            let at = ((line - lines.start) * waves.len() + wave) * CELL;
            visit(cell..cell + CELL, at..at + CELL);
        }
    }
}

/// Line side of the longitude transpose: `[group of lines][longitude]` points against blocks
/// `[column x][group of lines][longitude of x]`.
pub(super) fn longitudes(
    distribution: &Distribution,
    lines: usize,
    mut visit: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut at = 0;
    for x in 0..distribution.mesh.px {
        longitudes_of(distribution, x, lines, |there, inside| {
            visit(there, at + inside.start..at + inside.end);
        });
        at += lines * distribution.longitudes(x).len() * POINT;
    }
}

/// The part of [`longitudes`] that is about the block of column `x`, counted from its start.
pub(super) fn longitudes_of(
    distribution: &Distribution,
    x: usize,
    lines: usize,
    mut visit: impl FnMut(Range<usize>, Range<usize>),
) {
    let longitudes = distribution.longitudes(x);
    let len = longitudes.len() * POINT;
    for line in 0..lines {
        let start = (line * distribution.nlon + longitudes.start) * POINT;
        visit(start..start + len, line * len..(line + 1) * len);
    }
}

/// The blocks of a message, `counts[p]` elements for or from rank p, as runs elsewhere: pairs of
/// (there, in the message), each within one block. Neighbours are joined.
pub(super) fn blocks(counts: &[usize], mut pairs: Vec<(Range<usize>, Range<usize>)>) -> Vec<Block> {
    pairs.sort_unstable_by_key(|(_, message)| message.start);
    let mut pairs = pairs.into_iter().peekable();
    let mut end = 0;
    let mut blocks = Vec::new();
    for (peer, count) in counts.iter().enumerate() {
        end += count;
        let mut runs: Vec<Range<usize>> = Vec::new();
        while let Some((there, _)) = pairs.next_if(|(_, message)| message.end <= end) {
            match runs.last_mut() {
                Some(last) if last.end == there.start => last.end = there.end,
                _ => runs.push(there),
            }
        }
        runs.retain(|run| !run.is_empty());
        if !runs.is_empty() {
            blocks.push(Block { peer, runs });
        }
    }
    blocks
}
