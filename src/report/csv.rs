//! Flat tables of results as CSV (RFC 4180, header line, `\n` line ends, empty cell for no value).

use std::fmt::Write;

use super::run::{DiagnosticsRecord, RunResults, StepTimes};
use super::swap::{SwapResults, SwapTimes};
use super::tune::{RatioRecord, TimeRecord, TuneResults};

/// The wall time of every kept step: `step,seconds`; `step` counts timed steps from 1.
pub fn samples(times: &StepTimes) -> String {
    let mut text = String::from("step,seconds\n");
    for (index, &seconds) in times.samples.iter().enumerate() {
        let _ = writeln!(text, "{},{}", index * times.stride + 1, cell(seconds));
    }
    text
}

/// One line per output time: step, day, norms, invariants, wind, the measures of williamson-1.
pub fn diagnostics(entries: &[DiagnosticsRecord]) -> String {
    let mut text = String::from(
        "step,day,h_l1,h_l2,h_linf,v_l1,v_l2,v_linf,mass,energy,enstrophy,zeta_mean_per_s,\
         delta_mean_per_s,max_wind_m_per_s,case1_min,case1_max,case1_mean,case1_variance\n",
    );
    for entry in entries {
        let norm = |norm: Option<super::run::Norm>| {
            let values = norm.map(|n| [n.l1, n.l2, n.linf]);
            values.unwrap_or([f64::NAN; 3])
        };
        let case1 = entry.case1.map(|c| [c.min, c.max, c.mean, c.variance]);
        let mut values = vec![entry.day];
        values.extend(norm(entry.norms.map(|n| n.h)));
        values.extend(norm(entry.norms.and_then(|n| n.v)));
        values.extend([
            entry.mass,
            entry.energy,
            entry.enstrophy,
            entry.zeta_mean,
            entry.delta_mean,
            entry.max_wind,
        ]);
        values.extend(case1.unwrap_or([f64::NAN; 4]));
        let cells: Vec<String> = values.into_iter().map(cell).collect();
        let _ = writeln!(text, "{},{}", entry.step, cells.join(","));
    }
    text
}

/// One line per point of every curve of the swap test, times in s; empty where there is none.
pub fn swap(results: &SwapResults) -> String {
    let mut text = String::from(
        "engine,order,protocol,pattern,rank_a,rank_b,overlap,handshake,max_requests,cold,volume_bytes,iterations,messages,\
         message_bytes,samples,late,late_kept,min,median,ci95_low,ci95_high,verified\n",
    );
    for case in &results.cases {
        for point in &case.curve {
            let times = point.seconds.as_ref();
            let of = |time: fn(&SwapTimes) -> Option<f64>| times.and_then(time).unwrap_or(f64::NAN);
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                case.engine,
                case.order.as_deref().unwrap_or_default(),
                case.protocol.as_deref().unwrap_or_default(),
                case.pattern,
                case.ranks[0],
                case.ranks[1],
                case.overlap,
                case.handshake,
                case.max_requests,
                case.cold,
                case.volume_bytes,
                case.iterations,
                point.messages,
                point.message_bytes,
                times.map_or(0, |times| times.samples.len()),
                point.late,
                point.late_kept,
                cell(of(|times| Some(times.min))),
                cell(of(|times| Some(times.median))),
                cell(of(|times| times.ci95_low)),
                cell(of(|times| times.ci95_high)),
                case.verified
                    .map_or(String::new(), |right| right.to_string()),
            );
        }
    }
    text
}

/// One line per candidate of a search: ways of stages alone, then whole choices; times in s.
pub fn tune(results: &TuneResults) -> String {
    let mut text = String::from(
        "what,layout,stage,way,samples,min,median,ci95_low,ci95_high,ratio,ratio_low,ratio_high,\
         within_noise,dropped,default\n",
    );
    let nan = |value: Option<f64>| cell(value.unwrap_or(f64::NAN));
    let mut line = |first: String, time: &TimeRecord, ratio: &RatioRecord, last: String| {
        let _ = writeln!(
            text,
            "{first},{},{},{},{},{},{},{},{},{},{last}",
            time.samples,
            cell(time.min),
            cell(time.median),
            nan(time.ci95_low),
            nan(time.ci95_high),
            cell(ratio.median),
            nan(ratio.ci95_low),
            nan(ratio.ci95_high),
            ratio.within_noise,
        );
    };
    for stage in &results.stages {
        for way in &stage.ways {
            let layouts = stage.layouts.join("; ");
            let first = format!("stage,\"{layouts}\",{},{}", stage.stage, way.way);
            line(first, &way.seconds, &way.ratio, format!("{},", way.dropped));
        }
    }
    for one in &results.ranking {
        let ways: Vec<String> = one
            .ways
            .iter()
            .map(|w| format!("{} {}", w.stage, w.way))
            .collect();
        let first = format!("step,\"{}\",all,\"{}\"", one.layout, ways.join("; "));
        let last = format!("{},{}", one.dropped, one.default);
        line(first, &one.step_seconds, &one.ratio, last);
    }
    text
}

/// The flat table of a run (`--csv`): the diagnostics when there are any, else the samples.
pub fn run(results: &RunResults) -> String {
    if results.diagnostics.is_empty() {
        samples(&results.seconds_per_step)
    } else {
        diagnostics(&results.diagnostics)
    }
}

/// The shortest text that reads back as the same number; nothing for what is not finite.
fn cell(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn samples_are_numbered_through_the_thinning() {
        let mut times = StepTimes::of(vec![0.25, 0.5]);
        assert_eq!(samples(&times), "step,seconds\n1,0.25\n2,0.5\n");
        times.stride = 3;
        assert_eq!(samples(&times), "step,seconds\n1,0.25\n4,0.5\n");
    }

    #[test]
    fn every_line_has_a_cell_per_column() {
        let mut results = sample::results();
        results.diagnostics[0].norms = None;
        let text = run(&results);
        let columns: Vec<usize> = text.lines().map(|l| l.split(',').count()).collect();
        assert_eq!(columns, vec![18; results.diagnostics.len() + 1]);
        assert!(
            text.lines().nth(1).unwrap().starts_with("0,0.0,,,,,,,0.0,"),
            "{text}"
        );
        results.diagnostics.clear();
        assert!(run(&results).starts_with("step,seconds\n"));
    }
}
