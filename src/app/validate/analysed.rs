//! williamson-7: the one analysed state that is still to be had, in a file of the user's.

use std::path::Path;

use super::bench::{Bench, Plan, STSWM};
use crate::check::fields::extremes;
use crate::check::figure::Allowed;
use crate::error::{Error, Result};

/// Names STSWM's file REF0007.cdf (21 December 1978, 0 h and 24 h, T42).
const VARIABLE: &str = "PSTSWM_STSWM_FILE";

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return bench.remark(&format!(
            "skipped: the analysed state is no part of the program; set {VARIABLE} to the path of \
             STSWM's REF0007.cdf to check it"
        ));
    };
    let path = Path::new(&path);
    if !path.is_file() {
        return Err(Error::Input(format!(
            "{VARIABLE}: {} is no file; give the path of STSWM's REF0007.cdf",
            path.display()
        )));
    }
    let absolute = std::path::absolute(path)
        .map_err(|error| Error::Input(format!("{VARIABLE}: {}: {error}", path.display())))?;
    let name = "T42 K4 5e15 semi-implicit dt 1200";
    let mut plan = Plan::new(42, "semi-implicit", 1200.0, 1.0).time("diffusion = 5.0e15");
    plan.problem = format!(
        "[problem.file]\npath = {:?}\n",
        absolute.display().to_string()
    );
    let Some(done) = bench.integrate(name, &plan)? else {
        return Ok(());
    };
    let first = done.record.results.diagnostics.first();
    let wind = first.map_or(f64::NAN, |entry| entry.max_wind);
    let allowed = Allowed::around(57.68, 0.005);
    bench.judge(name, "day 0: largest wind", (wind, "m/s"), allowed, STSWM)?;
    let heights = done.kept.first().map(|kept| extremes(&kept.fields.h));
    let (low, high) = heights.unwrap_or((f64::NAN, f64::NAN));
    for (what, value, expected) in [("smallest h", low, 9161.0), ("largest h", high, 10275.2)] {
        let quantity = format!("day 0: {what}");
        let allowed = Allowed::around(expected, 0.1);
        bench.judge(name, &quantity, (value, "m"), allowed, STSWM)?;
    }
    let norms = done.last().and_then(|entry| entry.norms);
    let h = norms.map_or(f64::NAN, |norms| norms.h.l2);
    let v = norms.and_then(|norms| norms.v).map_or(f64::NAN, |v| v.l2);
    bench.judge(name, "day 1: l2(h)", (h, ""), Allowed::AtMost(2e-4), STSWM)?;
    bench.judge(
        name,
        "day 1: l2(v)",
        (v, ""),
        Allowed::AtMost(1.2e-2),
        STSWM,
    )
}
