//! williamson-6: point values, invariants, symmetry of the wave, and the order of the schemes.

use super::bench::{Bench, Done, Plan, STSWM};
use super::mountain::{conserved, halving, height_at_point, semi_discrete};
use crate::check::coefficients::{Empty, share};
use crate::check::fields::Quadrature;
use crate::check::figure::Allowed;
use crate::check::points::Tolerance;
use crate::error::Result;

fn tolerance(day: f64, _: bool) -> Tolerance {
    Tolerance {
        height: if day <= 7.0 { 1e-5 } else { 1e-4 },
        rates: (day == 5.0).then_some(1e-9),
        extremes: None,
    }
}

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let days = if bench.full { 14.0 } else { 1.0 };
    let coarse = semi_discrete(bench, "case6_T42", 42, 37.5, days, tolerance)?;
    if let Some(done) = &coarse {
        symmetry(bench, done)?;
        order(bench, done, "rk4", &[600.0, 300.0, 150.0], (16.0, 1.0))?;
        if bench.full {
            halving(bench, done, 42, 1.0, 1e-5)?;
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
    }
    Ok(())
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
