//! Stored reference values: semi-discrete solutions (dt to 0) at fixed points, and their extremes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::fields::{extremes, largest};
use super::figure::{Allowed, Figure};
use crate::report::netcdf::LevelFields;
use crate::report::run::PointRecord;

/// The stored values (validation/reference_points.json).
const STORED: &str = include_str!("../../validation/reference_points.json");

/// Reference solutions by name.
#[derive(Clone, Debug, Deserialize)]
pub struct ReferencePoints {
    /// Latitude and longitude in degrees.
    pub probes: Vec<(f64, f64)>,
    /// The solutions.
    pub runs: BTreeMap<String, ReferenceRun>,
}

/// One reference solution.
#[derive(Clone, Debug, Deserialize)]
pub struct ReferenceRun {
    /// Means at the start.
    pub initial_invariants: InitialMeans,
    /// Values by day, the number as text.
    pub days: BTreeMap<String, ReferenceDay>,
}

/// Means over the sphere at the start.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct InitialMeans {
    /// h - h_s, m.
    pub mass: f64,
    /// Energy, m3/s2.
    pub energy: f64,
    /// Potential enstrophy, 1/(m s2).
    pub penst: f64,
}

/// Values of one day.
#[derive(Clone, Debug, Deserialize)]
pub struct ReferenceDay {
    /// Height at the probes, m.
    pub h_m: Vec<f64>,
    /// Vorticity at the probes, 1/s.
    pub zeta_per_s: Vec<f64>,
    /// Divergence at the probes, 1/s.
    pub delta_per_s: Vec<f64>,
    /// Smallest height on the grid, m.
    pub hmin: f64,
    /// Largest.
    pub hmax: f64,
    /// Smallest vorticity on the grid, 1/s.
    pub zmin: f64,
    /// Largest.
    pub zmax: f64,
}

impl ReferencePoints {
    /// The stored ones.
    ///
    /// # Errors
    /// When the text is not what it should be: a fault of the program.
    pub fn stored() -> Result<Self, serde_json::Error> {
        serde_json::from_str(STORED)
    }
}

/// Tolerances of one day.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Of the height at points and of its extremes, m.
    pub height: f64,
    /// Of vorticity at points, over the largest on the grid; `None`: nothing is asked.
    pub zeta: Option<f64>,
    /// Of divergence, over the largest vorticity: it is small, and the stored values are good to
    /// some 1e-10 of that. Gravity waves take a smaller step.
    pub delta: Option<f64>,
    /// Of the extremes of vorticity, relative.
    pub extremes: Option<f64>,
}

/// Compares one day: largest differences over the probes, and the extremes on the grid.
pub fn compare(
    place: (&str, &str),
    reference: &ReferenceDay,
    points: &[PointRecord],
    fields: &LevelFields,
    tolerance: Tolerance,
    source: &str,
) -> Vec<Figure> {
    let Some(day) = points.first().map(|point| point.day) else {
        return vec![Figure::new(
            place,
            "probes",
            (f64::NAN, ""),
            Allowed::AtMost(0.0),
            source,
        )];
    };
    let worst = |theirs: &[f64], ours: fn(&PointRecord) -> f64| {
        if theirs.len() != points.len() {
            return f64::NAN;
        }
        let differences = theirs.iter().zip(points);
        differences
            .map(|(theirs, point)| (theirs - ours(point)).abs())
            .fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a })
    };
    let mut figures = Vec::new();
    let mut push = |what: &str, value: f64, unit: &str, limit: f64| {
        let quantity = format!("day {day}: {what}");
        let allowed = Allowed::AtMost(limit);
        figures.push(Figure::new(place, quantity, (value, unit), allowed, source));
    };
    let height = worst(&reference.h_m, |point| point.h);
    push("h at probes", height, "m", tolerance.height);
    let (low, high) = extremes(&fields.h);
    let height = (low - reference.hmin)
        .abs()
        .max((high - reference.hmax).abs());
    push("h extremes", height, "m", tolerance.height);
    if let Some(limit) = tolerance.zeta {
        let zeta = worst(&reference.zeta_per_s, |point| point.zeta) / largest(&fields.zeta);
        push("zeta at probes / max", zeta, "", limit);
    }
    if let Some(limit) = tolerance.delta {
        let delta = worst(&reference.delta_per_s, |point| point.delta) / largest(&fields.zeta);
        push("delta at probes / max zeta", delta, "", limit);
    }
    if let Some(limit) = tolerance.extremes {
        let (low, high) = extremes(&fields.zeta);
        let relative = |ours: f64, theirs: f64| ((ours - theirs) / theirs).abs();
        let zeta = relative(low, reference.zmin).max(relative(high, reference.zmax));
        push("zeta extremes, relative", zeta, "", limit);
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_values_are_whole() {
        let stored = ReferencePoints::stored().unwrap();
        assert_eq!(stored.probes.len(), 10);
        let names: Vec<&str> = stored.runs.keys().map(String::as_str).collect();
        assert_eq!(names, ["case5_T42", "case5_T85", "case6_T42", "gal_T85_nu"]);
        for run in stored.runs.values() {
            assert!(run.initial_invariants.mass > 5000.0);
            for day in run.days.values() {
                let lengths = [&day.h_m, &day.zeta_per_s, &day.delta_per_s].map(Vec::len);
                assert_eq!(lengths, [10; 3]);
            }
        }
    }
}
