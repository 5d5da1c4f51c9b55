//! When a run is stopped, and what is said then.

use std::fmt;

use thiserror::Error;

use super::model::Model;
use super::state::State;
use crate::pencil::GridShape;
use crate::problem::definition::Scheme;
use crate::transform::{LANES, POINT};
use crate::transport::Transport;

/// A run stopped because the wind became infinite, not a number, or too strong.
#[derive(Clone, Debug, Error, PartialEq)]
pub struct BlowUp {
    /// Step being taken when it was noticed, counted from 1.
    pub step: u64,
    /// Model time, s.
    pub seconds: f64,
    /// Level.
    pub level: usize,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Wind there, m/s; not finite if so.
    pub wind: f64,
    /// The bound, m/s.
    pub bound: f64,
    /// The likely cause.
    pub cause: Cause,
}

/// What probably made a run blow up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// The Courant numbers of the wind and, in an explicit scheme, of gravity waves (else 0) are
    /// together above the limit of the scheme.
    TimeStep {
        /// Of the wind.
        advective: f64,
        /// Of gravity waves.
        gravity: f64,
        /// Limit of their sum.
        limit: f64,
    },
    /// The smallest scales hold this share of the enstrophy.
    Diffusion {
        /// Share in the last third of the degrees.
        share: f64,
    },
    /// It happened at once.
    Input,
    /// Time step and small scales look harmless.
    Unclear {
        /// Sum of the Courant numbers that matter.
        courant: f64,
    },
}

impl fmt::Display for BlowUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the run blew up in step {} (day {:.4}): wind {:.4e} m/s at {:.2} {} {:.2} E, level {} \
             (bound {:.0} m/s); ",
            self.step,
            self.seconds / 86_400.0,
            self.wind,
            self.latitude.abs(),
            if self.latitude < 0.0 { "S" } else { "N" },
            self.longitude,
            self.level,
            self.bound
        )?;
        match self.cause {
            Cause::TimeStep {
                advective,
                gravity,
                limit,
            } if gravity > 0.0 => write!(
                out,
                "likely cause: time.dt, since at the start the Courant numbers of the wind, {advective:.2}, and \
                 of gravity waves, {gravity:.2}, are together close to or above {limit:.1}; reduce dt or use \
                 scheme = \"semi-implicit\""
            ),
            Cause::TimeStep {
                advective, limit, ..
            } => write!(
                out,
                "likely cause: time.dt, since at the start the Courant number of the wind, {advective:.2}, is close \
                 to or above {limit:.1}, and the wind grows; reduce dt"
            ),
            Cause::Diffusion { share } => write!(
                out,
                "likely cause: too little time.diffusion, since {:.0} % of the enstrophy is in the \
                 last third of the degrees",
                100.0 * share
            ),
            Cause::Unclear { courant } => write!(
                out,
                "no clear cause: the Courant number {courant:.2} is within its limit and the \
                 small scales are calm; try half the time.dt first, then more time.diffusion"
            ),
            Cause::Input => write!(
                out,
                "likely cause: the initial state (problem.file, problem.u0 or problem.phibar), \
                 since the time step is within its limits and the small scales are calm"
            ),
        }
    }
}

/// Where this rank found the strongest wind beyond the bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    kinetic: f64,
    level: usize,
    /// Latitude pair of the globe.
    pair: usize,
    south: bool,
    longitude: usize,
}

impl Worst {
    /// Looks for a stronger wind in the kinetic energy of a group of latitude pairs,
    /// `[longitude][north | south][lane]`; the first that is not finite is the strongest.
    pub(super) fn look(
        worst: &mut Option<Self>,
        shape: &GridShape,
        (level, group): (usize, usize),
        kinetic: &[f64],
    ) {
        let pairs = shape.pairs.clone().skip(group * LANES).take(LANES);
        for (lane, pair) in pairs.enumerate() {
            for side in 0..2 {
                for (i, point) in kinetic.chunks_exact(POINT).enumerate() {
                    let kinetic = point[side * LANES + lane];
                    let most = worst.map_or(-1.0, |worst| worst.kinetic);
                    if !most.is_finite() {
                        return;
                    }
                    if !(kinetic <= most) {
                        *worst = Some(Self {
                            kinetic,
                            level,
                            pair,
                            south: side == 1,
                            longitude: shape.longitudes.start + i,
                        });
                    }
                }
            }
        }
    }
}

/// What to say of an evaluation that went out of bounds.
pub(super) fn describe<T: Transport>(
    model: &Model<T>,
    worst: &Worst,
    state: &State,
    seconds: f64,
) -> BlowUp {
    let mu = model.pencil.gauss().mu[worst.pair].to_f64();
    let latitude = mu.asin().to_degrees();
    BlowUp {
        step: model.step + 1,
        seconds,
        level: worst.level,
        latitude: if worst.south { -latitude } else { latitude },
        longitude: 360.0 * worst.longitude as f64 / model.problem.nlon as f64,
        wind: (2.0 * worst.kinetic).sqrt(),
        bound: model.wind_bound,
        cause: cause(model, state),
    }
}

/// The likely cause: the Courant numbers of the initial wind and of gravity waves, then the share
/// of enstrophy in the last third of this rank's degrees.
fn cause<T: Transport>(model: &Model<T>, state: &State) -> Cause {
    let (problem, dt) = (&model.problem, model.time.dt);
    let k = problem.truncation.k_max() as f64;
    let per_speed = dt * (k * (k + 1.0)).sqrt() / problem.planet.radius;
    let limit = if model.time.scheme == Scheme::Rk4 {
        2.8
    } else {
        1.0
    };
    // An explicit scheme must resolve the wind and gravity waves together; a semi-implicit one,
    // and advection alone, the wind.
    let advective = model.initial.map_or(0.0, |initial| initial.max_wind) * per_speed;
    let gravity = if model.time.scheme == Scheme::SemiImplicit || model.advection_only {
        0.0
    } else {
        model.phibar.max(0.0).sqrt() * per_speed
    };
    // The wind of a run grows; what is close to the limit at the start soon passes it.
    if advective + gravity > 0.7 * limit {
        return Cause::TimeStep {
            advective,
            gravity,
            limit,
        };
    }
    if model.step < 10 {
        return Cause::Input;
    }
    let (mut tail, mut all) = (0.0, 0.0);
    for (unit, range) in model.pencil.layout().iter() {
        for (offset, value) in state.zeta[range].iter().enumerate() {
            let square = value.norm_sqr();
            all += square;
            if 3 * (unit.m + offset) > 2 * problem.truncation.k_max() {
                tail += square;
            }
        }
    }
    let share = tail / all;
    if share.is_finite() && share <= 0.1 {
        Cause::Unclear {
            courant: advective + gravity,
        }
    } else {
        Cause::Diffusion {
            share: if share.is_finite() { share } else { 1.0 },
        }
    }
}
