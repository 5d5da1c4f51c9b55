//! Case 5: zonal flow over an isolated mountain (W92 section 3.5).

use std::f64::consts::{FRAC_PI_6, PI};

use super::steady_zonal::SteadyZonal;
use super::{Case, Planet, Point, State};
use crate::problem::definition::Mountain;

/// Height of the free surface at the equator, m.
const H0: f64 = 5960.0;
/// Height of the mountain, m.
const SUMMIT: f64 = 2000.0;
/// Longitude of its centre, radians.
const LON: f64 = 1.5 * PI;
/// Latitude of its centre, radians.
const LAT: f64 = FRAC_PI_6;
/// Radius of the cone, radians of longitude and latitude.
const RADIUS: f64 = PI / 9.0;
/// Steepness of the smooth mountain.
const STEEPNESS: f64 = 64.0;

/// The flow of case 2, untilted, that meets a mountain at (3 pi/2, pi/6).
pub(super) struct IsolatedMountain {
    flow: SteadyZonal,
    mountain: Mountain,
}

impl IsolatedMountain {
    pub(super) fn new(planet: Planet, u0: f64, mountain: &Mountain) -> Self {
        Self {
            flow: SteadyZonal::with(planet, u0, 0.0, H0),
            mountain: mountain.clone(),
        }
    }

    /// `2000 (1 - r/R)` m with `r^2 = min(R^2, dlon^2 + dlat^2)`: not a great-circle distance.
    fn cone(point: &Point) -> f64 {
        let r = point.east_of(LON).hypot(point.lat - LAT).min(RADIUS);
        SUMMIT * (1.0 - r / RADIUS)
    }

    /// `2000 exp(-64 (1 - cos(gamma)))` m, gamma the great-circle distance: a smooth stand-in.
    fn smooth(point: &Point) -> f64 {
        let half_lat = ((point.lat - LAT) / 2.0).sin();
        let half_lon = (point.east_of(LON) / 2.0).sin();
        // 1 - cos(gamma) as twice the haversine, without cancellation at the centre.
        let haversine = half_lat * half_lat + LAT.cos() * point.cos_lat * half_lon * half_lon;
        SUMMIT * (-STEEPNESS * 2.0 * haversine).exp()
    }
}

impl Case for IsolatedMountain {
    fn state(&self, point: &Point, seconds: f64) -> State {
        self.flow.state(point, seconds)
    }

    /// The mountain; 0 where it is read from a file, which is done elsewhere.
    fn surface(&self, point: &Point) -> f64 {
        match self.mountain {
            Mountain::Cone => Self::cone(point),
            Mountain::Smooth => Self::smooth(point),
            Mountain::Flat | Mountain::File { .. } => 0.0,
        }
    }

    fn exact(&self) -> bool {
        matches!(self.mountain, Mountain::Flat)
    }
}
