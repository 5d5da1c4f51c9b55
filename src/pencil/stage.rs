//! The movements of one direction: their plans, and the copies into messages.

use std::ops::Range;

use super::choice::AlgorithmChoice;
use super::maps;
use super::transform::PencilError;
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::distribution::Distribution;
use crate::decomp::units::{ColumnUnits, Unit};
use crate::exchange::choice::ExchangeChoice;
use crate::exchange::{Plan, Transpose};
use crate::transform::{CELL, POINT};
use crate::transport::{Block, Transport};

/// The plans of one direction (`to_grid` or back).
pub(super) struct Plans<T: Transport> {
    /// Units of this rank at all latitudes <-> units of the column at latitudes of the row.
    pub column: Option<Transpose<T>>,
    /// Wavenumbers of the column for all lines of the row <-> all wavenumbers for own lines.
    pub waves: Option<Transpose<T>>,
    /// Longitudes of the column for all lines of the row <-> whole own lines.
    pub lines: Option<Transpose<T>>,
}

/// Elements of every block, towards the grid: a factor of its sender times a factor of its receiver,
/// so that any rank can tell the length of any block.
struct Lengths {
    /// By sender.
    held: Vec<usize>,
    /// By receiver.
    wanted: Vec<usize>,
}

/// Elements exchanged with every peer, towards the grid: `(sent, received)`.
struct Counts(Vec<usize>, Vec<usize>);

/// Where these elements lie when nothing packs them: on the side that is sent from towards the
/// grid, and on the other; blocks, and the length of the buffer.
struct Unpacked([(Vec<Block>, usize); 2]);

impl Lengths {
    fn block(&self, from: usize, to: usize) -> usize {
        self.held[from] * self.wanted[to]
    }

    fn counts(&self, rank: usize) -> Counts {
        let there = (0..self.wanted.len()).map(|to| self.block(rank, to));
        let back = (0..self.held.len()).map(|from| self.block(from, rank));
        Counts(there.collect(), back.collect())
    }

    /// The plan; `unpacked` is asked where the engine needs no packing.
    fn plan<T: Transport>(
        &self,
        comm: &T,
        to_grid: bool,
        choice: &ExchangeChoice,
        unpacked: impl FnOnce(&Counts) -> Unpacked,
    ) -> Result<Transpose<T>, PencilError> {
        let (rank, size) = (comm.rank(), comm.size());
        let plan = if choice.moves_apart() {
            let Unpacked([there, back]) = unpacked(&self.counts(rank));
            let (send, recv) = if to_grid {
                (there, back)
            } else {
                (back, there)
            };
            Plan::of_blocks(rank, size, send, recv, choice)?
        } else if to_grid {
            Plan::new(rank, size, |from, to| self.block(from, to), choice)?
        } else {
            Plan::new(rank, size, |from, to| self.block(to, from), choice)?
        };
        Ok(Transpose::new(comm, plan)?)
    }
}

/// The blocks of a map in its layout.
fn mapped(
    counts: &[usize],
    len: usize,
    map: impl FnOnce(&mut dyn FnMut(Range<usize>, Range<usize>)),
) -> (Vec<Block>, usize) {
    let mut pairs = Vec::new();
    map(&mut |there, at| pairs.push((there, at)));
    (maps::blocks(counts, pairs), len)
}

/// Blocks one after the other.
fn contiguous(counts: &[usize]) -> (Vec<Block>, usize) {
    let len = counts.iter().sum();
    mapped(counts, len, |visit| {
        let mut start = 0;
        for count in counts {
            visit(start..start + count, start..start + count);
            start += count;
        }
    })
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
        let own_units = distribution.own_units(column, y).0.len();
        let groups = distribution.groups(y);
        let transposed = py > 1 && distribution.legendre == LegendreAlgorithm::Transpose;
        let column_plan = transposed.then(|| {
            let lengths = Lengths {
                held: (0..py).map(|y| column.of(y).len()).collect(),
                wanted: (0..py)
                    .map(|y| distribution.groups(y) * fields * CELL)
                    .collect(),
            };
            lengths.plan(column_comm, to_grid, &choice.legendre_transpose, |counts| {
                let spectral = own_units * distribution.all_groups() * fields * CELL;
                let cells = counts.1.iter().sum();
                Unpacked([
                    mapped(&counts.0, spectral, |visit| {
                        maps::latitudes(distribution, fields, own_units, visit);
                    }),
                    mapped(&counts.1, cells, |visit| {
                        let units = column.units.len();
                        maps::own_latitudes(distribution, y, fields, units, |at| {
                            visit(at.clone(), at);
                        });
                    }),
                ])
            })
        });
        let lines_of = |x: usize| distribution.line_groups(x, y, fields).len();
        let waves_plan = (px > 1 && distribution.fft == FftAlgorithm::DoubleTranspose).then(|| {
            let lengths = Lengths {
                held: (0..px).map(|x| distribution.waves(x).len()).collect(),
                wanted: (0..px).map(|x| lines_of(x) * CELL).collect(),
            };
            lengths.plan(row, to_grid, &choice.fft_transpose, |counts| {
                let per_level = groups * fields;
                let cells = column.units.len() * per_level * CELL;
                let own = distribution.waves(x);
                Unpacked([
                    mapped(&counts.0, cells, |visit| {
                        maps::waves(&column.units, &own, per_level, visit);
                    }),
                    contiguous(&counts.1),
                ])
            })
        });
        let lines_plan = (px > 1 && distribution.fft != FftAlgorithm::Distributed).then(|| {
            let longitudes = |x: usize| distribution.longitudes(x).len();
            let lengths = Lengths {
                held: (0..px).map(lines_of).collect(),
                wanted: (0..px).map(|x| longitudes(x) * POINT).collect(),
            };
            lengths.plan(row, to_grid, &choice.fft_transpose, |counts| {
                let own = lines_of(x);
                Unpacked([
                    mapped(&counts.0, own * distribution.nlon * POINT, |visit| {
                        maps::longitudes(distribution, own, visit);
                    }),
                    contiguous(&counts.1),
                ])
            })
        });
        Ok(Self {
            column: column_plan.transpose()?,
            waves: waves_plan.transpose()?,
            lines: lines_plan.transpose()?,
        })
    }

    /// Every transpose.
    pub(super) fn all(&self) -> impl Iterator<Item = &Transpose<T>> {
        let all = [&self.column, &self.waves, &self.lines];
        all.into_iter().flatten()
    }

    /// Bytes of the buffers of these movements.
    pub(super) fn bytes(&self) -> usize {
        self.all().map(Transpose::bytes).sum()
    }
}

/// Whether some lanes of a row of the mesh are filled by no pair of it. Such lanes are part of what
/// is moved and summed: nothing may be left there.
pub(super) fn has_idle_lanes(distribution: &Distribution) -> bool {
    (0..distribution.mesh.py).any(|y| !maps::is_whole(distribution, y))
}

fn copy(layout: &[f64], message: &mut [f64]) -> impl FnMut(Range<usize>, Range<usize>) {
    move |there, at| message[at].copy_from_slice(&layout[there])
}

/// Into messages, by [`maps::latitudes`].
pub(super) fn pack_latitudes(
    distribution: &Distribution,
    fields: usize,
    layout: &[f64],
    message: &mut [f64],
) {
    if has_idle_lanes(distribution) {
        message.fill(0.0);
    }
    let units = layout.len() / (distribution.all_groups() * fields * CELL);
    maps::latitudes(distribution, fields, units, copy(layout, message));
}

/// Into messages, by [`maps::waves`].
pub(super) fn pack_waves(
    units: &[Unit],
    waves: &[usize],
    per_level: usize,
    cells: &[f64],
    message: &mut [f64],
) {
    maps::waves(units, waves, per_level, copy(cells, message));
}

/// Into messages, by [`maps::longitudes`].
pub(super) fn pack_longitudes(distribution: &Distribution, lines: &[f64], message: &mut [f64]) {
    let count = lines.len() / (distribution.nlon * POINT);
    maps::longitudes(distribution, count, copy(lines, message));
}

#[cfg(test)]
mod tests {
    use super::super::unpack::{Latitudes, Longitudes, Unpack, Waves};
    use super::*;
    use crate::decomp::mesh::{Mesh, MeshChoice, RankOrder};
    use crate::exchange::choice::SwapChoice;
    use crate::exchange::gather::FLOW_CONTROL;
    use crate::exchange::sum::SumChoice;
    use crate::exchange::transpose::Movement;
    use crate::spectral::truncation::Truncation;
    use crate::transport::EngineKind;
    use crate::transport::threads::{ThreadOptions, ThreadTransport, run};

    fn choice(engine: Option<EngineKind>) -> AlgorithmChoice {
        let exchange = ExchangeChoice {
            engine,
            ..ExchangeChoice::default()
        };
        AlgorithmChoice {
            mesh: MeshChoice::Auto,
            rank_order: RankOrder::Row,
            fft: FftAlgorithm::DoubleTranspose,
            legendre: LegendreAlgorithm::Transpose,
            fft_transpose: exchange,
            fft_butterfly: SwapChoice::default(),
            legendre_transpose: exchange,
            legendre_sum: SumChoice::default(),
            gather: FLOW_CONTROL,
            eager_limit: 0,
            watchdog_seconds: 30.0,
        }
    }

    /// Moves the same numbers once with packing and once without; `idle` says whether there are
    /// elements that nothing is moved to.
    fn same_bits<T: Transport>(
        comm: &T,
        to_grid: bool,
        idle: bool,
        plans: (Option<Transpose<T>>, Option<Transpose<T>>),
        pack: impl Fn(&[f64], &mut [f64]),
        unpack: &impl Unpack,
    ) {
        let (mut packed, mut apart) = match plans {
            (Some(packed), Some(apart)) => (packed, apart),
            (None, None) => return,
            _ => panic!("one moves, the other does not"),
        };
        assert!(apart.moves_apart() && !packed.moves_apart());
        let unset = if idle { 0.0 } else { f64::NAN };
        let (send_len, recv_len) = (apart.plan().send_len, apart.plan().recv_len);
        let first = 1_000_000 * (comm.rank() + 1);
        let from: Vec<f64> = (first..first + send_len).map(|n| n as f64).collect();
        let (mut expected, mut found) = (vec![f64::NAN; recv_len], vec![unset; recv_len]);
        let (mut cost, mut cost_apart) = (Movement::default(), Movement::default());
        if to_grid {
            let mut message = vec![f64::NAN; packed.plan().send_len];
            pack(&from, &mut message);
            packed.execute(comm, &message, &mut expected, &mut cost)
        } else {
            let mut message = vec![f64::NAN; packed.plan().recv_len];
            let moved = packed.execute(comm, &from, &mut message, &mut cost);
            unpack.all(&mut expected, &message);
            let mut by_block = vec![f64::NAN; recv_len];
            unpack.before(&mut by_block);
            for block in packed.plan().pattern().recv.iter().rev() {
                unpack.block(&mut by_block, block.peer, &message[block.runs[0].clone()]);
            }
            assert_eq!(by_block, expected);
            moved
        }
        .unwrap();
        apart
            .execute(comm, &from, &mut found, &mut cost_apart)
            .unwrap();
        assert!(expected.iter().all(|value| value.is_finite()));
        assert_eq!(found, expected);
        assert_eq!(cost_apart.messages, cost.messages);
        // Idle lanes do not travel.
        assert!(cost_apart.bytes == cost.bytes || idle && cost_apart.bytes < cost.bytes);
        let pattern = apart.plan().pattern();
        for block in pattern.send.iter().chain(&pattern.recv) {
            let joined = |pair: &[Range<usize>]| pair[0].end != pair[1].start;
            assert!(block.runs.windows(2).all(joined), "{block:?}");
        }
    }

    /// Every movement of a mesh, with and without packing.
    fn compare(distribution: &Distribution, fields: usize, to_grid: bool) {
        let Mesh { px, py, .. } = distribution.mesh;
        let body = |world: ThreadTransport| {
            let (x, y) = distribution.mesh.position(world.rank());
            let (row, column) = (world.split(y, x)?, world.split(x, y)?);
            let units = distribution.column_units(x);
            let comms = (&row, &column);
            let plans = |engine| {
                Plans::new(
                    distribution,
                    comms,
                    &units,
                    fields,
                    to_grid,
                    &choice(engine),
                )
            };
            let (packed, apart) = (plans(None)?, plans(Some(EngineKind::Alltoallw))?);
            let both = (packed.column, apart.column);
            let idle = has_idle_lanes(distribution);
            let pack = |cells: &[f64], message: &mut [f64]| {
                pack_latitudes(distribution, fields, cells, message);
            };
            let unpack = Latitudes {
                distribution,
                fields,
            };
            same_bits(&column, to_grid, idle, both, pack, &unpack);
            let (waves, per_level) = (distribution.waves(x), distribution.groups(y) * fields);
            let both = (packed.waves, apart.waves);
            let pack = |cells: &[f64], message: &mut [f64]| {
                pack_waves(&units.units, &waves, per_level, cells, message);
            };
            let unpack = Waves {
                distribution,
                y,
                fields,
                units: &units.units,
                waves: &waves,
            };
            same_bits(&row, to_grid, false, both, pack, &unpack);
            let both = (packed.lines, apart.lines);
            let pack = |lines: &[f64], message: &mut [f64]| {
                pack_longitudes(distribution, lines, message);
            };
            let unpack = Longitudes(distribution);
            same_bits(&row, to_grid, false, both, pack, &unpack);
            Ok::<_, PencilError>(())
        };
        run(px * py, ThreadOptions::default(), body).unwrap();
    }

    #[test]
    fn nothing_packed_moves_what_packing_moves() {
        // Latitudes that are whole groups of pairs, and some that are not; rows that share groups.
        for (n, nlat, nlon) in [(10, 16, 32), (13, 20, 42), (21, 34, 64)] {
            for (px, py) in [
                (1, 1),
                (1, 2),
                (2, 1),
                (2, 2),
                (3, 2),
                (2, 3),
                (1, 5),
                (5, 1),
                (1, 7),
            ] {
                let (by_level, dealt) =
                    (FftAlgorithm::SingleTranspose, FftAlgorithm::DoubleTranspose);
                for (levels, fft) in [(1, dealt), (3, dealt), (1, by_level), (3, by_level)] {
                    let mesh = Mesh {
                        px,
                        py,
                        order: RankOrder::Row,
                    };
                    let size = Truncation::triangular(n);
                    let how = (fft, LegendreAlgorithm::Transpose);
                    let distribution = Distribution::new(size, (nlat, nlon), levels, mesh, how);
                    for (fields, to_grid) in [(4, true), (5, false)] {
                        compare(&distribution, fields, to_grid);
                    }
                }
            }
        }
    }
}
