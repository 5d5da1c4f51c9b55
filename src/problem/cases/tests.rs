//! The cases against published and independently computed numbers, and against the equations.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, PI, TAU};
use std::path::PathBuf;

use serde_json::Value;

use super::differences::Equations;
use super::*;
use crate::problem::definition::Mountain;
use crate::problem::planet::DAY;
use crate::spectral::truncation::Truncation;

const PLANET: Planet = Planet {
    radius: 6.37122e6,
    omega: 7.292e-5,
    gravity: 9.80616,
};

fn problem(case: CaseName, alpha: f64, u0: f64, mountain: Mountain) -> Problem {
    Problem {
        case,
        alpha,
        u0,
        truncation: Truncation::triangular(42),
        nlat: 64,
        nlon: 128,
        levels: 1,
        steps: 1,
        phibar: None,
        mountain,
        planet: PLANET,
        file: None,
        reference: None,
    }
}

fn build(case: CaseName, alpha: f64) -> Box<dyn Case> {
    analytic(&problem(case, alpha, 20.0, Mountain::Cone)).unwrap()
}

fn low(u0: f64) -> Box<dyn Case> {
    analytic(&problem(CaseName::Williamson4, 0.0, u0, Mountain::Flat)).unwrap()
}

/// Points between 85 degrees south and north, spread by two irrational steps.
fn scattered(count: u32) -> impl Iterator<Item = (f64, f64)> {
    (1..=count).map(|i| {
        let x = f64::from(i);
        let lat = (2.0 * (x * 0.754_877_666_246_693).fract() - 1.0) * 85_f64.to_radians();
        (lat, TAU * (x * 0.569_840_290_998_053_3).fract())
    })
}

fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance * expected.abs(),
        "{value} is not {expected} within {tolerance}"
    );
}

/// Mean over the sphere by the midpoint rule in longitude and Simpson's rule in latitude.
fn mean(count: u32, f: impl Fn(&Point) -> f64) -> f64 {
    let (rows, columns) = (2 * count, 2 * count);
    let mut sum = 0.0;
    for j in 0..=rows {
        let simpson = match j {
            0 => 1.0,
            _ if j == rows => 1.0,
            _ if j % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let row = Point::new(-FRAC_PI_2 + PI * f64::from(j) / f64::from(rows), 0.0);
        let line: f64 = (0..columns)
            .map(|i| f(&row.at_longitude(TAU * f64::from(i) / f64::from(columns))))
            .sum();
        sum += simpson / 3.0 * row.cos_lat * line / f64::from(columns);
    }
    sum * PI / f64::from(rows) / 2.0
}

/// The largest residual of the three equations at scattered points, each divided by the size of
/// its terms, for a steady case.
fn assert_steady(planet: Planet, case: &dyn Case, label: &str) {
    let equations = Equations { planet, case };
    // 2 Omega u and h u/a for u = 40 m/s, h = 1 km.
    let scales = [6e-3, 6e-3, 6e-3];
    for (lat, lon) in scattered(400) {
        let residual = equations.spatial(lat, lon);
        for (r, scale) in residual.iter().zip(scales) {
            assert!(
                r.abs() < 1e-9 * scale,
                "{label} at {lat} {lon}: {residual:?}"
            );
        }
    }
}

#[test]
fn cases_2_and_3_and_the_balanced_jet_are_steady() {
    let small = Planet {
        radius: 3.4e6,
        omega: 1.1e-4,
        gravity: 3.7,
    };
    for planet in [PLANET, small] {
        let steady = |name, alpha| {
            let problem = Problem {
                planet,
                ..problem(name, alpha, 20.0, Mountain::Flat)
            };
            let label = format!("{name:?}, alpha {alpha}, {planet:?}");
            assert_steady(planet, &*analytic(&problem).unwrap(), &label);
        };
        for alpha in [0.0, 0.05, FRAC_PI_3, FRAC_PI_2 - 0.05, FRAC_PI_2] {
            steady(CaseName::Williamson2, alpha);
            steady(CaseName::Williamson3, alpha);
        }
        steady(CaseName::Williamson5, 0.0);
        steady(CaseName::GalewskyBalanced, 0.0);
    }
}

#[test]
fn case_1_carries_the_bell_round_the_tilted_axis() {
    let days = |d: f64| d * DAY;
    for alpha in [0.0, 0.05, FRAC_PI_2 - 0.05, FRAC_PI_2] {
        let case = build(CaseName::Williamson1, alpha);
        assert!(case.exact() && case.advection_only());
        let start = Point::new(0.0, 1.5 * PI);
        assert_close(case.state(&start, 0.0).h, 1000.0, 1e-15);
        assert_close(case.state(&start, days(12.0)).h, 1000.0, 1e-12);
        assert_close(
            case.state(&Point::new(0.0, FRAC_PI_2), days(6.0)).h,
            1000.0,
            1e-12,
        );
        // A quarter of the way it crosses longitude 0 at latitude alpha.
        assert_close(
            case.state(&Point::new(alpha, 0.0), days(3.0)).h,
            1000.0,
            1e-12,
        );
        let equations = Equations {
            planet: PLANET,
            case: &*case,
        };
        for i in 0..40 {
            let (r, angle) = (0.1 + 0.005 * f64::from(i), 0.9 * f64::from(i));
            let (lat, lon) = (r * angle.sin(), 1.5 * PI + r * angle.cos());
            let [_, _, dh] = equations.left_hand_sides(lat, lon, 200.0);
            assert!(dh.abs() < 1e-8 * 1000.0 * 6e-6, "{alpha} {lat} {lon}: {dh}");
        }
    }
}

#[test]
fn case_1_mean_is_the_volume_of_the_bell() {
    // 500 (1 + cos(3 pi r)) integrated over a cap of radius R = 1/3:
    // 250 [1 - cos R + integral of cos(3 pi r) sin(r) dr].
    let (r, k) = (1.0_f64 / 3.0, 3.0 * PI);
    let cosine = (-1.0 - r.cos()) / (k * k - 1.0);
    let exact = 250.0 * (1.0 - r.cos() + cosine);
    let case = build(CaseName::Williamson1, 0.05);
    assert_close(mean(300, |p| case.state(p, 1e5).h), exact, 1e-5);
}

#[test]
fn case_2_has_the_published_range() {
    for alpha in [0.0, 0.05, FRAC_PI_2 - 0.05] {
        let case = build(CaseName::Williamson2, alpha);
        assert_close(case.coriolis_tilt(), alpha, 0.0);
        let equator = Point::new(0.0, FRAC_PI_2);
        assert_close(case.state(&equator, 0.0).h, 2.94e4 / 9.80616, 1e-15);
        // The north pole of the tilted frame stands at longitude pi.
        let pole = Point::new(FRAC_PI_2 - alpha, PI);
        let u0 = TAU * 6.37122e6 / (12.0 * DAY);
        assert_close(case.state(&equator, 0.0).u, u0 * alpha.cos(), 1e-14);
        let gh = 2.94e4 - (6.37122e6 * 7.292e-5 * u0 + u0 * u0 / 2.0);
        assert_close(case.state(&pole, 0.0).h, gh / 9.80616, 1e-14);
    }
}

#[test]
fn case_3_has_the_height_of_25_digit_quadrature() {
    for alpha in [0.0, FRAC_PI_3, FRAC_PI_2 - 0.05] {
        let case = build(CaseName::Williamson3, alpha);
        let south = case.state(&Point::new(alpha - FRAC_PI_2, 0.0), 0.0);
        let north = case.state(&Point::new(FRAC_PI_2 - alpha, PI), 0.0);
        assert_close(south.h, 2_998.115_470_275_826_6, 1e-15);
        assert_close(north.h, 2_097.863_406_357_268_7, 1e-14);
        assert_close((south.h - north.h) * 9.80616, 8_828.015_779_115_606, 1e-13);
        assert!(north.u.abs() + north.v.abs() < 1e-200);
        // The jet's centre, where b(x) b(x_e - x) exp(4/x_e) = 1.
        let centre = Point::new(PI / 6.0 - alpha, PI);
        let wind = case.state(&centre, 0.0);
        assert_close(wind.u, TAU * 6.37122e6 / (12.0 * DAY), 1e-14);
    }
}

#[test]
fn case_4_background_has_the_height_of_25_digit_quadrature() {
    let case = low(20.0);
    // Longitude pi: the low is 1e-300 there, except near the north pole.
    let h = |lat: f64| case.state(&Point::new(lat, PI), 0.0).h;
    let south = h(-FRAC_PI_2);
    assert_close(south, 1e5 / 9.80616, 1e-15);
    assert_close(h(0.0) - south, 447.016_419_073_099_75, 1e-14 * 25.0);
    // At 45 N, 90 degrees of great circle away, the low still counts: take it off.
    let f0 = 2.0 * PLANET.omega * FRAC_PI_4.sin();
    let psi0 = -0.03 * 1e5 / f0;
    let c = 0.0_f64;
    let tail = f0 * psi0 * (-12.74244_f64.powi(2) * (1.0 - c) / (1.0 + c)).exp() / 9.80616;
    assert_close(h(FRAC_PI_4) - south - tail, 246.936_029_757_323_8, 1e-13);
    let centre = case.state(&Point::new(FRAC_PI_4, 0.0), 0.0);
    assert_close(
        centre.h - south - 246.936_029_757_323_8,
        f0 * psi0 / 9.80616,
        1e-12,
    );
    assert_close(centre.u, 20.0, 1e-14);
}

#[test]
fn case_4_turns_rigidly() {
    let case = low(40.0);
    let rate = case.forcing().unwrap().angular_speed();
    assert_close(rate, 40.0 / 6.37122e6, 1e-15);
    for (lat, lon) in scattered(50) {
        let now = case.state(&Point::new(lat, lon), 0.0);
        let later = case.state(&Point::new(lat, lon + rate * 4e5), 4e5);
        assert!((now.h - later.h).abs() < 1e-10);
        assert!((now.u - later.u).abs() + (now.v - later.v).abs() < 1e-11);
    }
}

#[test]
fn case_4_forcing_is_the_residual_of_the_equations() {
    for u0 in [20.0, 40.0] {
        let case = low(u0);
        let forcing = case.forcing().unwrap();
        let equations = Equations {
            planet: PLANET,
            case: &*case,
        };
        let near_low = scattered(600).map(|(lat, lon)| {
            let (north, east) = (lat * 0.4, (lon - PI) * 0.2);
            (FRAC_PI_4 + north, east)
        });
        let points: Vec<_> = near_low
            .filter(|(lat, _)| lat.abs() < 85_f64.to_radians())
            .chain(scattered(300))
            .collect();
        let mut largest = [0.0_f64; 3];
        let mut error = [0.0_f64; 3];
        for &(lat, lon) in &points {
            let at = forcing.at(&Point::new(lat, lon));
            let exact = [at.fu, at.fv, at.fh];
            let differences = equations.left_hand_sides(lat, lon, 2e-3 * 6.37122e6 / u0);
            for k in 0..3 {
                largest[k] = largest[k].max(exact[k].abs());
                error[k] = error[k].max((exact[k] - differences[k]).abs());
            }
        }
        for k in 0..3 {
            assert!(
                error[k] < 1e-9 * largest[k],
                "u0 {u0}: {error:?} of {largest:?}"
            );
        }
    }
}

#[test]
fn case_4_forcing_is_continuous_at_the_pole() {
    // A vector at the pole is one vector in the turning basis of longitude.
    let case = low(20.0);
    let forcing = case.forcing().unwrap();
    for sign in [1.0, -1.0] {
        let in_cartesian = |lon: f64| {
            let at = forcing.at(&Point::new(sign * FRAC_PI_2, lon));
            let (sin, cos) = lon.sin_cos();
            (
                -at.fu * sin - sign * at.fv * cos,
                at.fu * cos - sign * at.fv * sin,
            )
        };
        let (x0, y0) = in_cartesian(0.0);
        for i in 1..12 {
            let (x, y) = in_cartesian(TAU * f64::from(i) / 12.0);
            assert!(
                (x - x0).hypot(y - y0) <= 1e-9 * x0.hypot(y0),
                "{x} {y} {x0} {y0}"
            );
        }
    }
}

#[test]
fn case_5_has_the_cone_and_the_flow_of_5960_m() {
    let cone = build(CaseName::Williamson5, 0.0);
    assert!(!cone.exact());
    let summit = Point::new(PI / 6.0, 1.5 * PI);
    assert_close(cone.surface(&summit), 2000.0, 1e-15);
    let half = Point::new(PI / 6.0 + PI / 18.0, 1.5 * PI);
    assert_close(cone.surface(&half), 1000.0, 1e-13);
    let east = Point::new(PI / 6.0, 1.5 * PI + PI / 18.0 - TAU);
    assert_close(cone.surface(&east), 1000.0, 1e-12);
    assert!(cone.surface(&Point::new(-1.0, 1.5 * PI)) == 0.0);

    let elsewhere = Mountain::File {
        path: "orography.nc".into(),
        variable: None,
    };
    for (mountain, exact) in [(Mountain::Flat, true), (elsewhere, false)] {
        let case = analytic(&problem(CaseName::Williamson5, 0.0, 20.0, mountain)).unwrap();
        assert!(case.exact() == exact && case.surface(&summit) == 0.0);
    }
    let smooth = problem(CaseName::Williamson5, 0.0, 20.0, Mountain::Smooth);
    let smooth = analytic(&smooth).unwrap();
    assert_close(smooth.surface(&summit), 2000.0, 1e-15);
    for (lat, lon) in scattered(50) {
        let p = Point::new(lat, lon);
        let cos_gamma = 0.5 * p.sin_lat + 0.75_f64.sqrt() * p.cos_lat * (p.lon - 1.5 * PI).cos();
        let expected = 2000.0 * (-64.0 * (1.0 - cos_gamma)).exp();
        assert!((smooth.surface(&p) - expected).abs() < 1e-10);
    }
}

#[test]
fn case_6_height_keeps_the_divergence_at_zero() {
    let case = build(CaseName::Williamson6, 0.0);
    let equations = Equations {
        planet: PLANET,
        case: &*case,
    };
    for (lat, lon) in scattered(60) {
        // Terms are of size f zeta, about 1e-8 1/s2.
        let tendency = equations.divergence_tendency(lat, lon);
        assert!(tendency.abs() < 1e-16, "{lat} {lon}: {tendency}");
    }
    assert_close(
        mean(400, |p| case.state(p, 0.0).h),
        9_522.996_556_409_442,
        1e-10,
    );
    assert_close(
        case.state(&Point::new(FRAC_PI_2, 1.0), 0.0).h,
        8000.0,
        1e-14,
    );
}

#[test]
fn the_jet_has_the_heights_of_25_digit_quadrature() {
    let balanced = build(CaseName::GalewskyBalanced, 0.0);
    let perturbed = build(CaseName::Galewsky, 0.0);
    assert!(balanced.exact() && !perturbed.exact());
    let h = |lat: f64| balanced.state(&Point::new(lat, 2.0), 0.0).h;
    assert_close(h(-1.0), 10_158.186_170_454_618, 1e-14);
    assert_close(h(FRAC_PI_2), 9_071.207_937_968_375, 1e-14);
    assert_close(h(0.0) - h(1.5), 1_086.978_232_486_243, 1e-13);
    assert_close(
        balanced.state(&Point::new(FRAC_PI_4, 0.0), 0.0).u,
        80.0,
        1e-14,
    );
    assert_close(mean(300, |p| balanced.state(p, 0.0).h), 10_000.0, 1e-8);
    let bump = |p: &Point| perturbed.state(p, 0.0).h - balanced.state(p, 0.0).h;
    assert_close(mean(300, bump), 1.0 / 3.0, 1e-8);
    // Both halves of the bump, on either side of longitude 0.
    let (west, east) = (Point::new(0.8, TAU - 0.2), Point::new(0.8, 0.2));
    assert_close(bump(&west), bump(&east), 1e-10);
}

/// Day-0 values of the independent solver's runs.
#[test]
fn starts_agree_with_the_reference_solutions() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/reference_points.json");
    let data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let numbers = |v: &Value| -> Vec<f64> {
        v.as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect()
    };
    // The jet is not band-limited: T85 smooths it by a millimetre.
    for (run, name, metres, per_second) in [
        ("case5_T42", CaseName::Williamson5, 1e-8, 1e-14),
        ("case6_T42", CaseName::Williamson6, 1e-8, 1e-14),
        ("gal_T85_nu", CaseName::Galewsky, 2e-3, 3e-8),
    ] {
        let case = build(name, 0.0);
        let equations = Equations {
            planet: PLANET,
            case: &*case,
        };
        let start = &data["runs"][run]["days"]["0.0"];
        let (heights, vorticities) = (numbers(&start["h_m"]), numbers(&start["zeta_per_s"]));
        for (i, probe) in data["probes"].as_array().unwrap().iter().enumerate() {
            let probe = numbers(probe);
            let (lat, lon) = (probe[0].to_radians(), probe[1].to_radians());
            let h = case.state(&Point::new(lat, lon), 0.0).h;
            assert!(
                (h - heights[i]).abs() < metres,
                "{run} {probe:?}: {h} {}",
                heights[i]
            );
            let zeta = equations.vorticity(lat, lon);
            assert!(
                (zeta - vorticities[i]).abs() < per_second,
                "{run} {probe:?}: {zeta}"
            );
        }
    }
}

#[test]
fn everything_is_finite_everywhere() {
    let mut cases: Vec<Box<dyn Case>> = vec![
        build(CaseName::Williamson6, 0.0),
        build(CaseName::Galewsky, 0.0),
        build(CaseName::GalewskyBalanced, 0.0),
        build(CaseName::Williamson5, 0.0),
        low(20.0),
        low(40.0),
    ];
    for alpha in [0.0, 0.05, FRAC_PI_3, FRAC_PI_2 - 0.05, FRAC_PI_2] {
        for name in [
            CaseName::Williamson1,
            CaseName::Williamson2,
            CaseName::Williamson3,
        ] {
            cases.push(build(name, alpha));
        }
    }
    let edges = [
        -PI / 6.0,
        PI / 7.0,
        FRAC_PI_2 - PI / 7.0,
        FRAC_PI_4,
        -FRAC_PI_4,
        FRAC_PI_3,
    ];
    let mut latitudes: Vec<f64> = vec![0.0, FRAC_PI_2, -FRAC_PI_2];
    latitudes.extend(
        edges
            .iter()
            .flat_map(|&e| [e, e.next_up(), e.next_down(), e + 1e-9]),
    );
    latitudes.extend((1..200).map(|j| -FRAC_PI_2 + PI * f64::from(j) / 200.0));
    for case in &cases {
        for &lat in &latitudes {
            for i in 0..48 {
                let p = Point::new(lat, TAU * f64::from(i) / 48.0);
                for seconds in [0.0, 432_000.0] {
                    let State { h, u, v } = case.state(&p, seconds);
                    assert!(h.is_finite() && h.abs() < 2e4, "{p:?} {h}");
                    assert!(u.hypot(v) < 130.0, "{p:?} {u} {v}");
                }
                assert!(case.surface(&p).is_finite());
                if let Some(forcing) = case.forcing() {
                    let at = forcing.at(&p);
                    assert!(at.fu.abs() < 0.1 && at.fv.abs() < 0.1 && at.fh.abs() < 10.0);
                }
            }
        }
    }
}

#[test]
fn states_from_files_are_no_analytic_cases() {
    for name in [CaseName::Williamson7, CaseName::File] {
        assert!(analytic(&problem(name, 0.0, 0.0, Mountain::Flat)).is_none());
    }
}
