//! Case 2: global steady nonlinear zonal geostrophic flow (W92 section 3.2).

use super::tilt::{Tilt, twelve_day_speed};
use super::{Case, Planet, Point, State};

/// Geopotential at the tilted equator, m2/s2.
const GH0: f64 = 2.94e4;

/// Solid rotation about an axis tilted by alpha, with the height in balance.
pub(super) struct SteadyZonal {
    tilt: Tilt,
    u0: f64,
    /// Height at the tilted equator, m.
    h0: f64,
    /// Height lost at the tilted poles, `(a Omega u0 + u0^2/2)/g`, m.
    drop: f64,
}

impl SteadyZonal {
    pub(super) fn new(planet: Planet, alpha: f64) -> Self {
        let u0 = twelve_day_speed(&planet);
        Self::with(planet, u0, alpha, GH0 / planet.gravity)
    }

    /// The same flow with speed `u0`, m/s, and height `h0`, m, at the equator (case 5).
    pub(super) fn with(planet: Planet, u0: f64, alpha: f64, h0: f64) -> Self {
        Self {
            tilt: Tilt::new(alpha),
            u0,
            h0,
            drop: (planet.radius * planet.omega * u0 + u0 * u0 / 2.0) / planet.gravity,
        }
    }
}

impl Case for SteadyZonal {
    fn state(&self, point: &Point, _seconds: f64) -> State {
        let [_, _, k] = self.tilt.position(point);
        let (east, north) = self.tilt.rotation(point);
        State {
            h: self.h0 - self.drop * k * k,
            u: self.u0 * east,
            v: self.u0 * north,
        }
    }

    fn exact(&self) -> bool {
        true
    }

    fn coriolis_tilt(&self) -> f64 {
        self.tilt.alpha
    }
}
