//! Case 4: a low translating with a zonal jet, held by a forcing (W92 section 3.4).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use super::zonal_balance::{ZonalFlow, ZonalProfile};
use super::{Case, Forcing, Planet, Point, State};

/// Background geopotential at the south pole, m2/s2.
const GH0: f64 = 1.0e5;
/// Latitude theta_0 of the low, radians; its longitude lambda_0 at the start is 0.
const LAT0: f64 = FRAC_PI_4;
/// Where `exp(-x)` is taken as 0, before its derivatives overflow.
const NEGLIGIBLE: f64 = 700.0;

/// The background wind `u0 sin^14(2 theta)`.
pub(super) struct Background {
    u0: f64,
}

impl ZonalProfile for Background {
    fn edges(&self) -> (f64, f64) {
        (-FRAC_PI_2, FRAC_PI_2)
    }

    fn wind(&self, lat: f64) -> f64 {
        self.u0 * (2.0 * lat).sin().powi(14)
    }
}

/// The low of case 4 on its background, turning at `u0/a` in longitude.
pub(super) struct TranslatingLow {
    pub(super) planet: Planet,
    pub(super) u0: f64,
    background: ZonalFlow<Background>,
    psi0: f64,
    sigma: f64,
}

/// The stream function `psi = psi0 exp(-sigma (1-C)/(1+C))` at a point, with
/// `C = sin(lat0) sin(lat) + cos(lat0) cos(lat) cos(L)`, L the longitude east of the low.
pub(super) struct Streamfunction {
    /// psi, m2/s.
    pub(super) psi: f64,
    /// d psi/dC.
    pub(super) psi_c: f64,
    /// d2 psi/dC2.
    pub(super) psi_cc: f64,
    /// C, the cosine of the great-circle distance from the low.
    pub(super) c: f64,
    /// dC/dlat.
    pub(super) c_lat: f64,
    /// dC/dlon divided by cos(lat); its derivative by lat is 0.
    pub(super) c_lon: f64,
    /// d(c_lon)/dlon.
    pub(super) c_lon_lon: f64,
}

impl TranslatingLow {
    pub(super) fn new(planet: Planet, u0: f64) -> Self {
        let f0 = 2.0 * planet.omega * LAT0.sin();
        let two_radii = 2.0 * planet.radius / 1.0e6;
        Self {
            planet,
            u0,
            background: ZonalFlow::new(planet, Background { u0 }),
            psi0: -0.03 * GH0 / f0,
            sigma: two_radii * two_radii,
        }
    }

    /// Eastward wind of the background, m/s.
    pub(super) fn background_wind(&self, p: &Point) -> f64 {
        self.u0 * (2.0 * p.sin_lat * p.cos_lat).powi(14)
    }

    pub(super) fn streamfunction(&self, p: &Point, east_of_low: f64) -> Streamfunction {
        let (sin0, cos0) = LAT0.sin_cos();
        let (sin_l, cos_l) = east_of_low.sin_cos();
        let c = sin0 * p.sin_lat + cos0 * p.cos_lat * cos_l;
        let (far, near) = (self.sigma * (1.0 - c), 1.0 + c);
        let (psi, psi_c, psi_cc) = if far < NEGLIGIBLE * near {
            let psi = self.psi0 * (-far / near).exp();
            let e1 = 2.0 * self.sigma / (near * near);
            let e2 = -2.0 * e1 / near;
            (psi, psi * e1, psi * (e1 * e1 + e2))
        } else {
            (0.0, 0.0, 0.0)
        };
        Streamfunction {
            psi,
            psi_c,
            psi_cc,
            c,
            c_lat: sin0 * p.cos_lat - cos0 * p.sin_lat * cos_l,
            c_lon: -cos0 * sin_l,
            c_lon_lon: -cos0 * cos_l,
        }
    }
}

impl Case for TranslatingLow {
    fn state(&self, point: &Point, seconds: f64) -> State {
        let Planet {
            radius: a,
            omega,
            gravity,
        } = self.planet;
        let s = self.streamfunction(point, point.lon - self.angular_speed() * seconds);
        let f = 2.0 * omega * point.sin_lat;
        State {
            h: (GH0 - self.background.drop(point.lat) + f * s.psi) / gravity,
            u: self.background_wind(point) - s.psi_c * s.c_lat / a,
            v: s.psi_c * s.c_lon / a,
        }
    }

    fn exact(&self) -> bool {
        true
    }

    fn forcing(&self) -> Option<&dyn Forcing> {
        Some(self)
    }
}
