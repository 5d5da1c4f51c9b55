//! Barotropic instability of a mid-latitude jet (GSP04).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::zonal_balance::{ZonalFlow, ZonalProfile};
use super::{Case, Planet, Point, State};

/// Greatest wind, m/s.
const U_MAX: f64 = 80.0;
/// Edges of the jet, phi0 and phi1, radians.
const EDGES: (f64, f64) = (PI / 7.0, FRAC_PI_2 - PI / 7.0);
/// Global mean of the height before the perturbation, m.
const MEAN_HEIGHT: f64 = 10_000.0;
/// Height of the perturbation, m.
const BUMP: f64 = 120.0;
/// Its centre phi2, and its width alpha in longitude and beta in latitude, radians.
const BUMP_LAT: f64 = FRAC_PI_4;
const ALPHA: f64 = 1.0 / 3.0;
const BETA: f64 = 1.0 / 15.0;

/// `u_max/e_n exp(1/((phi - phi0)(phi - phi1)))` with `e_n = exp(-4/(phi1 - phi0)^2)`
/// (GSP04 eq. 2).
struct Jet;

impl ZonalProfile for Jet {
    fn edges(&self) -> (f64, f64) {
        EDGES
    }

    fn wind(&self, lat: f64) -> f64 {
        let (south, north) = EDGES;
        if lat <= south || lat >= north {
            return 0.0;
        }
        let width = north - south;
        U_MAX * (4.0 / (width * width) - 1.0 / ((lat - south) * (north - lat))).exp()
    }
}

/// The jet in balance with a mean height of 10 km, with or without the perturbation.
pub(super) struct Galewsky {
    flow: ZonalFlow<Jet>,
    gravity: f64,
    /// Height south of the jet, m.
    h0: f64,
    perturbed: bool,
}

impl Galewsky {
    /// With the bump of 120 m, which sets the instability going.
    pub(super) fn perturbed(planet: Planet) -> Self {
        Self {
            perturbed: true,
            ..Self::balanced(planet)
        }
    }

    /// Without it: a steady flow.
    pub(super) fn balanced(planet: Planet) -> Self {
        let flow = ZonalFlow::new(planet, Jet);
        Self {
            h0: MEAN_HEIGHT + flow.mean_drop() / planet.gravity,
            flow,
            gravity: planet.gravity,
            perturbed: false,
        }
    }

    /// `120 cos(phi) exp(-(lambda/alpha)^2) exp(-((phi2 - phi)/beta)^2)` m, `-pi <= lambda < pi`
    /// (GSP04 eq. 4). It raises the mean height by 1/3 m.
    fn bump(&self, point: &Point) -> f64 {
        let x = point.east_of(0.0) / ALPHA;
        let y = (BUMP_LAT - point.lat) / BETA;
        BUMP * point.cos_lat * (-x * x - y * y).exp()
    }
}

impl Case for Galewsky {
    fn state(&self, point: &Point, _seconds: f64) -> State {
        let balanced = self.h0 - self.flow.drop(point.lat) / self.gravity;
        let bump = if self.perturbed {
            self.bump(point)
        } else {
            0.0
        };
        State {
            h: balanced + bump,
            u: self.flow.profile.wind(point.lat),
            v: 0.0,
        }
    }

    fn exact(&self) -> bool {
        !self.perturbed
    }
}
