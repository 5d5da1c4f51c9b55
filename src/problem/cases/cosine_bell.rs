//! Case 1: advection of a cosine bell over the pole (W92 section 3.1).

use std::f64::consts::PI;

use super::tilt::{Tilt, twelve_day_speed};
use super::{Case, Planet, Point, State};

/// Height of the bell, m.
const H0: f64 = 1000.0;
/// Radius of the bell, as an angle, radians (R = a/3).
const RADIUS: f64 = 1.0 / 3.0;

/// A bell carried once round the sphere by a solid rotation about an axis tilted by alpha.
pub(super) struct CosineBell {
    tilt: Tilt,
    u0: f64,
    angular_speed: f64,
}

impl CosineBell {
    pub(super) fn new(planet: Planet, alpha: f64) -> Self {
        let u0 = twelve_day_speed(&planet);
        Self {
            tilt: Tilt::new(alpha),
            u0,
            angular_speed: u0 / planet.radius,
        }
    }

    /// Great-circle distance, radians, from the bell's centre: at `(3 pi/2, 0)` in the tilted
    /// frame as on the planet at the start, then turning about the tilted axis.
    fn distance(&self, point: &Point, seconds: f64) -> f64 {
        let [x, y, z] = self.tilt.position(point);
        let (sin, cos) = (self.angular_speed * seconds).sin_cos();
        let (along, across) = (x * sin - y * cos, x * cos + y * sin);
        z.hypot(across).atan2(along)
    }
}

impl Case for CosineBell {
    fn state(&self, point: &Point, seconds: f64) -> State {
        let r = self.distance(point, seconds);
        let h = if r < RADIUS {
            H0 / 2.0 * (1.0 + (PI * r / RADIUS).cos())
        } else {
            0.0
        };
        let (east, north) = self.tilt.rotation(point);
        State {
            h,
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

    fn advection_only(&self) -> bool {
        true
    }
}
