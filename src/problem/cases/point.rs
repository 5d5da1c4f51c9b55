//! A point of the sphere.

use std::f64::consts::{PI, TAU};

/// One point of the sphere, with its sines and cosines computed once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Latitude, radians northward.
    pub lat: f64,
    /// Longitude, radians eastward.
    pub lon: f64,
    /// Sine of the latitude (mu).
    pub sin_lat: f64,
    /// Cosine of the latitude, not negative.
    pub cos_lat: f64,
    /// Sine of the longitude.
    pub sin_lon: f64,
    /// Cosine of the longitude.
    pub cos_lon: f64,
}

impl Point {
    /// The point at `lat`, `lon`, radians.
    pub fn new(lat: f64, lon: f64) -> Self {
        let (sin_lat, cos_lat) = lat.sin_cos();
        let (sin_lon, cos_lon) = lon.sin_cos();
        Self {
            lat,
            lon,
            sin_lat,
            cos_lat: cos_lat.max(0.0),
            sin_lon,
            cos_lon,
        }
    }

    /// The same latitude at another longitude, radians.
    pub fn at_longitude(&self, lon: f64) -> Self {
        let (sin_lon, cos_lon) = lon.sin_cos();
        Self {
            lon,
            sin_lon,
            cos_lon,
            ..*self
        }
    }

    /// Longitude east of `lon`, radians, in `[-pi, pi)`.
    pub(super) fn east_of(&self, lon: f64) -> f64 {
        (self.lon - lon + PI).rem_euclid(TAU) - PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longitude_differences_take_the_short_way() {
        for (lon, from, expected) in [
            (6.0, 0.0, 6.0 - TAU),
            (0.1, 6.2, 0.1 - 6.2 + TAU),
            (-0.2, 0.3, -0.5),
            (3.0 * PI, 0.0, -PI),
        ] {
            let east = Point::new(0.3, lon).east_of(from);
            assert!((east - expected).abs() < 1e-14, "{lon} {from}: {east}");
        }
    }

    #[test]
    fn a_pole_has_no_negative_cosine() {
        for lat in [PI / 2.0, -PI / 2.0, (PI / 2.0).next_up()] {
            assert!(Point::new(lat, 1.0).cos_lat >= 0.0);
        }
    }
}
