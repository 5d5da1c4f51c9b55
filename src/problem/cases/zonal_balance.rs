//! Gradient-wind balance of a zonal flow: the geopotential that holds a wind profile.

use super::Planet;

/// A zonal wind that depends on latitude only and vanishes outside an interval of latitudes.
pub(super) trait ZonalProfile {
    /// Southern and northern edge of the flow, radians.
    fn edges(&self) -> (f64, f64);
    /// Eastward wind at a latitude, m/s; 0 outside the edges.
    fn wind(&self, lat: f64) -> f64;
}

/// A zonal profile with its balance integral
///
/// ```text
/// drop(lat) = integral from -pi/2 to lat of a u [2 Omega sin(t) + u tan(t)/a] dt
/// ```
///
/// (W92 section 3.3; GSP04 eq. 3), in m2/s2: how far the geopotential has fallen below its value
/// at the south pole. Cumulative Gauss-Legendre sums over equal panels are kept, so that a query
/// integrates the rest of one panel only (8 evaluations); relative accuracy 1e-14 against
/// 25-digit quadrature for the profiles of W92 and GSP04.
pub(super) struct ZonalFlow<P> {
    pub(super) profile: P,
    planet: Planet,
    /// `cumulative[k]`: the integral up to the southern edge of panel `k`.
    cumulative: Vec<f64>,
}

const PANELS: usize = 256;

/// Positive nodes of the 8-point Gauss-Legendre rule on [-1, 1], with their weights.
const GAUSS_8: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_29),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_47),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// 8-point Gauss-Legendre integral of `f` from `from` to `to`.
fn gauss(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let sum: f64 = GAUSS_8
        .iter()
        .map(|&(x, w)| w * (f(middle - half * x) + f(middle + half * x)))
        .sum();
    half * sum
}

impl<P: ZonalProfile> ZonalFlow<P> {
    pub(super) fn new(planet: Planet, profile: P) -> Self {
        let mut flow = Self {
            profile,
            planet,
            cumulative: Vec::with_capacity(PANELS + 1),
        };
        let mut total = 0.0;
        flow.cumulative.push(total);
        for k in 0..PANELS {
            total += gauss(flow.panel_edge(k), flow.panel_edge(k + 1), |t| {
                flow.slope(t)
            });
            flow.cumulative.push(total);
        }
        flow
    }

    fn panel_edge(&self, k: usize) -> f64 {
        let (south, north) = self.profile.edges();
        south + (north - south) * (k as f64 / PANELS as f64)
    }

    /// The integrand: minus the slope of the geopotential per radian of latitude, m2/s2.
    fn slope(&self, lat: f64) -> f64 {
        let u = self.profile.wind(lat);
        let (sin, cos) = lat.sin_cos();
        u * (2.0 * self.planet.omega * self.planet.radius * sin + u * sin / cos)
    }

    /// The fall of geopotential from the south pole to `lat`, m2/s2.
    pub(super) fn drop(&self, lat: f64) -> f64 {
        let (south, north) = self.profile.edges();
        if lat <= south {
            return 0.0;
        }
        if lat >= north {
            return self.cumulative[PANELS];
        }
        let panel = (lat - south) / (north - south) * PANELS as f64;
        let k = (panel as usize).min(PANELS - 1);
        self.cumulative[k] + gauss(self.panel_edge(k), lat, |t| self.slope(t))
    }

    /// Mean of `drop` over the sphere, m2/s2: by parts, half the integral of
    /// `(1 - sin(t)) d(drop)/dt`.
    pub(super) fn mean_drop(&self) -> f64 {
        let weighted = |t: f64| (1.0 - t.sin()) * self.slope(t);
        let integral: f64 = (0..PANELS)
            .map(|k| gauss(self.panel_edge(k), self.panel_edge(k + 1), weighted))
            .sum();
        integral / 2.0
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    struct SolidRotation(f64);

    impl ZonalProfile for SolidRotation {
        fn edges(&self) -> (f64, f64) {
            (-FRAC_PI_2, FRAC_PI_2)
        }
        fn wind(&self, lat: f64) -> f64 {
            self.0 * lat.cos()
        }
    }

    #[test]
    fn the_rule_is_exact_to_degree_15() {
        for degree in 0..16 {
            let integral = gauss(-0.5, 1.5, |x| x.powi(degree));
            let n = f64::from(degree + 1);
            let exact = (1.5_f64.powf(n) - (-0.5_f64).powi(degree + 1)) / n;
            assert!((integral / exact - 1.0).abs() < 1e-14, "degree {degree}");
        }
    }

    #[test]
    fn solid_rotation_is_balanced_by_a_parabola() {
        let planet = Planet::default();
        let u0 = 30.0;
        let flow = ZonalFlow::new(planet, SolidRotation(u0));
        let scale = planet.radius * planet.omega * u0 + u0 * u0 / 2.0;
        for i in 0..=100 {
            let lat = -FRAC_PI_2 + PI * f64::from(i) / 100.0;
            let exact = -scale * lat.cos().powi(2);
            assert!((flow.drop(lat) - exact).abs() < 1e-14 * scale, "{lat}");
        }
        assert!((flow.mean_drop() / (-scale * 2.0 / 3.0) - 1.0).abs() < 1e-14);
    }
}
