//! Case 6: Rossby-Haurwitz wave of wavenumber 4 (W92 section 3.6).

use super::{Case, Planet, Point, State};

/// Angular speeds omega and K of the wave, 1/s.
const OMEGA: f64 = 7.848e-6;
const K: f64 = 7.848e-6;
/// Zonal wavenumber.
const R: f64 = 4.0;
/// Height at the poles, m.
const H0: f64 = 8000.0;

/// A wave that would move unchanged without divergence; here it is unstable and evolves.
pub(super) struct RossbyHaurwitz {
    planet: Planet,
}

impl RossbyHaurwitz {
    pub(super) fn new(planet: Planet) -> Self {
        Self { planet }
    }
}

impl Case for RossbyHaurwitz {
    fn state(&self, p: &Point, _seconds: f64) -> State {
        let Planet {
            radius: a,
            omega,
            gravity,
        } = self.planet;
        let c = p.cos_lat;
        let c2 = c * c;
        let (c3, c4, c6, c8) = (c2 * c, c2 * c2, c2 * c2 * c2, c2 * c2 * c2 * c2);
        let (sin_r, cos_r) = (R * p.lon).sin_cos();
        let cos_2r = (2.0 * R * p.lon).cos();

        // W92: A, B and C of the geopotential. The last term of A, written with c^(2R-2), has no
        // 0/0 at the poles.
        let big_a = OMEGA / 2.0 * (2.0 * omega + OMEGA) * c2
            + K * K / 4.0 * (c8 * ((R + 1.0) * c2 + (2.0 * R * R - R - 2.0)) - 2.0 * R * R * c6);
        let big_b = 2.0 * (omega + OMEGA) * K / ((R + 1.0) * (R + 2.0))
            * c4
            * ((R * R + 2.0 * R + 2.0) - (R + 1.0) * (R + 1.0) * c2);
        let big_c = K * K / 4.0 * c8 * ((R + 1.0) * c2 - (R + 2.0));

        let zonal = R * p.sin_lat * p.sin_lat - c2;
        State {
            h: H0 + a * a / gravity * (big_a + big_b * cos_r + big_c * cos_2r),
            u: a * OMEGA * c + a * K * c3 * zonal * cos_r,
            v: -a * K * R * c3 * p.sin_lat * sin_r,
        }
    }

    fn exact(&self) -> bool {
        false
    }
}
