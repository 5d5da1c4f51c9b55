//! The swap test for people: a table per volume in the layout of the SP2 page of 1995, the curves,
//! the sensitivity, the recommendation. Plain text of fixed columns, no colour.

use std::fmt::Write;

use super::measuring;
use super::provenance::Provenance;
use super::swap::{Advice, CaseRecord, CurvePoint, PointAdvice, SensitivityRecord, SwapResults};
use super::units::seconds;

/// Names shown of those within noise.
const NAMES: usize = 6;

/// The block printed before anything is measured.
pub fn header(provenance: &Provenance, who: &str) -> String {
    measuring::header(provenance, "swap test", &format!("; {who}"), &[])
}

/// Everything measured.
pub fn results(results: &SwapResults) -> String {
    let mut text = String::new();
    for definition in &results.definitions {
        let _ = writeln!(text, "# {definition}");
    }
    let clock = &results.clock;
    let _ = writeln!(
        text,
        "# clock: resolution {}, {} a reading: a timing (k swaps) below {} may be off by more than 1 %; \
         starts together to {}",
        seconds(clock.resolution),
        seconds(clock.overhead),
        seconds(clock.shortest_reliable),
        seconds(clock.uncertainty)
    );
    for note in &results.notes {
        let _ = writeln!(text, "# {note}");
    }
    for none in &results.unavailable {
        let _ = writeln!(text, "# no engine {}: {}", none.engine, none.reason);
    }
    for volume in results
        .cases
        .chunk_by(|a, b| a.volume_bytes == b.volume_bytes)
    {
        text.push_str(&table(volume));
        let alike =
            |a: &CaseRecord, b: &CaseRecord| (a.iterations, a.overlap) == (b.iterations, b.overlap);
        for cases in volume.chunk_by(alike) {
            text.push_str(&curves(cases));
        }
    }
    text.push_str(&sensitivity(&results.sensitivity));
    text.push_str(&points(&results.recommendation.points));
    match &results.recommendation.overall {
        Some(advice) => text.push_str(&overall(advice)),
        None => text.push_str(
            "\nNo recommendation: it takes two ways with six samples each at the same points\n",
        ),
    }
    text
}

/// The page's table: protocol, iterations, overlap, bandwidth, latency, model error.
fn table(cases: &[CaseRecord]) -> String {
    let Some(first) = cases.first() else {
        return String::new();
    };
    let cold = if first.cold { ", cold caches" } else { "" };
    let mut text = format!(
        "\n{}{cold}\n\
         {:<45} {:>5} {:>7} {:>10} {:>21} {:>10} {:>9} {:>9} {:>7}  check\n\
         {:<45} {:>5} {:>7} {:>10} {:>21} {:>10} {:>9} {:>9} {:>7}\n",
        match first.pattern.as_str() {
            "pair" | "all-pairs" => format!("Swap of {} bytes each way", first.volume_bytes),
            pattern => format!("Pattern {pattern}, {} bytes a rank", first.volume_bytes),
        },
        "order/protocol or engine",
        "iter",
        "overlap",
        "bandwidth",
        "95 % interval",
        "best",
        "latency",
        "latency",
        "model",
        "",
        "",
        "",
        "MB/s",
        "MB/s",
        "MB/s",
        "us 1995",
        "us 2000",
        "error %",
    );
    for case in cases {
        let interval = case.bandwidth_ci95_mb_s;
        let interval = interval.map_or("-".to_owned(), |[low, high]| {
            format!("[{} {}]", fixed(low), fixed(high))
        });
        let latency = &case.figures.latency_us;
        let _ = writeln!(
            text,
            "{:<45} {:>5} {:>7} {:>10} {interval:>21} {:>10} {:>9} {:>9} {:>7}  {}",
            name(case),
            case.iterations,
            if case.overlap { "yes" } else { "no" },
            fixed(case.figures.bandwidth_mb_s),
            fixed(case.from_minima.bandwidth_mb_s),
            latency
                .t512_t256
                .map_or("-".to_owned(), |l| format!("{l:.3}")),
            latency
                .t1024_t512
                .map_or("-".to_owned(), |l| format!("{l:.3}")),
            case.figures
                .model_error
                .map_or("-".to_owned(), |e| format!("{:.1}", 100.0 * e)),
            match case.verified {
                Some(true) => "ok",
                Some(false) => "WRONG DATA",
                None => "-",
            },
        );
    }
    let negative = |latency: Option<f64>| latency.is_some_and(|latency| latency < 0.0);
    let latencies = cases.iter().map(|case| case.figures.latency_us);
    if latencies
        .into_iter()
        .any(|l| negative(l.t512_t256) || negative(l.t1024_t512))
    {
        text.push_str(
            "negative latency: more and smaller messages took less time, as where their size \
             falls below the eager limit; the linear model does not hold there\n",
        );
    }
    text
}

/// Median times over the number of messages.
fn curves(cases: &[CaseRecord]) -> String {
    let Some(first) = cases.first() else {
        return String::new();
    };
    let mut text = format!(
        "\nT_n, median us, {} bytes, iterations {}, overlap {}\n{:<45}",
        first.volume_bytes,
        first.iterations,
        if first.overlap { "yes" } else { "no" },
        "n"
    );
    for point in &first.curve {
        let _ = write!(text, " {:>9}", point.messages);
    }
    text.push('\n');
    for case in cases {
        let _ = write!(text, "{:<45}", name(case));
        for point in &case.curve {
            let _ = write!(text, " {:>9}", time(point));
        }
        text.push('\n');
    }
    for (kept, what) in [(false, "left out because"), (true, "kept although")] {
        let late: usize = cases
            .iter()
            .flat_map(|case| &case.curve)
            .filter(|point| point.late_kept == kept)
            .map(|point| point.late)
            .sum();
        if late > 0 {
            let _ = writeln!(
                text,
                "{what} a rank came after the common start: {late} timings"
            );
        }
    }
    text
}

fn time(point: &CurvePoint) -> String {
    match &point.seconds {
        Some(times) => fixed(times.median * 1e6),
        None => "-".to_owned(),
    }
}

/// The ends of the curves: few large messages, many small ones.
fn sensitivity(records: &[SensitivityRecord]) -> String {
    if records.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\nSensitivity to the choice of protocol, by median times: (median - min)/min, \
         (max - min)/min over the ways; low up to 5 %, high from 15 %\n\
         {:>9} {:>5} {:>7} {:>6} {:>5} {:>9} {:>9}  {:<9} {:<40} slowest\n",
        "bytes", "iter", "overlap", "n", "ways", "typical %", "worst %", "grade", "fastest"
    );
    let alike = |a: &SensitivityRecord, b: &SensitivityRecord| {
        (a.volume_bytes, a.iterations, a.overlap) == (b.volume_bytes, b.iterations, b.overlap)
    };
    for curve in records.chunk_by(alike) {
        let last = curve.len() - 1;
        let ends = if last == 0 { vec![0] } else { vec![0, last] };
        for end in ends {
            let record = &curve[end];
            let _ = writeln!(
                text,
                "{:>9} {:>5} {:>7} {:>6} {:>5} {:>9.1} {:>9.1}  {:<9} {:<40} {}",
                record.volume_bytes,
                record.iterations,
                if record.overlap { "yes" } else { "no" },
                record.messages,
                record.ways,
                100.0 * record.typical,
                100.0 * record.worst,
                record.grade,
                record.fastest,
                record.slowest,
            );
        }
    }
    text
}

/// The fastest way at the ends of every curve.
fn points(points: &[PointAdvice]) -> String {
    if points.iter().all(|point| point.ways < 2) {
        return String::new();
    }
    let mut text = format!(
        "\nFastest by median; within noise: its times over the fastest's, round by round, have a \
         median whose 95 % interval does not lie above 1\n{:>9} {:>5} {:>6} {:>10}  {:<45} within noise\n",
        "bytes", "iter", "n", "us", "fastest"
    );
    let alike = |a: &PointAdvice, b: &PointAdvice| {
        (a.volume_bytes, a.iterations) == (b.volume_bytes, b.iterations)
    };
    for curve in points.chunk_by(alike) {
        let last = curve.len() - 1;
        let ends = if last == 0 { vec![0] } else { vec![0, last] };
        for end in ends {
            let point = &curve[end];
            let _ = writeln!(
                text,
                "{:>9} {:>5} {:>6} {:>10}  {:<45} {}",
                point.volume_bytes,
                point.iterations,
                point.messages,
                fixed(point.seconds * 1e6),
                point.way,
                some_of(&point.within_noise, point.ways - 1),
            );
        }
    }
    text
}

fn overall(advice: &Advice) -> String {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let mut text = format!(
        "\nRecommendation for these ranks, over all volumes and numbers of messages measured\n\
         {}: on (geometric) average {:.1} % above the fastest at each point\n",
        advice.way,
        percent(advice.mean_ratio)
    );
    if !advice.within_noise.is_empty() {
        let names = some_of(&advice.within_noise, usize::MAX);
        let _ = writeln!(text, "not slower beyond noise: {names}");
    }
    for (what, ratio) in [("default", &advice.default), ("slowest", &advice.slowest)] {
        if let Some(ratio) = ratio.as_ref().filter(|ratio| ratio.way != advice.way) {
            let noise = if advice.within_noise.contains(&ratio.way) {
                ", within noise"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "{what} {}: {:.1} % slower on average{noise}",
                ratio.way,
                percent(ratio.ratio)
            );
        }
    }
    for line in &advice.namelist {
        let _ = writeln!(text, "    {line}");
    }
    text
}

fn name(case: &CaseRecord) -> String {
    let mut name = match (&case.order, &case.protocol) {
        (Some(order), Some(protocol)) => format!("{order}/{protocol}"),
        _ => case.engine.clone(),
    };
    if case.handshake {
        name.push_str(" handshake");
    }
    if case.max_requests > 0 {
        let _ = write!(name, " max-requests {}", case.max_requests);
    }
    if case.pattern == "all-pairs" {
        let _ = write!(name, " {}-{}", case.ranks[0], case.ranks[1]);
    }
    name
}

/// The first few names; `all`: how many there are besides the fastest.
fn some_of(names: &[String], all: usize) -> String {
    if names.is_empty() {
        return "-".to_owned();
    }
    if names.len() == all && all > 1 {
        return format!("all {all} others");
    }
    let shown = names
        .iter()
        .take(NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

/// Four or five significant digits without an exponent.
fn fixed(value: f64) -> String {
    match value {
        x if !x.is_finite() => "-".to_owned(),
        x if x >= 1000.0 => format!("{x:.0}"),
        x if x >= 100.0 => format!("{x:.1}"),
        x if x >= 10.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}
