//! williamson-6: point values, invariants, symmetry of the wave, and the order of the schemes.

use super::bench::{Bench, Done, Plan, STSWM};
use super::mountain::{conserved, halving, height_at_point, semi_discrete};
use crate::check::coefficients::{Empty, heights, share};
use crate::check::fields::Quadrature;
use crate::check::figure::Allowed;
use crate::check::points::Tolerance;
use crate::error::Result;
use crate::problem::planet::Planet;

/// Tolerances by day; `sharp`: with a step small enough for the divergence.
fn tolerance(day: f64, sharp: bool) -> Tolerance {
    Tolerance {
        height: if day <= 7.0 { 1e-5 } else { 1e-4 },
        zeta: (day == 5.0).then_some(1e-9),
        delta: (day == 5.0 && sharp).then_some(1e-9),
        extremes: None,
    }
}

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let days = if bench.full { 14.0 } else { 1.0 };
    let coarse = semi_discrete(bench, "case6_T42", (42, 37.5, days), |day| {
        tolerance(day, false)
    })?;
    if let Some(done) = &coarse {
        symmetry(bench, done)?;
        order(bench, done, "rk4", &[600.0, 300.0, 150.0], (16.0, 1.0))?;
        if bench.full {
            halving(bench, done, 42, 1.0, 1e-5)?;
            semi_discrete(bench, "case6_T42", (42, 9.375, 5.0), |day| {
                tolerance(day, true)
            })?;
            conserved(bench, done, 14.0, (3.291e-8, -1.285e-5))?;
            let steps = [150.0, 75.0, 37.5, 18.75];
            order(bench, done, "semi-implicit", &steps, (4.0, 0.1))?;
        }
    }
    semi_implicit(bench, 600.0, (9886.631, 9817.685))?;
    if bench.full {
        semi_implicit(bench, 300.0, (9877.251, 9817.1116))?;
        for (truncation, dt, changes) in [
            (63, 30.0, (8.364e-9, -8.267e-6)),
            (85, 30.0, (1.263e-8, -2.185e-5)),
        ] {
            let name = format!("T{truncation} rk4 dt {dt}");
            let plan = Plan::new(truncation, "rk4", dt, 14.0).every(24.0, &[]);
            if let Some(done) = bench.integrate(&name, &plan)? {
                conserved(bench, &done, 14.0, changes)?;
                symmetry(bench, &done)?;
            }
        }
        resolution(bench)?;
    }
    Ok(())
}

/// Coarse runs against finer ones: still smooth at day 1 without diffusion, and converging on all
/// days with it.
fn resolution(bench: &mut Bench<'_>) -> Result<()> {
    let smooth = [(42, 150.0, 1e-6), (85, 150.0, 5e-8), (170, 120.0, 0.0)];
    against_finest(bench, ("", ""), smooth, 1.0)?;
    let diffusive = [(42, 300.0, 1e-2), (85, 150.0, 3e-6), (106, 150.0, 0.0)];
    let done = against_finest(bench, ("K4 5e15 ", "diffusion = 5.0e15"), diffusive, 14.0)?;
    for done in &done {
        if done.record.results.setup.truncation[0] > 42 {
            conserved(bench, done, 14.0, (-1.192e-4, -2.897e-3))?;
        }
    }
    Ok(())
}

/// l2(h) of the first runs (truncation, step, limit) on their own grids against the last.
fn against_finest(
    bench: &mut Bench<'_>,
    (words, time): (&str, &str),
    runs: [(usize, f64, f64); 3],
    day: f64,
) -> Result<Vec<Done>> {
    let mut ends = Vec::new();
    for (truncation, dt, limit) in runs {
        let name = format!("T{truncation} {words}rk4 dt {dt}");
        let plan = Plan::new(truncation, "rk4", dt, day).time(time);
        if let Some(done) = bench.integrate(&name, &plan)? {
            ends.push((done, limit));
        }
    }
    let Some((finest, _)) = ends.last() else {
        return Ok(Vec::new());
    };
    let gravity = Planet::default().gravity;
    for (done, limit) in &ends[..ends.len() - 1] {
        let value = match (done.at(day), finest.at(day)) {
            (Some(own), Some(truth)) => {
                let (nlat, nlon) = own.fields.h.dim();
                let truth = heights(&truth.state, gravity, nlat, nlon);
                Quadrature::new(nlat, nlon).l2(&own.fields.h, &truth)
            }
            _ => f64::NAN,
        };
        let quantity = format!("day {day}: l2(h) to {}", finest.name);
        let source = "independent solver";
        bench.judge(
            &done.name,
            &quantity,
            (value, ""),
            Allowed::AtMost(*limit),
            source,
        )?;
    }
    Ok(ends.into_iter().map(|(done, _)| done).collect())
}

/// Only every fourth wavenumber exists, zeta is odd and the height even about the equator.
fn symmetry(bench: &mut Bench<'_>, done: &Done) -> Result<()> {
    let other_waves: Empty = |m, _| m % 4 != 0;
    let even: Empty = |m, n| (n - m) % 2 == 0;
    let odd: Empty = |m, n| (n - m) % 2 == 1;
    for (quantity, field, empty, scale) in [
        (
            "zeta with m mod 4 > 0 / max",
            "zeta_now",
            other_waves,
            "zeta_now",
        ),
        (
            "delta with m mod 4 > 0 / max zeta",
            "delta_now",
            other_waves,
            "zeta_now",
        ),
        (
            "h with m mod 4 > 0 / max",
            "phi_now",
            other_waves,
            "phi_now",
        ),
        ("even part of zeta / max", "zeta_now", even, "zeta_now"),
        ("odd part of h / max", "phi_now", odd, "phi_now"),
    ] {
        let values = done
            .kept
            .iter()
            .map(|kept| share(&kept.state, field, empty, scale));
        let worst = values.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        let allowed = Allowed::AtMost(1e-13);
        bench.judge(
            &done.name,
            quantity,
            (worst, ""),
            allowed,
            "symmetry of the start",
        )?;
    }
    Ok(())
}

/// Ratios of the errors l2(h) at day 1 of successive steps, against the smallest rk4 step.
fn order(
    bench: &mut Bench<'_>,
    reference: &Done,
    scheme: &str,
    steps: &[f64],
    (expected, tolerance): (f64, f64),
) -> Result<()> {
    let mut errors = Vec::new();
    for &dt in steps {
        let name = format!("T42 {scheme} dt {dt}");
        let done = bench.integrate(&name, &Plan::new(42, scheme, dt, 1.0))?;
        let own = done.as_ref().and_then(|done| done.at(1.0));
        errors.push(match (own, reference.at(1.0)) {
            (Some(own), Some(truth)) => {
                let (nlat, nlon) = own.fields.h.dim();
                Quadrature::new(nlat, nlon).l2(&own.fields.h, &truth.fields.h)
            }
            _ => f64::NAN,
        });
    }
    for (errors, steps) in errors.windows(2).zip(steps.windows(2)) {
        let name = format!("T42 {scheme} dt {} and {}", steps[0], steps[1]);
        bench.remark(&format!(
            "{name}: l2(h) {:.4e} and {:.4e}",
            errors[0], errors[1]
        ))?;
        let ratio = errors[0] / errors[1];
        let allowed = Allowed::around(expected, tolerance);
        let quantity = "day 1: ratio of errors l2(h)";
        bench.judge(&name, quantity, (ratio, ""), allowed, "order of the scheme")?;
    }
    Ok(())
}

/// The grid point of williamson-5 with the semi-implicit scheme.
fn semi_implicit(bench: &mut Bench<'_>, dt: f64, (week, end): (f64, f64)) -> Result<()> {
    let name = format!("T42 semi-implicit dt {dt}");
    let point = (40.463_648_157_6, 255.9375);
    let plan = Plan::new(42, "semi-implicit", dt, 14.0).every(168.0, &[point]);
    if let Some(done) = bench.integrate(&name, &plan)? {
        height_at_point(bench, &done, 7.0, week, STSWM)?;
        height_at_point(bench, &done, 14.0, end, STSWM)?;
    }
    Ok(())
}
