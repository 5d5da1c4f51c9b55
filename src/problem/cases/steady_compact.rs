//! Case 3: steady nonlinear zonal geostrophic flow with compact support (W92 section 3.3).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_6};

use super::tilt::{Tilt, twelve_day_speed};
use super::zonal_balance::{ZonalFlow, ZonalProfile};
use super::{Case, Planet, Point, State};

/// Geopotential south of the jet, m2/s2.
const GH0: f64 = 2.94e4;
/// Edges of the jet, theta_b and theta_e, radians.
const EDGES: (f64, f64) = (-FRAC_PI_6, FRAC_PI_2);
/// Width of the jet in the variable x, x_e.
const XE: f64 = 0.3;

/// `u0 b(x) b(x_e - x) exp(4/x_e)` with `b(x) = exp(-1/x)` for positive x, else 0.
struct CompactJet {
    u0: f64,
}

impl ZonalProfile for CompactJet {
    fn edges(&self) -> (f64, f64) {
        EDGES
    }

    fn wind(&self, lat: f64) -> f64 {
        let x = XE * (lat - EDGES.0) / (EDGES.1 - EDGES.0);
        if x <= 0.0 || x >= XE {
            return 0.0;
        }
        self.u0 * (4.0 / XE - 1.0 / x - 1.0 / (XE - x)).exp()
    }
}

/// A smooth jet about an axis tilted by alpha, at rest south of the tilted latitude -pi/6.
pub(super) struct SteadyCompact {
    tilt: Tilt,
    flow: ZonalFlow<CompactJet>,
    gravity: f64,
}

impl SteadyCompact {
    pub(super) fn new(planet: Planet, alpha: f64) -> Self {
        let u0 = twelve_day_speed(&planet);
        Self {
            tilt: Tilt::new(alpha),
            flow: ZonalFlow::new(planet, CompactJet { u0 }),
            gravity: planet.gravity,
        }
    }
}

impl Case for SteadyCompact {
    fn state(&self, point: &Point, _seconds: f64) -> State {
        let lat = self.tilt.latitude(point);
        let jet = self.flow.profile.wind(lat);
        // The jet vanishes faster than any power of the cosine at the tilted pole.
        let angular = if jet > 0.0 { jet / lat.cos() } else { 0.0 };
        let (east, north) = self.tilt.rotation(point);
        State {
            h: (GH0 - self.flow.drop(lat)) / self.gravity,
            u: angular * east,
            v: angular * north,
        }
    }

    fn exact(&self) -> bool {
        true
    }

    fn coriolis_tilt(&self) -> f64 {
        self.tilt.alpha
    }
}
