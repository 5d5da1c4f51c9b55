//! The forcing of case 4: what the equations leave over for the translating low.
//!
//! With `w = u0/a`, d/dt is `-w d/dlon` on the low and 0 on the background, so that
//!
//! ```text
//! fu = -w du/dlon + (V.grad) u - (f + u tan(lat)/a) v + g/(a cos(lat)) dh/dlon
//! fv = -w dv/dlon + (V.grad) v + (f + u tan(lat)/a) u + g/a            dh/dlat
//! fh = -w dh/dlon + div(h V)
//! ```
//!
//! (W92 section 3.4 states the forcing as this residual). Below, the geostrophic and gradient-wind
//! balance of the analytic state is taken out by hand: pressure and Coriolis terms cancel but for
//! the change of f with latitude, the metric terms cancel the `1/cos(lat)` of the advection, and
//! what remains is finite at the poles. The wind is free of divergence, so `div(h V) = V.grad h`.

use super::translating_low::TranslatingLow;
use super::{Forcing, ForcingAt, Planet, Point};

impl Forcing for TranslatingLow {
    fn angular_speed(&self) -> f64 {
        self.u0 / self.planet.radius
    }

    fn at(&self, p: &Point) -> ForcingAt {
        let Planet {
            radius: a,
            omega,
            gravity,
        } = self.planet;
        let w = self.angular_speed();
        let s = self.streamfunction(p, p.lon);

        let background = self.background_wind(p);
        // background * tan(lat), without the infinity of the tangent.
        let background_tan =
            2.0 * self.u0 * (2.0 * p.sin_lat * p.cos_lat).powi(13) * p.sin_lat * p.sin_lat;
        let low = -s.psi_c * s.c_lat / a;
        let u = background + low;
        let v = s.psi_c * s.c_lon / a;

        let background_lat = 28.0
            * self.u0
            * (2.0 * p.sin_lat * p.cos_lat).powi(13)
            * (1.0 - 2.0 * p.sin_lat * p.sin_lat);
        // d2C/dlat2 = -C; d2C/dlat dlon = -sin(lat) c_lon.
        let u_lon = -(s.psi_cc * s.c_lat * p.cos_lat - s.psi_c * p.sin_lat) * s.c_lon / a;
        let u_lat = background_lat - (s.psi_cc * s.c_lat * s.c_lat - s.psi_c * s.c) / a;
        let v_lon = (s.psi_cc * p.cos_lat * s.c_lon * s.c_lon + s.psi_c * s.c_lon_lon) / a;
        let v_lat = s.psi_cc * s.c_lat * s.c_lon / a;

        // (du/dlon)/cos(lat) - v tan(lat), and (dv/dlon)/cos(lat) + low tan(lat).
        let u_along = -s.psi_cc * s.c_lat * s.c_lon / a;
        let v_along = (s.psi_cc * s.c_lon * s.c_lon - s.psi_c * s.c) / a;
        // (df/dlat) psi.
        let beta_psi = 2.0 * omega * p.cos_lat * s.psi;
        let f = 2.0 * omega * p.sin_lat;

        ForcingAt {
            fu: -w * u_lon + (u * u_along + v * u_lat) / a,
            fv: -w * v_lon + (u * v_along + v * v_lat + background_tan * low + beta_psi) / a,
            fh: v / gravity
                * (-self.u0 * f * p.cos_lat + (beta_psi - background_tan * background) / a),
        }
    }
}
