//! Residuals of the shallow-water equations by finite differences of order 8: an independent
//! check of the formulas, for tests.

use super::{Case, Planet, Point, State};

/// Step of the differences, radians.
const STEP: f64 = 2e-3;

/// Weights of the central first difference of order 8.
const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];

/// df/dx at `x`.
pub(super) fn slope(x: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let sum: f64 = (1..)
        .zip(WEIGHTS)
        .map(|(k, w)| w * (f(x + f64::from(k) * step) - f(x - f64::from(k) * step)))
        .sum();
    sum / step
}

/// A case on its planet, seen through its values only.
pub(super) struct Equations<'a> {
    pub(super) planet: Planet,
    pub(super) case: &'a dyn Case,
}

impl Equations<'_> {
    fn state(&self, lat: f64, lon: f64, seconds: f64) -> State {
        self.case.state(&Point::new(lat, lon), seconds)
    }

    fn d_lat(&self, lat: f64, lon: f64, part: impl Fn(State) -> f64) -> f64 {
        slope(lat, STEP, |x| part(self.state(x, lon, 0.0)))
    }

    fn d_lon(&self, lat: f64, lon: f64, part: impl Fn(State) -> f64) -> f64 {
        slope(lon, STEP, |x| part(self.state(lat, x, 0.0)))
    }

    fn coriolis(&self, lat: f64, lon: f64) -> f64 {
        let (sin, cos) = self.case.coriolis_tilt().sin_cos();
        2.0 * self.planet.omega * (-lon.cos() * lat.cos() * sin + lat.sin() * cos)
    }

    /// Everything on the left-hand sides but the time derivative: momentum (m/s2), height (m/s).
    pub(super) fn spatial(&self, lat: f64, lon: f64) -> [f64; 3] {
        let (a, g) = (self.planet.radius, self.planet.gravity);
        let State { h, u, v } = self.state(lat, lon, 0.0);
        let (cos, tan) = (lat.cos(), lat.tan());
        let depth = h - self.case.surface(&Point::new(lat, lon));
        let turn = self.coriolis(lat, lon) + u * tan / a;
        let advection = |d_lon: f64, d_lat: f64| (u * d_lon / cos + v * d_lat) / a;
        let (h_lon, h_lat) = (self.d_lon(lat, lon, |s| s.h), self.d_lat(lat, lon, |s| s.h));
        let (u_lon, u_lat) = (self.d_lon(lat, lon, |s| s.u), self.d_lat(lat, lon, |s| s.u));
        let (v_lon, v_lat) = (self.d_lon(lat, lon, |s| s.v), self.d_lat(lat, lon, |s| s.v));
        let divergence = (u_lon / cos + v_lat - v * tan) / a;
        [
            advection(u_lon, u_lat) - turn * v + g / (a * cos) * h_lon,
            advection(v_lon, v_lat) + turn * u + g / a * h_lat,
            advection(h_lon, h_lat) + depth * divergence,
        ]
    }

    /// The left-hand sides: `spatial` plus d/dt at t = 0.
    pub(super) fn left_hand_sides(&self, lat: f64, lon: f64, time_step: f64) -> [f64; 3] {
        let d_t = |part: fn(State) -> f64| slope(0.0, time_step, |t| part(self.state(lat, lon, t)));
        let [u, v, h] = self.spatial(lat, lon);
        [u + d_t(|s| s.u), v + d_t(|s| s.v), h + d_t(|s| s.h)]
    }

    /// Relative vorticity, 1/s.
    pub(super) fn vorticity(&self, lat: f64, lon: f64) -> f64 {
        let u_cos_lat = slope(lat, STEP, |x| self.state(x, lon, 0.0).u * x.cos());
        (self.d_lon(lat, lon, |s| s.v) - u_cos_lat) / (self.planet.radius * lat.cos())
    }

    /// Divergence of the acceleration, 1/s2: minus d(delta)/dt of the unforced equations.
    pub(super) fn divergence_tendency(&self, lat: f64, lon: f64) -> f64 {
        let d_lon = slope(lon, STEP, |x| self.spatial(lat, x)[0]);
        let d_lat = slope(lat, STEP, |x| self.spatial(x, lon)[1] * x.cos());
        (d_lon + d_lat) / (self.planet.radius * lat.cos())
    }
}

#[test]
fn the_difference_is_of_order_8() {
    let error = |step: f64| (slope(0.7, step, f64::exp) - 0.7_f64.exp()).abs();
    assert!((error(0.4) / error(0.2)).log2() > 7.9);
}
