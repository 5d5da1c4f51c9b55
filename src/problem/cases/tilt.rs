//! The frame whose pole is tilted by alpha: cases 1-3 are zonal in it (W92 sections 3.1-3.3).

use std::f64::consts::TAU;

use super::{Planet, Point};
use crate::problem::planet::DAY;

/// Rotation of the axis by alpha towards longitude pi.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    pub(super) alpha: f64,
    sin: f64,
    cos: f64,
}

impl Tilt {
    pub(super) fn new(alpha: f64) -> Self {
        let (sin, cos) = alpha.sin_cos();
        Self { alpha, sin, cos }
    }

    /// Cartesian unit vector of a point in the tilted frame; its third component is the sine of
    /// the tilted latitude, `k = -cos(lon) cos(lat) sin(alpha) + sin(lat) cos(alpha)`.
    pub(super) fn position(&self, p: &Point) -> [f64; 3] {
        [
            p.cos_lon * p.cos_lat * self.cos + p.sin_lat * self.sin,
            p.sin_lon * p.cos_lat,
            -p.cos_lon * p.cos_lat * self.sin + p.sin_lat * self.cos,
        ]
    }

    /// Latitude in the tilted frame, radians, accurate at its poles too.
    pub(super) fn latitude(&self, p: &Point) -> f64 {
        let [x, y, z] = self.position(p);
        z.atan2(x.hypot(y))
    }

    /// Wind `(u, v)` of a unit solid rotation about the tilted axis (W92 eqs. 75-76, without u0):
    /// the tilted frame's eastward unit vector times the cosine of the tilted latitude.
    pub(super) fn rotation(&self, p: &Point) -> (f64, f64) {
        (
            p.cos_lat * self.cos + p.cos_lon * p.sin_lat * self.sin,
            -p.sin_lon * self.sin,
        )
    }
}

/// The speed u0 of cases 1-3, m/s: once round the sphere in 12 days (38.61 m/s on the Earth).
pub(super) fn twelve_day_speed(planet: &Planet) -> f64 {
    TAU * planet.radius / (12.0 * DAY)
}
