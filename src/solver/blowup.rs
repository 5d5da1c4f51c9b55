//! When a run is stopped, and what is said then.

use std::fmt;

use thiserror::Error;

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
    /// A Courant number above its limit: of the wind, or of gravity waves in an explicit scheme.
    TimeStep {
        /// The number.
        courant: f64,
        /// Whether it is that of gravity waves.
        gravity: bool,
    },
    /// The smallest scales hold this share of the enstrophy.
    Diffusion {
        /// Share in the last third of the degrees.
        share: f64,
    },
    /// It happened at once.
    Input,
}

impl fmt::Display for BlowUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the run blew up in step {} (day {:.4}): wind {:.4e} m/s at {:.2} N {:.2} E, level {} \
             (bound {:.0} m/s); ",
            self.step,
            self.seconds / 86_400.0,
            self.wind,
            self.latitude,
            self.longitude,
            self.level,
            self.bound
        )?;
        match self.cause {
            Cause::TimeStep { courant, gravity } => write!(
                out,
                "likely cause: time.dt, since the Courant number of {} is {courant:.2}; reduce dt{}",
                if gravity { "gravity waves" } else { "the wind" },
                if gravity {
                    " or use scheme = \"semi-implicit\""
                } else {
                    ""
                }
            ),
            Cause::Diffusion { share } => write!(
                out,
                "likely cause: too little time.diffusion, since {:.0} % of the enstrophy is in the \
                 last third of the degrees",
                100.0 * share
            ),
            Cause::Input => write!(
                out,
                "likely cause: the initial state (problem.file, problem.u0 or problem.phibar), \
                 since the time step is within its limits and the small scales are calm"
            ),
        }
    }
}
