//! Layouts: a mesh with the parallel algorithms of its two directions. They decide who computes
//! what; the ways of [`super::ways`] only how it gets there.

use std::fmt;

use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::auto;
use crate::decomp::mesh::{Mesh, MeshChoice, RankOrder};
use crate::measure::Movement;
use crate::pencil::choice::AlgorithmChoice;
use crate::problem::definition::Problem;

/// A mesh with its algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// PX x PY.
    pub mesh: Mesh,
    /// FFT along a mesh row; double-transpose where a row has one rank, and it makes no difference.
    pub fft: FftAlgorithm,
    /// Legendre transform along a mesh column; transpose where a column has one rank.
    pub legendre: LegendreAlgorithm,
}

impl Layout {
    /// A layout; algorithms of a direction that is not split are those that stand for all.
    pub fn new(mesh: Mesh, fft: FftAlgorithm, legendre: LegendreAlgorithm) -> Self {
        Self {
            mesh: Mesh {
                order: if mesh.px > 1 && mesh.py > 1 {
                    mesh.order
                } else {
                    RankOrder::Row
                },
                ..mesh
            },
            fft: if mesh.px > 1 {
                fft
            } else {
                FftAlgorithm::DoubleTranspose
            },
            legendre: if mesh.py > 1 {
                legendre
            } else {
                LegendreAlgorithm::Transpose
            },
        }
    }

    /// Puts it into a choice.
    pub fn put(&self, choice: &mut AlgorithmChoice) {
        choice.mesh = MeshChoice::Given(self.mesh.px, self.mesh.py);
        choice.rank_order = self.mesh.order;
        choice.fft = self.fft;
        choice.legendre = self.legendre;
    }

    /// The stages in which data move between ranks.
    pub fn stages(&self) -> Vec<Movement> {
        let mut stages = Vec::new();
        if self.mesh.px > 1 {
            stages.push(match self.fft {
                FftAlgorithm::Distributed => Movement::FftButterfly,
                FftAlgorithm::SingleTranspose | FftAlgorithm::DoubleTranspose => {
                    Movement::FftTranspose
                }
            });
        }
        if self.mesh.py > 1 {
            stages.push(match self.legendre {
                LegendreAlgorithm::Transpose => Movement::LegendreTranspose,
                LegendreAlgorithm::Distributed => Movement::LegendreSum,
            });
        }
        stages
    }

    /// Seconds of a step that the model of `mesh = "auto"` estimates.
    fn estimate(&self, problem: &Problem) -> f64 {
        auto::estimate(
            &problem.truncation,
            (problem.nlat, problem.nlon),
            problem.levels,
            self.mesh,
            (self.fft, self.legendre),
        )
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mesh { px, py, order } = self.mesh;
        write!(f, "{px}x{py}")?;
        if px > 1 && py > 1 && order == RankOrder::Column {
            f.write_str(" by column")?;
        }
        if px > 1 {
            write!(f, ", fft {}", self.fft.name())?;
        }
        if py > 1 {
            write!(f, ", legendre {}", self.legendre.name())?;
        }
        Ok(())
    }
}

/// What layouts there may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// PX and PY; empty: every mesh of the ranks.
    pub meshes: Vec<(usize, usize)>,
    /// How ranks fill a mesh that is split both ways.
    pub orders: Vec<RankOrder>,
    /// FFT algorithms.
    pub ffts: Vec<FftAlgorithm>,
    /// Legendre algorithms.
    pub legendres: Vec<LegendreAlgorithm>,
}

/// Every layout of so many ranks that the problem can have, the fastest by estimate first.
pub fn layouts(problem: &Problem, ranks: usize, wanted: &Wanted) -> Vec<Layout> {
    let mut found: Vec<Layout> = Vec::new();
    let meshes = (1..=ranks)
        .filter(|px| ranks.is_multiple_of(*px))
        .map(|px| (px, ranks / px))
        .filter(|mesh| wanted.meshes.is_empty() || wanted.meshes.contains(mesh));
    for (px, py) in meshes {
        for &order in &wanted.orders {
            for &fft in &wanted.ffts {
                for &legendre in &wanted.legendres {
                    let layout = Layout::new(Mesh { px, py, order }, fft, legendre);
                    let fits = layout.fft.lacks(px, problem.nlon).is_none();
                    if fits && !found.contains(&layout) {
                        found.push(layout);
                    }
                }
            }
        }
    }
    found.sort_by(|a, b| a.estimate(problem).total_cmp(&b.estimate(problem)));
    found
}
