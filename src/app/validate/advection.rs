//! williamson-1: the bell comes round with the truncation error it started with.

use super::bench::{Bench, INDEPENDENT, Plan, STSWM};
use crate::check::figure::Allowed;
use crate::error::Result;

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let small = (1200.0, "T42 rk4 dt 1200");
    let exact = [2.45e-2, 6.07e-3, 3.22e-3];
    norms(bench, "rk4", small, 0.0, (exact, 0.02), INDEPENDENT)?;
    let leapfrog = (1200.0, "T42 leapfrog dt 1200");
    norms(
        bench,
        "explicit",
        leapfrog,
        0.0,
        ([7.24e-2, 3.99e-2, 3.29e-2], 0.05),
        STSWM,
    )?;
    if bench.full {
        let halved = (600.0, "T42 rk4 dt 600");
        norms(bench, "rk4", halved, 0.0, (exact, 0.02), INDEPENDENT)?;
        let tilted = (1200.0, "T42 leapfrog dt 1200 alpha pi/2-0.05");
        let alpha = std::f64::consts::FRAC_PI_2 - 0.05;
        norms(
            bench,
            "explicit",
            tilted,
            alpha,
            ([7.27e-2, 3.99e-2, 3.31e-2], 0.05),
            STSWM,
        )?;
    }
    Ok(())
}

fn norms(
    bench: &mut Bench<'_>,
    scheme: &str,
    (dt, name): (f64, &str),
    alpha: f64,
    (expected, tolerance): ([f64; 3], f64),
    source: &str,
) -> Result<()> {
    let plan = Plan::new(42, scheme, dt, 12.0).with("alpha", alpha);
    let Some(done) = bench.integrate(name, &plan)? else {
        return Ok(());
    };
    let norm = done
        .last()
        .and_then(|entry| entry.norms)
        .map(|norms| norms.h);
    let values = norm.map_or([f64::NAN; 3], |h| [h.l1, h.l2, h.linf]);
    for ((quantity, value), expected) in ["day 12: l1(h)", "day 12: l2(h)", "day 12: linf(h)"]
        .into_iter()
        .zip(values)
        .zip(expected)
    {
        let allowed = Allowed::within(expected, tolerance);
        bench.judge(name, quantity, (value, ""), allowed, source)?;
    }
    Ok(())
}
