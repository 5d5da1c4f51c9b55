//! A run for people: header, one line per output time, summary. Plain text, no colour.

use std::fmt::Write;

use super::provenance::{Build, Provenance};
use super::record::Verdict;
use super::run::{
    ButterflyRecord, DiagnosticsRecord, ExchangeRecord, PhaseRecord, PointRecord, RunResults,
    Setup, SumRecord,
};
use super::units::{bytes, count, seconds};

/// Width of the names at the left of header and summary.
const LABEL: usize = 15;

/// The block printed before the first step: what is run, where, and what may spoil it.
pub fn header(setup: &Setup, provenance: &Provenance) -> String {
    let mut text = title(&provenance.build);
    text.push('\n');
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<LABEL$}{value}");
    };
    line("case", setup.case.clone());
    line("truncation", truncation(setup.truncation));
    line(
        "grid",
        format!(
            "{} latitudes x {} longitudes, {} {}",
            setup.nlat,
            setup.nlon,
            setup.levels,
            if setup.levels == 1 { "level" } else { "levels" }
        ),
    );
    line(
        "time",
        format!(
            "{} steps of {} s ({} days), {}",
            setup.steps,
            setup.dt,
            rounded(setup.days),
            setup.scheme
        ),
    );
    line(
        "Courant",
        format!(
            "advective {:.3}, gravity wave {:.3}",
            setup.courant.advective, setup.courant.gravity_wave
        ),
    );
    line(
        "stopped if",
        format!("the wind passes {:.0} m/s anywhere", setup.wind_bound),
    );
    let mesh = &setup.mesh;
    line(
        "ranks",
        format!(
            "{} as {} x {} by {} over {}",
            setup.ranks,
            mesh.px,
            mesh.py,
            mesh.rank_order,
            provenance
                .transport_library
                .as_deref()
                .unwrap_or(&provenance.transport)
        ),
    );
    let algorithm = &setup.algorithm;
    line(
        "FFT",
        match (&algorithm.fft_transpose, &algorithm.fft_butterfly) {
            (Some(transpose), _) => format!("{}, {}", algorithm.fft, exchange(transpose)),
            (None, Some(swap)) => format!("{}, {}", algorithm.fft, butterfly(swap)),
            (None, None) => algorithm.fft.clone(),
        },
    );
    line(
        "Legendre",
        match (&algorithm.legendre_transpose, &algorithm.legendre_sum) {
            (Some(transpose), _) => format!("{}, {}", algorithm.legendre, exchange(transpose)),
            (None, Some(adds)) => format!("{}, {}", algorithm.legendre, sum(adds)),
            (None, None) => algorithm.legendre.clone(),
        },
    );
    let memory = &setup.memory_bytes;
    line(
        "memory",
        if memory.min == memory.max {
            format!("{} on each rank", bytes(memory.max))
        } else {
            format!(
                "{} to {} on each rank",
                bytes(memory.min),
                bytes(memory.max)
            )
        },
    );
    for warning in &provenance.warnings {
        line("warning", warning.clone());
    }
    text
}

/// The program, its version and the commit of its sources, on a line.
pub(super) fn title(build: &Build) -> String {
    let commit = match (&build.git, build.git_dirty) {
        (Some(git), dirty) => format!(
            " ({}{})",
            git.get(..12).unwrap_or(git),
            if dirty == Some(true) {
                ", modified"
            } else {
                ""
            }
        ),
        (None, _) => String::new(),
    };
    format!("PSTSWM {}{commit}\n", build.version)
}

/// `T42`, or `M 42, N 50, K 60`.
fn truncation([m, n, k]: [usize; 3]) -> String {
    if m == n && n == k {
        format!("T{m}")
    } else {
        format!("M {m}, N {n}, K {k}")
    }
}

fn butterfly(choice: &ButterflyRecord) -> String {
    let mut text = format!("{} {}", choice.order, choice.protocol);
    if choice.handshake {
        text.push_str(" handshake");
    }
    if choice.overlap {
        text.push_str(" overlap");
    }
    text
}

fn sum(choice: &SumRecord) -> String {
    let mut text = format!("{} sum", choice.sum);
    if let (Some(order), Some(protocol)) = (&choice.order, &choice.protocol) {
        text.push_str(&format!(" {order} {protocol}"));
    }
    if choice.handshake == Some(true) {
        text.push_str(" handshake");
    }
    text
}

fn exchange(choice: &ExchangeRecord) -> String {
    let (Some(order), Some(protocol)) = (&choice.order, &choice.protocol) else {
        return choice.engine.clone();
    };
    let mut text = format!("{} {order} {protocol}", choice.transpose);
    if choice.handshake == Some(true) {
        text.push_str(" handshake");
    }
    if choice.overlap == Some(true) {
        text.push_str(" overlap");
        if let Some(cap) = choice.max_requests.filter(|&cap| cap > 0) {
            text.push_str(&format!(" (at most {cap} requests)"));
        }
    }
    text
}

/// A number without a needless fraction.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether the table has columns for norms and for the measures of williamson-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Norms of the height.
    pub norms: bool,
    /// Norms of the wind.
    pub wind_norms: bool,
    /// Measures of the advected bell.
    pub case1: bool,
}

impl Columns {
    /// The columns this first entry needs.
    pub fn of(entry: &DiagnosticsRecord) -> Self {
        Self {
            norms: entry.norms.is_some(),
            wind_norms: entry.norms.is_some_and(|n| n.v.is_some()),
            case1: entry.case1.is_some(),
        }
    }
}

/// The two lines above the table of norms and invariants: names and units.
pub fn table_header(columns: Columns) -> String {
    let mut names = format!("{:>9}", "day");
    let mut units = format!("{:>9}", "");
    let mut column = |name: &str, unit: &str| {
        let _ = write!(names, " {name:>10}");
        let _ = write!(units, " {unit:>10}");
    };
    if columns.norms {
        for name in ["h l1", "h l2", "h linf"] {
            column(name, "");
        }
    }
    if columns.wind_norms {
        for name in ["v l1", "v l2", "v linf"] {
            column(name, "");
        }
    }
    if columns.case1 {
        for name in ["h min", "h max", "h mean", "h var"] {
            column(name, "rel.");
        }
    } else {
        for name in ["mass", "energy", "enstrophy"] {
            column(name, "rel.");
        }
        column("zeta mean", "1/s");
        column("delta mean", "1/s");
    }
    column("max wind", "m/s");
    format!("{}\n{}\n", names.trim_end(), units.trim_end())
}

/// One line of the table; a dash stands for a value that does not exist.
pub fn table_line(columns: Columns, entry: &DiagnosticsRecord) -> String {
    let mut line = format!("{:>9}", rounded(entry.day));
    let mut cell = |value: Option<f64>| {
        let _ = match value {
            Some(value) => write!(line, " {value:>10.2e}"),
            None => write!(line, " {:>10}", "-"),
        };
    };
    if columns.norms {
        let h = entry.norms.map(|n| n.h);
        cell(h.map(|n| n.l1));
        cell(h.map(|n| n.l2));
        cell(h.map(|n| n.linf));
    }
    if columns.wind_norms {
        let v = entry.norms.and_then(|n| n.v);
        cell(v.map(|n| n.l1));
        cell(v.map(|n| n.l2));
        cell(v.map(|n| n.linf));
    }
    if columns.case1 {
        let bell = entry.case1;
        cell(bell.map(|b| b.min));
        cell(bell.map(|b| b.max));
        cell(bell.map(|b| b.mean));
        cell(bell.map(|b| b.variance));
    } else {
        cell(Some(entry.mass));
        cell(Some(entry.energy));
        cell(Some(entry.enstrophy));
        cell(Some(entry.zeta_mean));
        cell(Some(entry.delta_mean));
    }
    format!("{line} {:>10.2}\n", entry.max_wind)
}

/// The block printed at the end: speed, phases, checksum, verdict.
pub fn summary(results: &RunResults, verdict: &Verdict) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<LABEL$}{value}");
    };
    let times = &results.seconds_per_step;
    line(
        "time per step",
        if times.count == 0 {
            "none timed: the run is not longer than its warm-up".to_owned()
        } else {
            format!(
                "min {}, median {}, max {} ({} steps after {} of warm-up)",
                seconds(times.min),
                seconds(times.median),
                seconds(times.max),
                times.count,
                results.warmup_steps
            )
        },
    );
    if times.count > 0 {
        line(
            "speed",
            format!(
                "{} simulated days per day, {:.3} GFlop/s (from the median step)",
                count(results.simulated_days_per_day),
                results.gflops
            ),
        );
    }
    let transforms = &results.transforms_per_step;
    line(
        "work per step",
        format!(
            "{:.4e} flops, {} inverse and {} forward transforms",
            results.flops_per_step, transforms.inverse, transforms.forward
        ),
    );
    line("flops are", results.flops_formula.clone());
    if !results.phases.is_empty() {
        text.push('\n');
        text += &phases(&results.phases);
    }
    text.push('\n');
    text += &points(&results.points);
    let _ = writeln!(
        text,
        "{:<LABEL$}{} ({} kernels)",
        "checksum", results.checksum, results.kernel
    );
    text += &self::verdict(verdict);
    text
}

/// The values at the points of the namelist at the last output; empty without points.
fn points(points: &[PointRecord]) -> String {
    let Some(last) = points.last() else {
        return String::new();
    };
    let mut text = format!(
        "{:>10} {:>10} {:>10} {:>13} {:>10} {:>10} {:>12} {:>12}\n",
        "day", "lat, N", "lon, E", "h, m", "u, m/s", "v, m/s", "zeta, 1/s", "delta, 1/s"
    );
    for point in points.iter().filter(|point| point.day == last.day) {
        let _ = writeln!(
            text,
            "{:>10} {:>10} {:>10} {:>13.4} {:>10.4} {:>10.4} {:>12.4e} {:>12.4e}",
            rounded(point.day),
            rounded(point.lat),
            rounded(point.lon),
            point.h,
            point.u,
            point.v,
            point.zeta,
            point.delta
        );
    }
    text.push('\n');
    text
}

/// `VALID`, or `INVALID` and its reasons, one a line.
pub fn verdict(verdict: &Verdict) -> String {
    let mut text = format!("{:<LABEL$}{}\n", "result", verdict.status.name());
    for reason in &verdict.reasons {
        let _ = writeln!(text, "{:<LABEL$}{reason}", "  because");
    }
    text
}

/// The table of phases over ranks, totals of the timed steps.
fn phases(rows: &[PhaseRecord]) -> String {
    let step = rows.iter().find(|row| row.name == "step");
    let whole = step.map(|row| row.seconds.mean).filter(|&mean| mean > 0.0);
    let width = rows
        .iter()
        .map(|row| row.name.len())
        .max()
        .unwrap_or(0)
        .max(5);
    let mut text = format!(
        "{:<width$} {:>8} {:>10} {:>10} {:>10} {:>6} {:>9} {:>7} {:>10} {:>9}\n",
        "phase", "calls", "min", "mean", "max", "share", "imbalance", "slowest", "sent", "messages"
    );
    let mut outside = false;
    for row in rows {
        let share = match whole {
            Some(whole) if !outside => format!("{:.1}%", 100.0 * row.seconds.mean / whole),
            _ => "-".to_owned(),
        };
        let (sent, messages) = if row.messages == 0 {
            ("-".to_owned(), "-".to_owned())
        } else {
            (bytes(row.bytes_sent), row.messages.to_string())
        };
        let _ = writeln!(
            text,
            "{:<width$} {:>8} {:>10} {:>10} {:>10} {share:>6} {:>9.3} {:>7} {sent:>10} {messages:>9}",
            row.name,
            row.calls,
            seconds(row.seconds.min),
            seconds(row.seconds.mean),
            seconds(row.seconds.max),
            row.imbalance,
            row.slowest_rank,
        );
        outside |= row.name == "step";
    }
    text += "min, mean, max over ranks, all timed steps; imbalance = max/mean - 1; \
             slowest: the rank of max;\nsent and messages: all ranks together\n";
    text
}

#[cfg(test)]
mod tests {
    use super::super::run::Advection;
    use super::super::sample;
    use super::*;

    /// Golden text begins with a line end for the eye.
    fn golden(text: &str) -> &str {
        text.strip_prefix('\n').unwrap_or(text)
    }

    #[test]
    fn header_layout() {
        let text = header(&sample::setup(), &sample::provenance());
        let expected = "
PSTSWM 0.1.0 (0123456789ab)

case           williamson-2
truncation     T42
grid           64 latitudes x 128 longitudes, 4 levels
time           360 steps of 1200 s (5 days), semi-implicit
Courant        advective 0.310, gravity wave 1.374
stopped if     the wind passes 493 m/s anywhere
ranks          2 as 2 x 1 by row over threads
FFT            double-transpose, swap ordered nonblocking-recv
Legendre       transpose, swap ordered nonblocking-recv
memory         3.40 MB to 3.50 MB on each rank
warning        the load average was high; time on an idle machine
";
        assert_eq!(text, golden(expected));
    }

    #[test]
    fn table_layout() {
        let entry = sample::diagnostics(360, 5.0);
        let columns = Columns::of(&entry);
        let text = table_header(columns) + &table_line(columns, &entry);
        let expected = "
      day       h l1       h l2     h linf       v l1       v l2     v linf       mass     energy  enstrophy  zeta mean delta mean   max wind
                                                                                  rel.       rel.       rel.        1/s        1/s        m/s
        5   5.00e-13   1.00e-12   2.00e-12   5.00e-13   1.00e-12   2.00e-12     0.00e0  -5.00e-13   5.00e-13   1.50e-21  -2.00e-22      38.61
";
        assert_eq!(text, golden(expected));
    }

    #[test]
    fn table_layout_without_reference_and_of_williamson_1() {
        let mut entry = sample::diagnostics(72, 0.5);
        let with_norms = Columns::of(&entry);
        entry.norms = None;
        let columns = Columns::of(&entry);
        assert!(!table_header(columns).contains("l1"));
        assert!(table_line(with_norms, &entry).contains("       -          -"));
        entry.case1 = Some(Advection {
            min: -0.0123,
            max: -0.045,
            mean: 1e-16,
            variance: f64::NAN,
        });
        let columns = Columns::of(&entry);
        let text = table_header(columns) + &table_line(columns, &entry);
        let expected = "
      day      h min      h max     h mean      h var   max wind
                rel.       rel.       rel.       rel.        m/s
      0.5   -1.23e-2   -4.50e-2   1.00e-16        NaN      38.61
";
        assert_eq!(text, golden(expected));
    }

    #[test]
    fn summary_layout() {
        let mut results = sample::results();
        results.phases.retain(|p| {
            [
                "inverse-fft",
                "fft-transpose-move",
                "other",
                "step",
                "diagnostics",
            ]
            .contains(&p.name.as_str())
        });
        let mut verdict = Verdict::valid();
        let text = summary(&results, &verdict);
        let expected = "
time per step  min 5.000 ms, median 6.780 ms, max 8.560 ms (357 steps after 3 of warm-up)
speed          176991 simulated days per day, 1.821 GFlop/s (from the median step)
work per step  1.2345e7 flops, 4 inverse and 5 forward transforms
flops are      FFT 2.5 N log2 N per line of N; Legendre 4 per coefficient and latitude pair; 30 per grid point

phase                 calls        min       mean        max  share imbalance slowest       sent  messages
inverse-fft               1   20.00 ms   25.00 ms   30.00 ms   1.2%     0.200       1          -         -
fft-transpose-move        1   90.00 ms   112.5 ms   135.0 ms   5.6%     0.200       1    24.7 MB      2880
other                     1   425.0 ms   687.5 ms   950.0 ms  34.4%     0.382       0          -         -
step                      1    2.000 s    2.000 s    2.000 s 100.0%     0.000       0          -         -
diagnostics               1   125.0 ms   125.0 ms   125.0 ms      -     0.000       0          -         -
min, mean, max over ranks, all timed steps; imbalance = max/mean - 1; slowest: the rank of max;
sent and messages: all ranks together

       day     lat, N     lon, E          h, m     u, m/s     v, m/s    zeta, 1/s   delta, 1/s
         5      40.46     255.94     5640.5000     1.0000    -2.0000    1.0000e-5          NaN

checksum       0123456789abcdef (portable kernels)
result         VALID
";
        assert_eq!(text, golden(expected));
        verdict.fail("mass changed by 1.0e-3, at most 1.0e-11 is allowed");
        let text = summary(&results, &verdict);
        let end = "result         INVALID\n  because      mass changed by 1.0e-3, at most 1.0e-11 is allowed\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn a_run_shorter_than_its_warm_up_says_so() {
        let mut results = sample::results();
        results.seconds_per_step = super::super::run::StepTimes::of(Vec::new());
        results.points.clear();
        let text = summary(&results, &Verdict::valid());
        assert!(text.starts_with("time per step  none timed"), "{text}");
        assert!(!text.contains("NaN"), "{text}");
    }

    #[test]
    fn truncations() {
        assert_eq!(truncation([85; 3]), "T85");
        assert_eq!(truncation([10, 12, 20]), "M 10, N 12, K 20");
    }
}
