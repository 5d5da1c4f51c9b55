//! The butterflies of a distributed FFT: the arithmetic of one rank and its swaps.
//!
//! With overlap the lines are cut in two halves, and one is combined while the other travels.

use super::cells::{CellMap, cell as cell_of};
use super::transform::PencilError;
use crate::exchange::choice::SwapChoice;
use crate::exchange::collective;
use crate::exchange::pair::PairSwap;
use crate::measure::{Movement, Phase, Phases};
use crate::transform::split_fourier::{Mirror, SplitFourier};
use crate::transform::{CELL, POINT};
use crate::transport::Transport;

/// The swaps of one direction.
#[derive(Debug)]
struct Swaps {
    /// f64 values in the first half of the lines; all of them without overlap.
    middle: usize,
    lines: usize,
    /// `[stage][half]`.
    stages: Vec<Vec<PairSwap>>,
    /// None where the rank is its own mirror.
    mirror: Option<PairSwap>,
}

impl Swaps {
    fn new(
        share: &SplitFourier,
        rank: usize,
        lines: usize,
        to_grid: bool,
        choice: &SwapChoice,
    ) -> Result<Self, PencilError> {
        let halves = if choice.method.overlap && lines > 1 {
            2
        } else {
            1
        };
        let middle = lines.div_ceil(halves) * share.line();
        let all = lines * share.line();
        let swap = |stage: usize, half: usize| {
            let len = if half == 0 { middle } else { all - middle };
            let (partner, step) = (share.partner(stage), 1 + stage * halves + half);
            PairSwap::new((rank, partner), step, (len, len), &choice.method)
        };
        let stages = (0..share.stages())
            .map(|stage| (0..halves).map(|half| swap(stage, half)).collect())
            .collect::<Result<_, _>>()?;
        let Mirror {
            partner,
            own,
            theirs,
        } = share.mirror();
        // Towards the grid a rank has -m of its own m, and the other way it lacks them.
        let (send, receive) = if to_grid {
            (own, theirs)
        } else {
            (theirs, own)
        };
        let per_wave = lines * POINT;
        let lens = (send * per_wave, receive * per_wave);
        let mirror = (partner != rank)
            .then(|| PairSwap::new((rank, partner), 0, lens, &choice.method))
            .transpose()?;
        Ok(Self {
            middle,
            lines,
            stages,
            mirror,
        })
    }
}

/// One rank's part of the distributed FFT along a mesh row.
pub(super) struct Butterflies {
    share: SplitFourier,
    swaps: [Swaps; 2],
    barrier: bool,
    /// Lines of the partner.
    other: Vec<f64>,
    /// `[line][m][POINT]`, sent and received.
    mirrors: [Vec<f64>; 2],
}

/// What is done to a half of the lines while the other travels.
#[derive(Clone, Copy)]
enum Work {
    /// Before its first stage.
    Begin,
    /// Between the stage at this position and the next.
    After(usize),
}

impl Butterflies {
    /// Butterflies of rank `x` of `px` for this many lines each way.
    pub(super) fn new(
        share: SplitFourier,
        x: usize,
        lines: [usize; 2],
        choice: &SwapChoice,
    ) -> Result<Self, PencilError> {
        let [there, back] = lines;
        let swaps = [
            Swaps::new(&share, x, there, true, choice)?,
            Swaps::new(&share, x, back, false, choice)?,
        ];
        let most = there.max(back);
        let Mirror { own, theirs, .. } = share.mirror();
        Ok(Self {
            other: vec![0.0; most * share.line()],
            mirrors: [(); 2].map(|()| vec![0.0; most * own.max(theirs) * POINT]),
            swaps,
            barrier: choice.barrier,
            share,
        })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let buffers = [&self.other, &self.mirrors[0], &self.mirrors[1]];
        let buffers = buffers.map(|buffer| size_of_val(buffer.as_slice()));
        self.share.bytes() + buffers.iter().sum::<usize>()
    }

    /// Cells of own wavenumbers to this rank's longitudes of all lines, which are `grid`.
    pub(super) fn inverse<T: Transport>(
        &mut self,
        comm: &T,
        (map, cells): (&CellMap, &[f64]),
        grid: &mut [f64],
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        self.wait(comm, phases)?;
        let mut start = phases.start();
        let Mirror { own, theirs, .. } = self.share.mirror();
        let line = self.share.line();
        let swaps = &mut self.swaps[0];
        let grid = &mut grid[..swaps.lines * line];
        let [message, received] = &mut self.mirrors;
        let (own, theirs) = (own * POINT, theirs * POINT);
        for (index, points) in grid.chunks_exact_mut(line).enumerate() {
            let message = &mut message[index * own..(index + 1) * own];
            let cell = |m| cell_of(cells, map.at(index, m));
            self.share.unfold_line(cell, points, message);
        }
        let received = match &mut swaps.mirror {
            None => &message[..],
            Some(swap) => {
                start = phases.next(Phase::FftButterflyPack, start);
                let message = &message[..swaps.lines * own];
                swap.execute(comm, message, &mut received[..swaps.lines * theirs], || {})?;
                start = phases.next(Phase::FftButterflyMove, start);
                phases.sent(Phase::FftButterflyMove, swap.bytes, swap.messages);
                &received[..]
            }
        };
        for (index, points) in grid.chunks_exact_mut(line).enumerate() {
            let message = &received[index * theirs..(index + 1) * theirs];
            self.share.place_mirror(message, points);
        }
        phases.stop(Phase::FftButterflyUnpack, start);
        let last = self.share.stages() - 1;
        let work = |share: &mut SplitFourier, work, lines: &mut [f64], other: &[f64]| match work {
            Work::Begin => {
                for line in lines.chunks_exact_mut(share.line()) {
                    share.line_inverse(line);
                }
                share.turn(last, lines);
            }
            Work::After(position) => {
                share.combine_inverse(last - position, lines, other);
                if position < last {
                    share.turn(last - position - 1, lines);
                }
            }
        };
        let stages = (0..=last).rev();
        let buffers = (grid, self.other.as_mut_slice());
        drive(
            comm,
            &mut self.share,
            swaps,
            stages,
            buffers,
            work,
            (Phase::InverseFft, phases),
        )
    }

    /// This rank's longitudes of all lines to cells of own wavenumbers; `lines` is scratch.
    pub(super) fn forward<T: Transport>(
        &mut self,
        comm: &T,
        (grid, lines): (&[f64], &mut [f64]),
        (map, cells): (&CellMap, &mut [f64]),
        phases: &mut Phases,
    ) -> Result<(), PencilError> {
        self.wait(comm, phases)?;
        let mut start = phases.start();
        let line = self.share.line();
        let swaps = &mut self.swaps[1];
        let lines = &mut lines[..swaps.lines * line];
        lines.copy_from_slice(&grid[..swaps.lines * line]);
        phases.stop(Phase::FftButterflyPack, start);
        let last = self.share.stages() - 1;
        let work = |share: &mut SplitFourier, work, lines: &mut [f64], other: &[f64]| {
            let Work::After(stage) = work else { return };
            share.combine_forward(stage, lines, other);
            if stage == last {
                for line in lines.chunks_exact_mut(share.line()) {
                    share.line_forward(line);
                }
            }
        };
        let buffers = (&mut *lines, self.other.as_mut_slice());
        let timed = (Phase::ForwardFft, &mut *phases);
        drive(comm, &mut self.share, swaps, 0..=last, buffers, work, timed)?;
        start = phases.start();
        let Mirror { own, theirs, .. } = self.share.mirror();
        let (own, theirs) = (own * POINT, theirs * POINT);
        let [message, received] = &mut self.mirrors;
        for (index, points) in lines.chunks_exact(line).enumerate() {
            let message = &mut message[index * theirs..(index + 1) * theirs];
            self.share.take_mirror(points, message);
        }
        let received = match &mut swaps.mirror {
            None => &message[..],
            Some(swap) => {
                start = phases.next(Phase::FftButterflyPack, start);
                let message = &message[..swaps.lines * theirs];
                swap.execute(comm, message, &mut received[..swaps.lines * own], || {})?;
                start = phases.next(Phase::FftButterflyMove, start);
                phases.sent(Phase::FftButterflyMove, swap.bytes, swap.messages);
                &received[..]
            }
        };
        for (index, points) in lines.chunks_exact(line).enumerate() {
            let message = &received[index * own..(index + 1) * own];
            self.share.fold_line(points, message, |m, values| {
                let at = map.at(index, m);
                cells[at..at + CELL].copy_from_slice(values);
            });
        }
        phases.stop(Phase::FftButterflyUnpack, start);
        Ok(())
    }

    fn wait<T: Transport>(&self, comm: &T, phases: &mut Phases) -> Result<(), PencilError> {
        if self.barrier {
            let start = phases.start();
            collective::barrier(comm)?;
            phases.stop(Movement::FftButterfly.wait(), start);
        }
        Ok(())
    }
}

/// Swaps stage by stage, half by half; the work on one half is done while the other travels.
fn drive<T: Transport>(
    comm: &T,
    share: &mut SplitFourier,
    swaps: &mut Swaps,
    stages: impl Iterator<Item = usize>,
    (lines, other): (&mut [f64], &mut [f64]),
    mut work: impl FnMut(&mut SplitFourier, Work, &mut [f64], &[f64]),
    (computing, phases): (Phase, &mut Phases),
) -> Result<(), PencilError> {
    let (middle, len) = (swaps.middle, lines.len());
    let overlap = middle < len;
    let mut start = phases.start();
    let mut pending = Work::Begin;
    work(share, pending, &mut lines[..middle], &[]);
    for (position, stage) in stages.enumerate() {
        for (half, swap) in swaps.stages[stage].iter_mut().enumerate() {
            if position > 0 && !overlap {
                work(share, pending, lines, &other[..len]);
            }
            start = phases.next(computing, start);
            let (first, second) = lines.split_at_mut(middle);
            let (other_first, other_second) = other[..len].split_at_mut(middle);
            let (own, received, waiting, combined) = if half == 0 {
                (first, other_first, second, other_second)
            } else {
                (second, other_second, first, other_first)
            };
            let mut worked = 0.0;
            swap.execute(comm, own, received, || {
                if overlap {
                    let begin = phases.start();
                    work(share, pending, waiting, combined);
                    worked = begin.seconds();
                }
            })?;
            phases.add(Phase::FftButterflyMove, start.seconds() - worked);
            phases.add(computing, worked);
            phases.sent(Phase::FftButterflyMove, swap.bytes, swap.messages);
            start = phases.start();
            pending = Work::After(position);
        }
    }
    let last = if overlap { middle..len } else { 0..len };
    work(share, pending, &mut lines[last.clone()], &other[last]);
    phases.stop(computing, start);
    Ok(())
}
