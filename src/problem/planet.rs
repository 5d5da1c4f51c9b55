//! The sphere: radius, rotation, gravity.

use serde::Serialize;

/// Radius, rotation rate and gravity; the default is the Earth of Williamson et al. 1992.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planet {
    /// Radius a, m.
    pub radius: f64,
    /// Rotation rate Omega, 1/s.
    pub omega: f64,
    /// Gravity g, m/s2.
    pub gravity: f64,
}

impl Default for Planet {
    fn default() -> Self {
        Self {
            radius: 6.37122e6,
            omega: 7.292e-5,
            gravity: 9.80616,
        }
    }
}

/// Seconds in a day.
pub const DAY: f64 = 86_400.0;
