//! The movements of one direction: their plans, and the copies in and out of messages.

use super::choice::AlgorithmChoice;
use super::transform::PencilError;
use crate::decomp::distribution::Distribution;
use crate::decomp::units::{ColumnUnits, Unit};
use crate::exchange::choice::ExchangeChoice;
use crate::exchange::{Plan, Transpose};
use crate::transform::{CELL, LANES, POINT};
use crate::transport::Transport;

/// The plans of one direction (`to_grid` or back).
pub(super) struct Plans<T: Transport> {
    /// Units of this rank at all latitudes <-> units of the column at latitudes of the row.
    pub column: Option<Transpose<T>>,
    /// Wavenumbers of the column for all lines of the row <-> all wavenumbers for own lines.
    pub waves: Option<Transpose<T>>,
    /// Longitudes of the column for all lines of the row <-> whole own lines.
    pub lines: Option<Transpose<T>>,
}

/// Elements exchanged with every peer, towards the grid: `(sent, received)`.
struct Counts(Vec<usize>, Vec<usize>);

impl Counts {
    fn plan<T: Transport>(
        self,
        comm: &T,
        to_grid: bool,
        choice: &ExchangeChoice,
    ) -> Result<Transpose<T>, PencilError> {
        let Self(there, back) = self;
        let (send, recv) = if to_grid {
            (there, back)
        } else {
            (back, there)
        };
        let plan = Plan::new(comm.rank(), comm.size(), &send, &recv, choice)?;
        Ok(Transpose::new(comm, plan)?)
    }
}

impl<T: Transport> Plans<T> {
    /// Plans for this rank of a mesh row and column; all their ranks call it.
    pub(super) fn new(
        distribution: &Distribution,
        (row, column_comm): (&T, &T),
        column: &ColumnUnits,
        fields: usize,
        to_grid: bool,
        choice: &AlgorithmChoice,
    ) -> Result<Self, PencilError> {
        let (x, y) = (row.rank(), column_comm.rank());
        let (px, py) = (distribution.mesh.px, distribution.mesh.py);
        let own_units = column.of(y).len();
        let groups = distribution.groups(y);
        let column_plan = (py > 1).then(|| {
            let there = (0..py).map(|y| own_units * distribution.groups(y) * fields * CELL);
            let back = (0..py).map(|y| column.of(y).len() * groups * fields * CELL);
            Counts(there.collect(), back.collect()).plan(
                column_comm,
                to_grid,
                &choice.legendre_transpose,
            )
        });
        let lines_of = |x: usize| distribution.line_groups(x, y, fields).len();
        let waves_plan = (px > 1 && !distribution.by_level).then(|| {
            let waves: Vec<usize> = (0..px).map(|x| distribution.waves(x).len()).collect();
            let there = (0..px).map(|peer| lines_of(peer) * waves[x] * CELL);
            let back = (0..px).map(|peer| lines_of(x) * waves[peer] * CELL);
            Counts(there.collect(), back.collect()).plan(row, to_grid, &choice.fft_transpose)
        });
        let lines_plan = (px > 1).then(|| {
            let own = distribution.longitudes(x).len();
            let there = (0..px).map(|x| distribution.longitudes(x).len());
            let there = there.map(|longitudes| lines_of(x) * longitudes * POINT);
            let back = (0..px).map(|peer| lines_of(peer) * own * POINT);
            Counts(there.collect(), back.collect()).plan(row, to_grid, &choice.fft_transpose)
        });
        Ok(Self {
            column: column_plan.transpose()?,
            waves: waves_plan.transpose()?,
            lines: lines_plan.transpose()?,
        })
    }
}

/// Direction of a copy between a working layout and message blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Copying {
    /// Into the messages.
    Pack,
    /// Out of the messages.
    Unpack,
}

impl Copying {
    #[inline]
    fn run(self, layout: &mut [f64], message: &mut [f64]) {
        match self {
            Self::Pack => message.copy_from_slice(layout),
            Self::Unpack => layout.copy_from_slice(message),
        }
    }
}

/// Spectral side of the Legendre transpose: `[unit][group of the globe][field]` cells against
/// blocks `[row y][unit][group of y][field]`.
pub(super) fn copy_latitudes(
    copying: Copying,
    distribution: &Distribution,
    fields: usize,
    layout: &mut [f64],
    message: &mut [f64],
) {
    let globe = distribution.all_groups() * fields * CELL;
    if (0..distribution.mesh.py).any(|y| !distribution.pairs(y).start.is_multiple_of(LANES)) {
        // Lanes that no pair fills are part of what is moved and summed: nothing may be left there.
        match copying {
            Copying::Pack => message.fill(0.0),
            Copying::Unpack => layout.fill(0.0),
        }
    }
    let mut message = message;
    for y in 0..distribution.mesh.py {
        let pairs = distribution.pairs(y);
        let block = pairs.len().div_ceil(LANES) * fields * CELL;
        for unit in layout.chunks_exact_mut(globe) {
            let (part, rest) = message.split_at_mut(block);
            message = rest;
            if pairs.start.is_multiple_of(LANES) {
                let start = pairs.start / LANES * fields * CELL;
                copying.run(&mut unit[start..start + block], part);
            } else {
                copy_lanes(copying, &pairs, fields, unit, part);
            }
        }
    }
}

/// The same where a row starts within a group: lane by lane.
fn copy_lanes(
    copying: Copying,
    pairs: &std::ops::Range<usize>,
    fields: usize,
    unit: &mut [f64],
    part: &mut [f64],
) {
    for (own, pair) in pairs.clone().enumerate() {
        for column in 0..fields * CELL / LANES {
            let globe = (pair / LANES * fields * CELL) + column * LANES + pair % LANES;
            let local = (own / LANES * fields * CELL) + column * LANES + own % LANES;
            match copying {
                Copying::Pack => part[local] = unit[globe],
                Copying::Unpack => unit[globe] = part[local],
            }
        }
    }
}

/// Fourier side of the wavenumber transpose: `[unit][group][field]` cells against
/// `[level x group x field][own wavenumber]`.
pub(super) fn copy_waves(
    copying: Copying,
    units: &[Unit],
    waves: &[usize],
    per_level: usize,
    cells: &mut [f64],
    message: &mut [f64],
) {
    if per_level == 0 {
        // A row of the mesh without latitudes.
        return;
    }
    for (unit, cells) in units.iter().zip(cells.chunks_exact_mut(per_level * CELL)) {
        let wave = waves.partition_point(|&m| m < unit.m);
        let first = unit.level * per_level;
        for (group, cell) in cells.chunks_exact_mut(CELL).enumerate() {
            let at = ((first + group) * waves.len() + wave) * CELL;
            copying.run(cell, &mut message[at..at + CELL]);
        }
    }
}

/// Line side of the longitude transpose: `[group of lines][longitude]` points against blocks
/// `[column x][group of lines][longitude of x]`.
pub(super) fn copy_longitudes(
    copying: Copying,
    distribution: &Distribution,
    lines: &mut [f64],
    message: &mut [f64],
) {
    let mut message = message;
    for x in 0..distribution.mesh.px {
        let longitudes = distribution.longitudes(x);
        for line in lines.chunks_exact_mut(distribution.nlon * POINT) {
            let (part, rest) = message.split_at_mut(longitudes.len() * POINT);
            message = rest;
            copying.run(
                &mut line[longitudes.start * POINT..longitudes.end * POINT],
                part,
            );
        }
    }
}
