//! The state as a checkpoint, and back: whole numbers of coefficients in global order, so that a
//! run may go on on another mesh.

use num_complex::Complex64;

use super::diagnostics::Invariants;
use super::model::{Model, SolverError};
use super::state::State;
use crate::exchange::collective::broadcast;
use crate::exchange::gather::gather;
use crate::problem::definition::{Mountain, Problem, TimeStepping};
use crate::report::netcdf::CheckpointData;
use crate::spectral::truncation::Truncation;
use crate::transport::Transport;

const FIELDS: [&str; 6] = [
    "zeta_old",
    "delta_old",
    "phi_old",
    "zeta_now",
    "delta_now",
    "phi_now",
];
const SCALARS: [&str; 8] = [
    "phibar",
    "wind_bound",
    "initial_mass",
    "initial_energy",
    "initial_enstrophy",
    "initial_zeta",
    "initial_delta",
    "initial_max_wind",
];

/// What must be the same for a run to go on from a checkpoint: names and values.
fn identity(problem: &Problem, time: &TimeStepping) -> Vec<(&'static str, String)> {
    let planet = &problem.planet;
    let mountain = match problem.mountain {
        Mountain::Flat => "none",
        Mountain::Cone => "cone",
        Mountain::Smooth => "smooth",
        Mountain::File { .. } => "file",
    };
    vec![
        ("problem.case", problem.case.name().to_owned()),
        ("problem.alpha", problem.alpha.to_string()),
        ("problem.u0", problem.u0.to_string()),
        ("problem.nlat", problem.nlat.to_string()),
        ("problem.nlon", problem.nlon.to_string()),
        ("problem.mountain", mountain.to_owned()),
        (
            "problem.phibar",
            problem
                .phibar
                .map_or("the initial mean".to_owned(), |phibar| phibar.to_string()),
        ),
        (
            "problem.planet",
            format!(
                "radius {}, omega {}, gravity {}",
                planet.radius, planet.omega, planet.gravity
            ),
        ),
        ("time.dt", time.dt.to_string()),
        ("time.scheme", time.scheme.name().to_owned()),
    ]
}

/// Where the coefficients of `(level, m)` start in a field of a checkpoint: levels slowest, then
/// m, then n, complex numbers as pairs.
struct GlobalOrder {
    starts: Vec<usize>,
    per_level: usize,
}

impl GlobalOrder {
    fn new(truncation: &Truncation) -> Self {
        let mut starts = vec![0];
        for m in 0..=truncation.m_max() {
            starts.push(starts[m] + 2 * truncation.degrees(m));
        }
        Self {
            per_level: starts[truncation.m_max() + 1],
            starts,
        }
    }

    fn range(&self, level: usize, m: usize) -> std::ops::Range<usize> {
        let base = level * self.per_level;
        base + self.starts[m]..base + self.starts[m + 1]
    }
}

impl<T: Transport> Model<T> {
    /// The checkpoint of the newest two time levels, on rank 0 (`None` elsewhere). Every rank
    /// calls it.
    ///
    /// # Errors
    /// A lost rank.
    pub fn to_checkpoint(&self, namelist: &str) -> Result<Option<CheckpointData>, SolverError> {
        let distribution = self.pencil.distribution();
        let truncation = distribution.truncation;
        let order = GlobalOrder::new(&truncation);
        let mut fields = Vec::new();
        let sources = self.old.fields().into_iter().chain(self.now.fields());
        for (name, field) in FIELDS.into_iter().zip(sources) {
            let own: Vec<f64> = self
                .pencil
                .layout()
                .counted()
                .flat_map(|(_, range)| &field[range.start..range.end - 1])
                .flat_map(|c| [c.re, c.im])
                .collect();
            let Some(blocks) = gather(&self.world, 0, &own, &self.gather)? else {
                continue;
            };
            let mut whole = vec![0.0; order.per_level * distribution.levels];
            for (rank, block) in blocks.iter().enumerate() {
                let (x, y) = distribution.mesh.position(rank);
                let mut rest = block;
                for unit in distribution.counted_units(x, y) {
                    let range = order.range(unit.level, unit.m);
                    let (part, after) = rest.split_at(range.len());
                    whole[range].copy_from_slice(part);
                    rest = after;
                }
            }
            fields.push((name.to_owned(), whole));
        }
        if self.world.rank() != 0 {
            return Ok(None);
        }
        let initial = self.initial.unwrap_or_else(Invariants::unknown);
        let scalars = [
            self.phibar,
            self.wind_bound,
            initial.mass,
            initial.energy,
            initial.enstrophy,
            initial.zeta,
            initial.delta,
            initial.max_wind,
        ];
        let mut text = vec![("namelist".to_owned(), namelist.to_owned())];
        for (key, value) in identity(&self.problem, &self.time) {
            text.push((key.replace('.', "_"), value));
        }
        Ok(Some(CheckpointData {
            step: self.step,
            time: self.seconds(),
            truncation: truncation.mnk(),
            levels: distribution.levels,
            fields,
            scalars: SCALARS
                .into_iter()
                .map(str::to_owned)
                .zip(scalars)
                .collect(),
            text,
        }))
    }

    /// Goes on from a checkpoint that rank 0 read. Every rank calls it.
    ///
    /// # Errors
    /// A checkpoint of another problem; a lost rank.
    pub fn restore(&mut self, checkpoint: Option<&CheckpointData>) -> Result<(), SolverError> {
        let distribution = self.pencil.distribution();
        let (truncation, levels) = (distribution.truncation, distribution.levels);
        let mut head = vec![0.0; SCALARS.len() + 1];
        if let Some(data) = checkpoint {
            self.check_identity(data)?;
            head[0] = data.step as f64;
            for (value, name) in head[1..].iter_mut().zip(SCALARS) {
                *value = data.scalar(name).ok_or_else(|| missing(name))?;
            }
        }
        broadcast(&self.world, 0, &mut head)?;
        let order = GlobalOrder::new(&truncation);
        let length = order.per_level * levels;
        let sources: Option<Vec<&[f64]>> = match checkpoint {
            Some(data) => Some(
                FIELDS
                    .into_iter()
                    .map(|name| {
                        data.field(name)
                            .filter(|field| field.len() == length)
                            .ok_or_else(|| missing(name))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            None => None,
        };
        let mut states = [State::zeros(0), State::zeros(0)];
        std::mem::swap(&mut states[0], &mut self.old);
        std::mem::swap(&mut states[1], &mut self.now);
        for level in 0..levels {
            for m in 0..=truncation.m_max() {
                let range = order.range(level, m);
                let mut flat = vec![0.0; FIELDS.len() * range.len()];
                if let Some(sources) = &sources {
                    for (part, source) in flat.chunks_exact_mut(range.len()).zip(sources) {
                        part.copy_from_slice(&source[range.clone()]);
                    }
                }
                broadcast(&self.world, 0, &mut flat)?;
                let own = self
                    .pencil
                    .layout()
                    .iter()
                    .find(|(unit, _)| unit.m == m && unit.level == level);
                let Some((_, to)) = own else { continue };
                let [old, now] = &mut states;
                let targets = old.fields_mut().into_iter().chain(now.fields_mut());
                for (part, target) in flat.chunks_exact(range.len()).zip(targets) {
                    for (pair, c) in part.chunks_exact(2).zip(&mut target[to.clone()]) {
                        *c = Complex64::new(pair[0], pair[1]);
                    }
                }
            }
        }
        let [old, now] = states;
        (self.old, self.now) = (old, now);
        self.step = head[0] as u64;
        (self.phibar, self.wind_bound) = (head[1], head[2]);
        self.initial = Some(Invariants {
            mass: head[3],
            energy: head[4],
            enstrophy: head[5],
            zeta: head[6],
            delta: head[7],
            max_wind: head[8],
        });
        Ok(())
    }

    fn check_identity(&self, data: &CheckpointData) -> Result<(), SolverError> {
        let distribution = self.pencil.distribution();
        let mut differences = Vec::new();
        let mut compare = |key: &str, theirs: &str, ours: &str| {
            if theirs != ours {
                differences.push(format!("{key} is {theirs} there and {ours} here"));
            }
        };
        compare(
            "problem.truncation",
            &format!("{:?}", data.truncation),
            &format!("{:?}", distribution.truncation.mnk()),
        );
        compare(
            "problem.levels",
            &data.levels.to_string(),
            &distribution.levels.to_string(),
        );
        for (key, ours) in identity(&self.problem, &self.time) {
            compare(
                key,
                data.text(&key.replace('.', "_")).unwrap_or("unknown"),
                &ours,
            );
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(SolverError::Start(format!(
            "the checkpoint is of another problem: {}",
            differences.join("; ")
        )))
    }
}

fn missing(name: &str) -> SolverError {
    SolverError::Start(format!(
        "the checkpoint has no {name} of the right length: it was not written by this program"
    ))
}
