//! `mesh = "auto"`: the mesh with the least estimated time per step.

use super::algorithm::{FftAlgorithm, LegendreAlgorithm};
use super::mesh::{Mesh, RankOrder};
use crate::spectral::truncation::Truncation;

/// Assumed rates of a core and of the paths between ranks: only their ratios matter.
const LEGENDRE_FLOPS: f64 = 2e10;
const FFT_FLOPS: f64 = 1e10;
const GRID_BYTES: f64 = 1e10;
const NETWORK_BYTES: f64 = 3e9;
const MESSAGE_SECONDS: f64 = 3e-6;

/// Fields to the grid and back.
const INVERSE: usize = 4;
const FORWARD: usize = 5;

/// The best mesh for `ranks` ranks, and the estimate in seconds per step that chose it.
///
/// For every `PX PY = ranks` the largest share of a rank is taken for each stage (Legendre units,
/// groups of lines, grid points), plus the bytes and messages of its transposes.
pub fn choose(
    truncation: &Truncation,
    (nlat, nlon): (usize, usize),
    levels: usize,
    ranks: usize,
    (fft, legendre): (FftAlgorithm, LegendreAlgorithm),
    order: RankOrder,
) -> (Mesh, f64) {
    (1..=ranks)
        .filter(|&px| ranks.is_multiple_of(px) && fft.lacks(px, nlon).is_none())
        .map(|px| {
            let mesh = Mesh {
                px,
                py: ranks / px,
                order,
            };
            (
                mesh,
                estimate(truncation, (nlat, nlon), levels, mesh, (fft, legendre)),
            )
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((
            Mesh {
                px: 1,
                py: ranks,
                order,
            },
            0.0,
        ))
}

/// Estimated seconds per step of the slowest rank.
pub(crate) fn estimate(
    truncation: &Truncation,
    (nlat, nlon): (usize, usize),
    levels: usize,
    Mesh { px, py, .. }: Mesh,
    (fft, legendre): (FftAlgorithm, LegendreAlgorithm),
) -> f64 {
    let by_level = fft == FftAlgorithm::SingleTranspose;
    let fields = (INVERSE + FORWARD) as f64;
    let (pairs, waves) = (nlat / 2, truncation.m_max() + 1);
    let (units, own_levels) = if by_level {
        (waves * levels.div_ceil(px), levels.div_ceil(px))
    } else {
        (waves.div_ceil(px) * levels, levels)
    };
    let groups = pairs.div_ceil(4).div_ceil(py);
    let unit_values = units * truncation.coefficients() / waves;
    let unit_flops = 4.0 * truncation.coefficients() as f64 / waves as f64 * pairs as f64;
    let sums = fields * units.div_ceil(py) as f64 * unit_flops / LEGENDRE_FLOPS;
    let line_flops = 2.5 * nlon as f64 * (nlon as f64).log2() * 8.0;
    let lines = |fields: usize| {
        if by_level {
            own_levels * groups * fields
        } else {
            (levels * groups * fields).div_ceil(px)
        }
    };
    let fourier = (lines(INVERSE) + lines(FORWARD)) as f64 * line_flops / FFT_FLOPS;
    let points = (levels * groups * 8 * nlon.div_ceil(px)) as f64;
    let grid = points * fields * 8.0 / GRID_BYTES;
    let cells = (levels * groups * waves.div_ceil(px) * 16) as f64;
    let mut moved = 0.0;
    let mut messages = 0.0;
    if px > 1 && fft == FftAlgorithm::Distributed {
        let stages = (px as f64).log2();
        moved += fields * 8.0 * (stages * points + cells);
        messages += 2.0 * (stages + 1.0);
    } else if px > 1 {
        let other = (px - 1) as f64 / px as f64;
        let rounds = if by_level { 1.0 } else { 2.0 };
        moved += fields * 8.0 * other * (points + if by_level { 0.0 } else { cells });
        messages += 2.0 * rounds * (px - 1) as f64;
    }
    if py > 1 && legendre == LegendreAlgorithm::Distributed {
        let values = 2.0 * unit_values as f64 * FORWARD as f64;
        moved += 8.0 * 2.0 * values;
        messages += 2.0 * (py as f64).log2();
    } else if py > 1 {
        moved += fields * 8.0 * cells * (py - 1) as f64 / py as f64;
        messages += 2.0 * (py - 1) as f64;
    }
    sums + fourier + grid + moved / NETWORK_BYTES + messages * MESSAGE_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSPOSES: (FftAlgorithm, LegendreAlgorithm) =
        (FftAlgorithm::DoubleTranspose, LegendreAlgorithm::Transpose);

    #[test]
    fn a_distributed_fft_gets_a_power_of_two() {
        let truncation = Truncation::triangular(42);
        let how = (FftAlgorithm::Distributed, LegendreAlgorithm::Distributed);
        for ranks in [3, 6, 12] {
            let grid = truncation.alias_free_grid();
            let mesh = choose(&truncation, grid, 1, ranks, how, RankOrder::Row).0;
            assert!(mesh.px.is_power_of_two() && mesh.ranks() == ranks);
        }
    }

    #[test]
    fn small_counts_split_latitudes_and_large_counts_both() {
        let mesh = |n: usize, levels, ranks| {
            let truncation = Truncation::triangular(n);
            let grid = truncation.alias_free_grid();
            choose(&truncation, grid, levels, ranks, TRANSPOSES, RankOrder::Row).0
        };
        assert_eq!(mesh(42, 1, 1).ranks(), 1);
        assert_eq!((mesh(85, 4, 2).px, mesh(85, 4, 2).py), (1, 2));
        let large = mesh(1279, 137, 10_000);
        assert_eq!(large.ranks(), 10_000);
        assert!(large.px > 1 && large.py > 1 && large.py <= 240, "{large:?}");
    }
}
