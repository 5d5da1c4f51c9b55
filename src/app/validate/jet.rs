//! galewsky and galewsky-balanced: the unstable jet and the steady one.

use super::bench::{Bench, INDEPENDENT, Plan};
use super::mountain::against_stored;
use crate::check::coefficients::{difference, mirrored, share, turned};
use crate::check::fields::{Quadrature, extremes};
use crate::check::figure::Allowed;
use crate::check::points::Tolerance;
use crate::error::Result;

const VISCOUS: &str = "laplacian = 1.0e5";

fn tolerance(_: f64) -> Tolerance {
    Tolerance {
        height: 1e-2,
        zeta: None,
        delta: None,
        extremes: Some(1e-5),
    }
}

/// The jet with its perturbation.
pub(super) fn perturbed(bench: &mut Bench<'_>) -> Result<()> {
    symmetries(bench)?;
    let (dt, days, every) = if bench.full {
        (30.0, 6.0, 24.0)
    } else {
        (300.0, 1.0 / 24.0, 0.0)
    };
    let name = format!("T85 nu 1e5 rk4 dt {dt}");
    let plan = Plan::new(85, "rk4", dt, days)
        .every(every, &bench.reference.probes)
        .time(VISCOUS);
    if let Some(done) = bench.integrate(&name, &plan)? {
        against_stored(bench, &done, "gal_T85_nu", tolerance)?;
        if let Some(end) = done.at(6.0) {
            let (low, high) = extremes(&end.fields.zeta);
            let (shallow, deep) = extremes(&end.fields.h);
            for (what, value, unit, expected) in [
                ("smallest zeta", low, "1/s", -7.317e-5),
                ("largest zeta", high, "1/s", 9.29e-5),
                ("smallest h", shallow, "m", 8909.25),
                ("largest h", deep, "m", 10210.085),
            ] {
                let quantity = format!("day 6: {what}");
                let allowed = Allowed::within(expected, 0.01);
                let source = "independent solver, T213";
                bench.judge(&name, &quantity, (value, unit), allowed, source)?;
            }
        }
        if let Some(start) = done.kept.first() {
            let (nlat, nlon) = start.fields.h.dim();
            let omega = crate::problem::planet::Planet::default().omega;
            let value =
                Quadrature::new(nlat, nlon).largest_potential_vorticity(&start.fields, omega);
            let allowed = Allowed::within(2.429_15e-8, 0.01);
            let quantity = "day 0: largest potential vorticity";
            bench.judge(
                &name,
                quantity,
                (value, "1/(m s)"),
                allowed,
                "profile of the jet",
            )?;
        }
    }
    if bench.full {
        let name = "T85 rk4 dt 60";
        let plan = Plan::new(85, "rk4", 60.0, 6.0).every(24.0, &[]);
        if let Some(done) = bench.integrate(name, &plan)? {
            for (day, low, high) in [(5.0, 8814.572, 10221.079), (6.0, 8610.650, 10250.687)] {
                let found = done.at(day).map(|kept| extremes(&kept.fields.h));
                let (smallest, largest) = found.unwrap_or((f64::NAN, f64::NAN));
                for (what, value, expected) in
                    [("smallest h", smallest, low), ("largest h", largest, high)]
                {
                    let quantity = format!("day {day}: {what}");
                    let allowed = Allowed::around(expected, 0.1);
                    bench.judge(name, &quantity, (value, "m"), allowed, INDEPENDENT)?;
                }
            }
        }
    }
    Ok(())
}

/// A start that is mirrored at the equator or turned about the axis gives a state that is.
fn symmetries(bench: &mut Bench<'_>) -> Result<()> {
    let name = "T42 rk4 dt 300";
    let plan = Plan::new(42, "rk4", 300.0, 1.0);
    let Some(plain) = bench.integrate(name, &plan)? else {
        return Ok(());
    };
    let (Some(start), Some(end)) = (plain.kept.first(), plain.kept.last()) else {
        return Ok(());
    };
    let (start, end) = (&start.state, &end.state);
    let angle = 2.0 * std::f64::consts::PI * 5.0 / plain.record.results.setup.nlon as f64;
    for (what, start, end) in [
        ("mirrored start", mirrored(start), mirrored(end)),
        (
            "start turned by 5 grid lengths",
            turned(start, angle),
            turned(end, angle),
        ),
    ] {
        let name = format!("{name}, {what}");
        let Some(done) = bench.integrate_from(&name, &plan, Some(&start), 1)? else {
            continue;
        };
        let own = done.kept.last().map(|kept| &kept.state);
        let value = own.map_or(f64::NAN, |own| difference(&end, own));
        let quantity = "day 1: largest l2 difference";
        bench.judge(
            &name,
            quantity,
            (value, ""),
            Allowed::AtMost(1e-12),
            "symmetry",
        )?;
    }
    Ok(())
}

/// The jet without perturbation stays, and stays zonal.
pub(super) fn balanced(bench: &mut Bench<'_>) -> Result<()> {
    let days = if bench.full { 6.0 } else { 1.0 };
    let name = "T85 rk4 dt 300";
    let plan = Plan::new(85, "rk4", 300.0, days).every(24.0, &[]);
    let Some(done) = bench.integrate(name, &plan)? else {
        return Ok(());
    };
    let Some(start) = done.kept.first() else {
        return Ok(());
    };
    let (nlat, nlon) = start.fields.h.dim();
    let grid = Quadrature::new(nlat, nlon);
    for (day, limit) in [(1.0, 2e-8), (3.0, 4e-8), (6.0, 6e-8)] {
        let Some(kept) = done.at(day) else { continue };
        let change = grid.l2(&kept.fields.h, &start.fields.h);
        let quantity = format!("day {day}: l2(h) change since the start");
        let allowed = Allowed::AtMost(limit);
        bench.judge(name, &quantity, (change, ""), allowed, INDEPENDENT)?;
        let waves = share(&kept.state, "zeta_now", |m, _| m > 0, "zeta_now");
        let quantity = format!("day {day}: zeta with m > 0 / max");
        bench.judge(
            name,
            &quantity,
            (waves, ""),
            Allowed::AtMost(1e-13),
            "zonal flow",
        )?;
    }
    Ok(())
}
