//! williamson-5: point values of the semi-discrete problem, of the semi-implicit scheme, and what
//! the equations conserve.

use super::bench::{Bench, CONSERVED, Done, INDEPENDENT, Plan};
use crate::check::fields::Quadrature;
use crate::check::figure::Allowed;
use crate::check::points::{Tolerance, compare};
use crate::error::Result;
use crate::problem::planet::Planet;

/// The grid point of T42 at which heights are published ("40.46N 255.94E").
const PUBLISHED: (f64, f64) = (40.463_648_157_6, 255.9375);

const BOTH: &str = "STSWM and independent solver";

/// Tolerances by day: of T42, or of T85; `sharp`: with a step small enough for the divergence
/// (T42) or the vorticity (T85).
fn tolerance(day: f64, fine: bool, sharp: bool) -> Tolerance {
    let height = match (fine, day) {
        (false, ..=5.0) => 1e-5,
        (false, _) => 1e-4,
        (true, ..=5.0) => 5e-5,
        (true, _) => 2e-4,
    };
    Tolerance {
        height,
        zeta: (day == 5.0 && (sharp || !fine)).then_some(1e-9),
        delta: (day == 5.0 && sharp && !fine).then_some(1e-9),
        extremes: None,
    }
}

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let (dt, days) = if bench.full {
        (18.75, 15.0)
    } else {
        (37.5, 1.0)
    };
    let coarse = semi_discrete(bench, "case5_T42", (42, dt, days), |day| {
        tolerance(day, false, false)
    })?;
    if let (Some(done), true) = (&coarse, bench.full) {
        conserved(bench, done, 15.0, (-8.560e-9, -4.481e-7))?;
        halving(bench, done, 42, 1.0, 1e-5)?;
        semi_discrete(bench, "case5_T42", (42, 7.5, 5.0), |day| {
            tolerance(day, false, true)
        })?;
    }
    semi_implicit(bench, 600.0, [5640.468, 5567.609, 5555.173])?;
    let energy = Plan::new(42, "semi-implicit", 1200.0, 15.0);
    let name = "T42 semi-implicit dt 1200";
    if let Some(done) = bench.integrate(name, &energy)? {
        let value = done.last().map_or(f64::NAN, |entry| entry.energy.abs());
        let allowed = Allowed::AtMost(2e-7);
        bench.judge(
            name,
            "day 15: energy change",
            (value, ""),
            allowed,
            INDEPENDENT,
        )?;
        if let Some(reference) = &coarse.as_ref().filter(|_| bench.full) {
            distance(bench, &done, reference)?;
        }
    }
    same_bits(bench)?;
    if bench.full {
        for (dt, expected) in [(300.0, Some([5639.657, 5567.680, 5545.278])), (600.0, None)] {
            let done = match expected {
                Some(expected) => semi_implicit(bench, dt, expected)?,
                None => {
                    let plan = Plan::new(42, "semi-implicit", dt, 15.0);
                    bench.integrate("T42 semi-implicit dt 600", &plan)?
                }
            };
            if let (Some(done), Some(reference)) = (&done, &coarse) {
                distance(bench, done, reference)?;
            }
        }
        // At dt 30 the error of the step alone is 2.2e-4 m at day 10, above what is allowed.
        let fine = semi_discrete(bench, "case5_T85", (85, 15.0, 15.0), |day| {
            tolerance(day, true, true)
        })?;
        if let Some(done) = &fine {
            conserved(bench, done, 15.0, (1.713e-10, 9.265e-8))?;
        }
    }
    Ok(())
}

/// rk4 with a small step against the stored values of a run, on all its days that are reached.
pub(super) fn semi_discrete(
    bench: &mut Bench<'_>,
    stored: &str,
    (truncation, dt, days): (usize, f64, f64),
    tolerance: impl Fn(f64) -> Tolerance,
) -> Result<Option<Done>> {
    let name = format!("T{truncation} rk4 dt {dt}");
    let plan = Plan::new(truncation, "rk4", dt, days).every(24.0, &bench.reference.probes);
    let Some(done) = bench.integrate(&name, &plan)? else {
        return Ok(None);
    };
    against_stored(bench, &done, stored, tolerance)?;
    Ok(Some(done))
}

/// Judges initial means and all stored days that a run has.
pub(super) fn against_stored(
    bench: &mut Bench<'_>,
    done: &Done,
    stored: &str,
    tolerance: impl Fn(f64) -> Tolerance,
) -> Result<()> {
    let Some(reference) = bench.reference.runs.get(stored) else {
        return bench.remark(&format!("there are no stored values of {stored}"));
    };
    if let Some(start) = done.kept.first() {
        let (nlat, nlon) = start.fields.h.dim();
        let means = Quadrature::new(nlat, nlon).invariants(
            &start.fields,
            Some(&start.surface),
            &Planet::default(),
        );
        let theirs = reference.initial_invariants;
        let pairs = means
            .into_iter()
            .zip([theirs.mass, theirs.energy, theirs.penst]);
        let worst = pairs
            .map(|(ours, theirs)| ((ours - theirs) / theirs).abs())
            .fold(0.0, f64::max);
        let quantity = "day 0: mass, energy, enstrophy, relative";
        let allowed = Allowed::AtMost(1e-12);
        bench.judge(&done.name, quantity, (worst, ""), allowed, INDEPENDENT)?;
    }
    let mut days: Vec<(f64, _)> = reference
        .days
        .iter()
        .filter_map(|(day, values)| Some((day.parse().ok()?, values)))
        .collect();
    days.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (day, values) in days {
        let Some(kept) = done.at(day) else { continue };
        let at = |point: &&_| {
            let point: &crate::report::run::PointRecord = point;
            (point.day - day).abs() < 1e-9
        };
        let points: Vec<_> = done
            .record
            .results
            .points
            .iter()
            .filter(at)
            .copied()
            .collect();
        let place = (bench.case(), done.name.as_str());
        for figure in compare(
            place,
            values,
            &points,
            &kept.fields,
            tolerance(day),
            INDEPENDENT,
        ) {
            bench.push(figure)?;
        }
    }
    Ok(())
}

/// Energy and enstrophy of the truncated system, a property of it and not of the time step.
pub(super) fn conserved(
    bench: &mut Bench<'_>,
    done: &Done,
    day: f64,
    (energy, enstrophy): (f64, f64),
) -> Result<()> {
    let entry = done.diagnosed(day);
    for (quantity, value, expected) in [
        ("energy change", entry.map(|entry| entry.energy), energy),
        (
            "enstrophy change",
            entry.map(|entry| entry.enstrophy),
            enstrophy,
        ),
    ] {
        let quantity = format!("day {day}: {quantity}");
        let value = (value.unwrap_or(f64::NAN), "");
        let allowed = Allowed::within(expected, 0.02);
        bench.judge(&done.name, &quantity, value, allowed, INDEPENDENT)?;
    }
    Ok(())
}

/// Half the step changes heights by less than a tenth of the tolerance.
pub(super) fn halving(
    bench: &mut Bench<'_>,
    done: &Done,
    truncation: usize,
    day: f64,
    tolerance: f64,
) -> Result<()> {
    let dt = done.record.results.setup.dt / 2.0;
    let name = format!("T{truncation} rk4 dt {dt}");
    let plan = Plan::new(truncation, "rk4", dt, day).every(24.0, &bench.reference.probes);
    let Some(halved) = bench.integrate(&name, &plan)? else {
        return Ok(());
    };
    let heights = |done: &Done| -> Vec<f64> {
        let points = done.record.results.points.iter();
        points
            .filter(|point| (point.day - day).abs() < 1e-9)
            .map(|point| point.h)
            .collect()
    };
    let (coarse, fine) = (heights(done), heights(&halved));
    let change = if coarse.is_empty() || coarse.len() != fine.len() {
        f64::NAN
    } else {
        let differences = coarse.iter().zip(&fine).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    };
    let quantity = format!("day {day}: change of h at probes with twice the step");
    let allowed = Allowed::AtMost(0.1 * tolerance);
    bench.judge(
        &name,
        &quantity,
        (change, "m"),
        allowed,
        "a tenth of the tolerance",
    )
}

/// The published grid point with the semi-implicit scheme.
fn semi_implicit(bench: &mut Bench<'_>, dt: f64, expected: [f64; 3]) -> Result<Option<Done>> {
    let name = format!("T42 semi-implicit dt {dt}");
    let plan = Plan::new(42, "semi-implicit", dt, 15.0).every(120.0, &[PUBLISHED]);
    let Some(done) = bench.integrate(&name, &plan)? else {
        return Ok(None);
    };
    for (day, expected) in [5.0, 10.0, 15.0].into_iter().zip(expected) {
        height_at_point(bench, &done, day, expected, BOTH)?;
    }
    Ok(Some(done))
}

/// The height of a run's only point on a day, to 0.05 m.
pub(super) fn height_at_point(
    bench: &mut Bench<'_>,
    done: &Done,
    day: f64,
    expected: f64,
    source: &str,
) -> Result<()> {
    let points = &done.record.results.points;
    let point = points.iter().find(|point| (point.day - day).abs() < 1e-9);
    let value = (point.map_or(f64::NAN, |point| point.h), "m");
    let quantity = format!("day {day}: h at 40.46N 255.94E");
    let allowed = Allowed::around(expected, 0.05);
    bench.judge(&done.name, &quantity, value, allowed, source)
}

/// l2 of the height between the ends of a run and of the one with a vanishing step.
fn distance(bench: &mut Bench<'_>, done: &Done, reference: &Done) -> Result<()> {
    let value = match (done.at(15.0), reference.at(15.0)) {
        (Some(own), Some(other)) => {
            let (nlat, nlon) = own.fields.h.dim();
            Quadrature::new(nlat, nlon).l2(&own.fields.h, &other.fields.h)
        }
        _ => f64::NAN,
    };
    let allowed = Allowed::AtMost(1.5e-3);
    let quantity = format!(
        "day 15: l2(h) to rk4 dt {}",
        reference.record.results.setup.dt
    );
    bench.judge(&done.name, &quantity, (value, ""), allowed, INDEPENDENT)
}

/// Ranks and restarts change no bit.
fn same_bits(bench: &mut Bench<'_>) -> Result<()> {
    let plan = |days: f64| Plan::new(42, "semi-implicit", 600.0, days);
    let name = "T42 semi-implicit dt 600";
    let Some(alone) = bench.integrate_from(name, &plan(0.5), None, 1)? else {
        return Ok(());
    };
    let checksum = alone.record.results.checksum.clone();
    let judge = |bench: &mut Bench<'_>, quantity: &str, other: Option<Done>| {
        let same = other.is_some_and(|other| other.record.results.checksum == checksum);
        let differs = if same { 0.0 } else { 1.0 };
        bench.judge(
            name,
            quantity,
            (differs, ""),
            Allowed::AtMost(0.0),
            CONSERVED,
        )
    };
    for ranks in [1, 2, 3] {
        let other =
            bench.integrate_from(&format!("{name}, {ranks} ranks"), &plan(0.5), None, ranks)?;
        let quantity = match ranks {
            1 => "checksum differs: the same again".to_owned(),
            _ => format!("checksum differs: 1 and {ranks} ranks"),
        };
        judge(bench, &quantity, other)?;
    }
    if let Some(half) = bench.integrate_from(&format!("{name}, half"), &plan(0.25), None, 2)? {
        let state = half.kept.last().map(|kept| &kept.state);
        let other = bench.integrate_from(&format!("{name}, restarted"), &plan(0.5), state, 1)?;
        judge(
            bench,
            "checksum differs: whole and restarted on other ranks",
            other,
        )?;
    }
    Ok(())
}
