//! What must hold at the end of any run, whatever the case: else the result is INVALID.

use super::model::{Model, SolverError};
use super::sums::{max_over_ranks, sum_over_ranks};
use crate::dd::Dd;
use crate::pencil::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::transform::POINT;
use crate::transport::Transport;

/// Largest relative change of mass: nothing but rounding of the transform of the initial state.
const MASS: f64 = 1e-12;

/// Largest mean vorticity or divergence, 1/s: their tendencies vanish exactly.
const MEAN: f64 = 1e-20;

/// Largest relative error of a round trip through grid and back, per degree.
const ROUND_TRIP_PER_DEGREE: f64 = 5e-16;

impl<T: Transport> Model<T> {
    /// Checks the newest state: finite, mass and means conserved, levels alike to the bit, and
    /// the distributed transform returns what it was given. Reasons why not; the same on every
    /// rank, and every rank calls it.
    ///
    /// # Errors
    /// A lost rank.
    pub fn check(&mut self) -> Result<Vec<String>, SolverError> {
        let mut reasons = Vec::new();
        let entry = self.diagnose(true)?;
        let finite = [entry.mass, entry.energy, entry.enstrophy, entry.max_wind]
            .iter()
            .all(|value| value.is_finite());
        if !finite {
            reasons.push("an invariant is not a finite number".to_owned());
        }
        if entry.max_wind > self.wind_bound() {
            reasons.push(format!(
                "the run was blowing up when it ended: wind {:.4e} m/s, the bound is {:.0} m/s",
                entry.max_wind,
                self.wind_bound()
            ));
        }
        if entry.mass.abs() > MASS {
            reasons.push(format!(
                "mass changed by {:.3e}, at most {MASS:e} is allowed",
                entry.mass
            ));
        }
        for (name, mean) in [
            ("vorticity", entry.zeta_mean),
            ("divergence", entry.delta_mean),
        ] {
            if mean.abs() > MEAN {
                reasons.push(format!(
                    "mean {name} is {mean:.3e} 1/s, at most {MEAN:e} is allowed"
                ));
            }
        }
        let different = self.levels_that_differ()?;
        if different > 0 {
            reasons.push(format!(
                "{different} levels differ from level 0, which they copy"
            ));
        }
        let error = self.round_trip()?;
        let allowed = ROUND_TRIP_PER_DEGREE * self.problem.truncation.k_max().max(10) as f64;
        if !(error <= allowed) {
            reasons.push(format!(
                "vorticity to the grid and back changed by {error:.3e}, at most {allowed:.1e} is \
                 allowed"
            ));
        }
        Ok(reasons)
    }

    /// How many levels are not bit for bit level 0.
    fn levels_that_differ(&self) -> Result<usize, SolverError> {
        let levels = self.problem.levels;
        let mut sums = vec![0u64; levels];
        for (unit, range) in self.pencil.layout().counted() {
            for (field, values) in self.now.fields().into_iter().enumerate() {
                for (k, value) in values[range.clone()].iter().enumerate() {
                    let words = [
                        field as u64,
                        unit.m as u64,
                        k as u64,
                        value.re.to_bits(),
                        value.im.to_bits(),
                    ];
                    let mut bytes = [0u8; 40];
                    for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
                        part.copy_from_slice(&word.to_le_bytes());
                    }
                    let hash = xxhash_rust::xxh3::xxh3_64(&bytes);
                    sums[unit.level] = sums[unit.level].wrapping_add(hash);
                }
            }
        }
        // Each half of a sum is small enough that the f64 sum over the ranks is exact.
        let halves: Vec<Dd> = sums
            .iter()
            .flat_map(|sum| [sum >> 32, sum & 0xFFFF_FFFF])
            .map(|half| Dd::from(half as f64))
            .collect();
        let halves = sum_over_ranks(&self.world, &halves)?;
        let sums: Vec<u64> = halves
            .chunks_exact(2)
            .map(|half| ((half[0] as u64) << 32).wrapping_add(half[1] as u64))
            .collect();
        Ok(sums.iter().filter(|sum| **sum != sums[0]).count())
    }

    /// Relative l2 change of the vorticity from spectral space to the grid and back.
    fn round_trip(&mut self) -> Result<f64, SolverError> {
        let before = self.phases.clone();
        let now = std::mem::take(&mut self.now);
        let result = self.fields_to_grid(&now);
        self.now = now;
        result?;
        let length = self.shape.longitudes.len() * POINT;
        if length > 0 {
            let from = self.work.grid_from.chunks_exact(length * INVERSE_FIELDS);
            let to = self.work.grid_to.chunks_exact_mut(length * FORWARD_FIELDS);
            for (from, to) in from.zip(to) {
                to[..from.len()].copy_from_slice(from);
                to[from.len()..].fill(0.0);
            }
        }
        let back = self.analyse()?;
        self.phases = before;
        let (mut error, mut norm) = (Dd::ZERO, Dd::ZERO);
        for (_, range) in self.pencil.layout().counted() {
            for at in range.start..range.end - 1 {
                error = error + Dd::from((back[0][at] - self.now.zeta[at]).norm_sqr());
                norm = norm + Dd::from(self.now.zeta[at].norm_sqr());
            }
        }
        let sums = sum_over_ranks(&self.world, &[error, norm])?;
        let relative = if sums[1] > 0.0 {
            (sums[0] / sums[1]).sqrt()
        } else {
            0.0
        };
        Ok(max_over_ranks(&self.world, &[relative])?[0])
    }
}
