//! A search for people: layouts, stages, the ranking, what it cost. Plain text of fixed columns.

use std::fmt::Write;

use super::measuring;
use super::provenance::Provenance;
use super::tune::{
    FinalistRecord, LayoutRecord, RatioRecord, SettingRecord, StageRecord, TimeRecord, TuneResults,
    WayRecord,
};
use super::units::{bytes, seconds};
use crate::problem::definition::Problem;

/// Ways of a stage that are shown.
const WAYS: usize = 8;

/// Finalists that are shown.
const FINALISTS: usize = 24;

/// The block printed before anything is measured.
pub fn header(provenance: &Provenance, problem: &Problem, layouts: Option<usize>) -> String {
    let levels = if problem.levels == 1 {
        "level"
    } else {
        "levels"
    };
    let what = format!(
        "{}, {}, {} latitudes x {} longitudes, {} {levels}",
        problem.case.name(),
        problem.truncation,
        problem.nlat,
        problem.nlon,
        problem.levels
    );
    let mut lines = vec![("case", what)];
    lines.extend(layouts.map(|layouts| ("layouts", layouts.to_string())));
    measuring::header(provenance, "tune", "", &lines)
}

/// Everything found.
pub fn results(results: &TuneResults) -> String {
    let mut text = String::new();
    for definition in &results.definitions {
        let _ = writeln!(text, "# {definition}");
    }
    for none in &results.unavailable {
        let _ = writeln!(text, "# no engine {}: {}", none.engine, none.reason);
    }
    text.push_str(&layouts(&results.layouts));
    for record in &results.stages {
        text.push_str(&stage(record));
    }
    if !results.ranking.is_empty() {
        text.push_str(&ranking(&results.ranking));
    }
    text.push_str(&settings(&results.settings));
    text.push_str(&default(results));
    for (title, lines) in [
        ("Failed, left out", failed(results)),
        ("Computed something else", results.wrong.clone()),
        ("Left out or cut off", results.notes.clone()),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text.push_str(&cost(results));
    if let Some(first) = results.ranking.first() {
        text.push_str("\nThe fastest, for the namelist\n");
        for line in first.fragment.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// The settings, as a namelist takes them, with what they rest on.
fn settings(settings: &[SettingRecord]) -> String {
    if settings.is_empty() {
        return String::new();
    }
    let mut text = "\nSettings\n".to_owned();
    let mut before = "";
    for setting in settings {
        if setting.evidence != before {
            let _ = writeln!(text, "    ! {}", setting.evidence);
        }
        before = &setting.evidence;
        let _ = writeln!(text, "    {} = {}", setting.name, setting.value);
    }
    text
}

fn failed(results: &TuneResults) -> Vec<String> {
    let failed = results.failed.iter();
    failed
        .map(|failed| format!("{}: {}", failed.candidate, failed.reason))
        .collect()
}

fn layouts(layouts: &[LayoutRecord]) -> String {
    if layouts.iter().all(|layout| layout.step_seconds.is_none()) {
        return String::new();
    }
    let mut text = format!(
        "\nLayouts, with the namelist's ways\n{:<48} {:>10} {:>23} {:>10} {:>9} {:>10}  \n",
        "mesh PXxPY, algorithms", "step", "95 % interval", "floor", "messages", "bytes"
    );
    for layout in layouts {
        let _ = writeln!(
            text,
            "{:<48} {:>10} {:>23} {:>10} {:>9} {:>10}  {}",
            layout.layout,
            layout
                .step_seconds
                .map_or("-".to_owned(), |time| seconds(time.median)),
            layout
                .step_seconds
                .as_ref()
                .map_or("-".to_owned(), interval),
            layout.floor_seconds.map_or("-".to_owned(), seconds),
            layout.messages,
            bytes(layout.bytes),
            layout
                .dropped
                .as_ref()
                .map_or(String::new(), |why| format!("out: {why}")),
        );
    }
    text
}

fn stage(record: &StageRecord) -> String {
    let percent = |fraction: Option<f64>| {
        fraction.map_or("-".to_owned(), |fraction| {
            format!("{:.1} %", 100.0 * fraction)
        })
    };
    let mut text = format!(
        "\n{}\nsensitivity: typical {}, worst {}: {}\n\
         {:<50} {:>10} {:>23} {:>7} {:>15}\n",
        if record.layouts.is_empty() {
            format!("Pattern {}, {} ranks", record.stage, record.ranks)
        } else {
            format!(
                "Stage {} between {} ranks, alone; layouts: {}",
                record.stage,
                record.ranks,
                record.layouts.join("; ")
            )
        },
        percent(record.typical),
        percent(record.worst),
        record.grade.as_deref().unwrap_or("-"),
        "way",
        "time",
        "95 % interval",
        "ratio",
        "95 % interval"
    );
    let shown = |way: &&WayRecord| way.ratio.within_noise;
    let close = record.ways.iter().filter(shown).count();
    for way in record.ways.iter().take(WAYS) {
        let _ = writeln!(
            text,
            "{:<50} {:>10} {:>23} {}",
            way.way,
            seconds(way.seconds.median),
            interval(&way.seconds),
            ratio(&way.ratio)
        );
    }
    let more = record.ways.len().saturating_sub(WAYS);
    if more > 0 {
        let _ = writeln!(
            text,
            "and {more} more; within noise of the fastest: {close}"
        );
    }
    text
}

fn ranking(ranking: &[FinalistRecord]) -> String {
    let mut text = format!(
        "\nRanking, whole steps; noise: within noise of the fastest; few: fewer than six samples; out: \
         dropped as slower\n{:>10} {:>23} {:>7} {:>15} {:<7}  choice\n",
        "step", "95 % interval", "ratio", "95 % interval", ""
    );
    for one in ranking.iter().take(FINALISTS) {
        let mut marks = Vec::new();
        match one.ratio.ci95_low {
            None => marks.push("few"),
            Some(_) if one.ratio.within_noise && one.ratio.median != 1.0 => marks.push("noise"),
            Some(_) => {}
        }
        if one.dropped {
            marks.push("out");
        }
        if one.default {
            marks.push("default");
        }
        let ways: Vec<String> = one
            .ways
            .iter()
            .map(|w| format!("{} {}", w.stage, w.way))
            .collect();
        let _ = writeln!(
            text,
            "{:>10} {:>23} {} {:<7}  {}{}{}",
            seconds(one.step_seconds.median),
            interval(&one.step_seconds),
            ratio(&one.ratio),
            marks.join(" "),
            one.layout,
            if ways.is_empty() { "" } else { ": " },
            ways.join(", ")
        );
    }
    if ranking.len() > FINALISTS {
        let _ = writeln!(text, "and {} more", ranking.len() - FINALISTS);
    }
    text
}

fn default(results: &TuneResults) -> String {
    let Some(default) = &results.default else {
        return String::new();
    };
    let percent = 100.0 * (default.median - 1.0);
    let ends = match (default.ci95_low, default.ci95_high) {
        (Some(low), Some(high)) => {
            format!(" [{:.1} {:.1}]", 100.0 * (low - 1.0), 100.0 * (high - 1.0))
        }
        _ => String::new(),
    };
    let noise = match default.ci95_low {
        None => ": too few samples to tell",
        Some(_) if default.within_noise => ": no difference beyond noise",
        Some(_) => "",
    };
    format!("\nThe namelist's own choice takes {percent:.1} %{ends} more than the fastest{noise}\n")
}

fn cost(results: &TuneResults) -> String {
    let cost = &results.cost;
    format!(
        "\nSpent {} of {}: preparing {}, layouts {}, stages {}, finalists {}; {} ways of stages, {} \
         choices as whole steps, {} steps\n",
        seconds(cost.seconds),
        seconds(cost.budget_seconds),
        seconds(cost.preparing_seconds),
        seconds(cost.layouts_seconds),
        seconds(cost.stages_seconds),
        seconds(cost.finalists_seconds),
        cost.ways,
        cost.candidates,
        cost.steps
    )
}

fn interval(time: &TimeRecord) -> String {
    match (time.ci95_low, time.ci95_high) {
        (Some(low), Some(high)) => format!("[{} {}]", seconds(low), seconds(high)),
        _ => "-".to_owned(),
    }
}

fn ratio(ratio: &RatioRecord) -> String {
    let ends = match (ratio.ci95_low, ratio.ci95_high) {
        (Some(low), Some(high)) => format!("[{low:.3} {high:.3}]"),
        _ => "-".to_owned(),
    };
    format!("{:>7.3} {ends:>15}", ratio.median)
}
