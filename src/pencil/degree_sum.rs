//! The vector sum of a distributed Legendre transform: every rank of a mesh column has sums over its
//! own latitudes, for all units of the column.
//!
//! The vector is `[wave][unit of the wave][field][n - m]`, real and imaginary parts side by side. It
//! is cut between waves, so that with a pipelined ring the sums of some waves are on their way while
//! those of others are computed.

use std::ops::Range;

use super::FORWARD_FIELDS;
use super::spectral_layout::SpectralLayout;
use super::transform::PencilError;
use crate::decomp::units::Unit;
use crate::exchange::sum::{SumChoice, SumPlan, VectorSum};
use crate::exchange::transpose::Movement as Moved;
use crate::measure::{Movement, Phase, Phases};
use crate::spectral::column::{self, BEFORE};
use crate::transport::Transport;

/// The sum along the mesh column of this rank.
pub(super) struct DegreeSum {
    sum: VectorSum,
    /// The units of each wave.
    units: Vec<Range<usize>>,
    /// Where each wave starts in the vector; one more entry.
    starts: Vec<usize>,
    /// The waves of each segment, one for each rank.
    segments: Vec<Range<usize>>,
    total: Vec<f64>,
}

impl DegreeSum {
    /// The sum for the waves of a layout; every rank of the column calls it.
    pub(super) fn new<T: Transport>(
        comm: &T,
        layout: &SpectralLayout,
        choice: &SumChoice,
    ) -> Result<Self, PencilError> {
        let mut starts = vec![0];
        for (m, units) in layout.waves() {
            let degrees = layout.truncation().degrees(m) + 1;
            let values = 2 * units.len() * FORWARD_FIELDS * degrees;
            starts.push(starts[starts.len() - 1] + values);
        }
        let segments = cut(&starts, comm.size());
        let elements = segments
            .iter()
            .map(|waves| starts[waves.end] - starts[waves.start]);
        let elements: Vec<usize> = elements.collect();
        let plan = SumPlan::new(comm.rank(), comm.size(), &elements, choice)?;
        Ok(Self {
            sum: VectorSum::new(comm, plan)?,
            total: vec![0.0; starts[starts.len() - 1]],
            units: layout.waves().map(|(_, units)| units).collect(),
            starts,
            segments,
        })
    }

    /// Bytes held, without what the sum needs for messages.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.total.as_slice()) + size_of_val(self.starts.as_slice())
    }

    /// `own(wave, units, columns)` computes this rank's sums of a wave, `[unit][field]` columns; `sink`
    /// takes the sums over the column, unit by unit.
    pub(super) fn execute<T: Transport>(
        &mut self,
        comm: &T,
        layout: &SpectralLayout,
        own: impl FnMut(usize, &Range<usize>, &mut [f64]),
        scratch: &mut [f64],
        mut sink: impl FnMut(Unit, Range<usize>, [&[f64]; FORWARD_FIELDS]),
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        self.add_up(comm, own, scratch, phases)?;
        let mut start = phases.start();
        for (wave, (m, units)) in layout.waves().enumerate() {
            let degrees = layout.truncation().degrees(m) + 1;
            let of_unit = FORWARD_FIELDS * degrees;
            let values = self.total[self.starts[wave]..].chunks_exact(2 * of_unit);
            for (unit, values) in units.zip(values) {
                let len = column::len(degrees);
                let columns = &mut scratch[..FORWARD_FIELDS * len];
                let each = columns.chunks_exact_mut(len);
                for (to, values) in each.zip(values.chunks_exact(2 * degrees)) {
                    to[BEFORE..BEFORE + 2 * degrees].copy_from_slice(values);
                    column::clear_around(degrees, to);
                }
                start = phases.lap(Movement::LegendreSum.unpack(), start);
                let mut columns = columns.chunks_exact(len);
                let columns = std::array::from_fn(|_| columns.next().unwrap_or_default());
                sink(layout.units()[unit], layout.range(unit), columns);
                start = phases.lap(Phase::SpectralUpdate, start);
            }
        }
        phases.passed(Movement::LegendreSum.unpack());
        phases.passed(Phase::SpectralUpdate);
        Ok(())
    }

    /// The sum alone, of numbers that mean nothing.
    pub(super) fn move_alone<T: Transport>(
        &mut self,
        comm: &T,
        scratch: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let ones = |_: usize, _: &Range<usize>, columns: &mut [f64]| columns.fill(1.0);
        self.add_up(comm, ones, scratch, phases)
    }

    /// The sums over the column, into `total`.
    fn add_up<T: Transport>(
        &mut self,
        comm: &T,
        mut own: impl FnMut(usize, &Range<usize>, &mut [f64]),
        scratch: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        let (starts, segments, units) = (&self.starts, &self.segments, &self.units);
        let mut cost = Moved::default();
        let local = |segment: usize, values: &mut [f64]| {
            let mut rest = values;
            for wave in segments[segment].clone() {
                let len = starts[wave + 1] - starts[wave];
                let columns = units[wave].len() * FORWARD_FIELDS;
                let of_column = len / columns;
                let stride = column::len(of_column / 2);
                own(wave, &units[wave], &mut scratch[..columns * stride]);
                let (part, after) = std::mem::take(&mut rest).split_at_mut(len);
                let each = scratch.chunks_exact(stride);
                for (to, column) in part.chunks_exact_mut(of_column).zip(each) {
                    to.copy_from_slice(&column[BEFORE..BEFORE + of_column]);
                }
                rest = after;
            }
        };
        let computing = self.sum.execute(comm, local, &mut self.total, &mut cost)?;
        phases.add(Phase::ForwardLegendre, computing);
        if cost.wait > 0.0 {
            phases.add(Movement::LegendreSum.wait(), cost.wait);
        }
        phases.add(Movement::LegendreSum.movement(), cost.moving);
        phases.sent(Movement::LegendreSum.movement(), cost.bytes, cost.messages);
        Ok(())
    }
}

/// Consecutive waves for each of `parts` ranks, about as many elements for each.
fn cut(starts: &[usize], parts: usize) -> Vec<Range<usize>> {
    let (waves, all) = (starts.len() - 1, starts[starts.len() - 1]);
    let border = |part: usize| match part {
        0 => 0,
        part if part == parts => waves,
        part => starts
            .partition_point(|&start| start * parts < all * part)
            .min(waves),
    };
    (0..parts)
        .map(|part| border(part)..border(part + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_whole_waves_and_about_even() {
        let starts = [0, 10, 19, 27, 34, 40, 45, 49, 52, 54, 55];
        for parts in 1..15 {
            let segments = cut(&starts, parts);
            assert_eq!((segments[0].start, segments[parts - 1].end), (0, 10));
            assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
            for waves in segments {
                assert!(starts[waves.end] - starts[waves.start] <= 55 / parts + 10);
            }
        }
    }
}
