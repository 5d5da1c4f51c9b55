//! williamson-2 and williamson-3: flows that must stay as they are.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4};

use super::bench::{Bench, Done, Plan, ROUNDING};
use crate::check::coefficients::share;
use crate::check::figure::Allowed;
use crate::error::Result;

const BOTH: &str = "STSWM and independent solver";

/// l2 of height and wind and their largest errors after the run.
fn last_norms(done: &Done) -> [f64; 4] {
    let Some(norms) = done.last().and_then(|entry| entry.norms) else {
        return [f64::NAN; 4];
    };
    let wind = norms.v.map_or([f64::NAN; 2], |v| [v.l2, v.linf]);
    [norms.h.l2, wind[0], norms.h.linf, wind[1]]
}

/// Judges l2 of height and wind against limits, and linf against ten times as much.
fn limits(bench: &mut Bench<'_>, done: &Done, (h, v): (f64, f64)) -> Result<()> {
    let norms = last_norms(done);
    let quantities = ["l2(h)", "l2(v)", "linf(h)", "linf(v)"];
    for ((quantity, value), limit) in
        quantities
            .into_iter()
            .zip(norms)
            .zip([h, v, 10.0 * h, 10.0 * v])
    {
        let quantity = format!("day 5: {quantity}");
        let allowed = Allowed::AtMost(limit);
        bench.judge(&done.name, &quantity, (value, ""), allowed, ROUNDING)?;
    }
    Ok(())
}

/// williamson-2: every field is of degree 2, so that no truncation error exists.
pub(super) fn zonal(bench: &mut Bench<'_>) -> Result<()> {
    let alphas = [
        ("0", 0.0),
        ("0.05", 0.05),
        ("pi/4", FRAC_PI_4),
        ("pi/2-0.05", FRAC_PI_2 - 0.05),
        ("pi/2", FRAC_PI_2),
    ];
    let mut runs: Vec<(usize, &str, f64, (&str, f64))> = alphas
        .into_iter()
        .map(|alpha| (42, "semi-implicit", 1200.0, alpha))
        .collect();
    runs.push((42, "explicit", 600.0, alphas[1]));
    runs.push((42, "rk4", 1200.0, alphas[2]));
    runs.push((85, "semi-implicit", 900.0, alphas[2]));
    if bench.full {
        for alpha in alphas {
            runs.push((42, "explicit", 600.0, alpha));
            runs.push((42, "rk4", 600.0, alpha));
        }
        runs.push((85, "semi-implicit", 600.0, alphas[0]));
        runs.push((85, "explicit", 300.0, alphas[3]));
        runs.push((85, "rk4", 600.0, alphas[1]));
        runs.push((106, "semi-implicit", 600.0, alphas[2]));
        runs.push((170, "semi-implicit", 450.0, alphas[2]));
    }
    let mut errors = Vec::new();
    for (truncation, scheme, dt, (angle, alpha)) in runs {
        let name = format!("T{truncation} {scheme} dt {dt} alpha {angle}");
        let plan = Plan::new(truncation, scheme, dt, 5.0).with("alpha", alpha);
        let Some(done) = bench.integrate(&name, &plan)? else {
            continue;
        };
        let factor = if truncation > 85 { 2.0 } else { 1.0 };
        limits(bench, &done, (factor * 1e-13, factor * 1e-12))?;
        if truncation == 42 && scheme == "semi-implicit" {
            errors.push(last_norms(&done)[0]);
        }
        if let (0.0, Some(end)) = (alpha, done.kept.last()) {
            let waves = share(&end.state, "zeta_now", |m, _| m > 0, "zeta_now");
            let allowed = Allowed::AtMost(1e-15);
            bench.judge(
                &name,
                "zeta with m > 0 / max",
                (waves, ""),
                allowed,
                "zonal flow",
            )?;
        }
    }
    let most = errors.iter().copied().fold(0.0, f64::max);
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    bench.judge(
        "T42 semi-implicit dt 1200",
        "largest / smallest l2(h) over alpha",
        (most / least, ""),
        Allowed::AtMost(10.0),
        "no direction is special",
    )
}

/// williamson-3: the jet's profile has a truncation error that two codes agree on.
pub(super) fn compact(bench: &mut Bench<'_>) -> Result<()> {
    let angles = [("0", 0.0), ("pi/3", FRAC_PI_3)];
    for (angle, alpha) in angles {
        let name = format!("T42 semi-implicit dt 1200 alpha {angle}");
        let plan = Plan::new(42, "semi-implicit", 1200.0, 5.0).with("alpha", alpha);
        let Some(done) = bench.integrate(&name, &plan)? else {
            continue;
        };
        let norms = last_norms(&done);
        let h = Allowed::within(5.3e-10, 0.2);
        bench.judge(&name, "day 5: l2(h)", (norms[0], ""), h, BOTH)?;
        let v = Allowed::within(7.65e-8, 0.05);
        bench.judge(&name, "day 5: l2(v)", (norms[1], ""), v, BOTH)?;
    }
    let mut finer = vec![(85, 600.0, angles[1], (1e-13, 1e-11))];
    if bench.full {
        finer.push((85, 600.0, angles[0], (1e-13, 1e-11)));
        for angle in angles {
            finer.push((106, 600.0, angle, (1e-13, 1e-12)));
        }
        finer.push((170, 450.0, angles[1], (1e-13, 1e-12)));
    }
    for (truncation, dt, (angle, alpha), (h, v)) in finer {
        let name = format!("T{truncation} semi-implicit dt {dt} alpha {angle}");
        let plan = Plan::new(truncation, "semi-implicit", dt, 5.0).with("alpha", alpha);
        let Some(done) = bench.integrate(&name, &plan)? else {
            continue;
        };
        let norms = last_norms(&done);
        bench.judge(
            &name,
            "day 5: l2(h)",
            (norms[0], ""),
            Allowed::AtMost(h),
            BOTH,
        )?;
        bench.judge(
            &name,
            "day 5: l2(v)",
            (norms[1], ""),
            Allowed::AtMost(v),
            BOTH,
        )?;
    }
    Ok(())
}
