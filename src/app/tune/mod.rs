//! `tune`: what should this machine use?

mod fragments;
mod journal;
pub mod options;
pub mod production;

use std::io::Write;
use std::sync::Mutex;

pub use options::TuneOptions;

use super::launch::Job;
use super::session::{self, Program, Session};
use super::{print, result_files};
use crate::error::{Error, Result};
use crate::exchange::collective;
use crate::report::provenance::Provenance;
use crate::report::record::{Kind, Record, Verdict};
use crate::report::tune::TuneResults;
use crate::report::{csv, json, text, tune_text};
use crate::transport::Transport;
use crate::tune::layout::{Layout, layouts};
use crate::tune::search::{self, Mode, News, Plan};
use journal::Journal;

/// Most layouts that are looked at.
const LAYOUTS: usize = 16;

/// Most candidates of an exhaustive search.
const COMBINATIONS: usize = 4096;

/// What the numbers mean; printed beside them.
const DEFINITIONS: [&str; 6] = [
    "step: seconds of a time step, the larger of all ranks, which begin together; median of the \
     samples, [..] its 95 % interval",
    "floor: a step without packing, moving and unpacking, the largest of all ranks: no way of \
     moving makes the layout faster",
    "stage: packing, moving and unpacking of one stage in an evaluation, to the grid and back, the \
     larger of all ranks, with nothing else under way",
    "ratio: times over the fastest's, round by round; median and its 95 % interval; within noise: \
     the interval does not lie above 1",
    "sensitivity: (median - min)/min and (max - min)/min of the ways' median times; low up to 5 %, \
     high from 15 %, by the first",
    "every finalist's step came to the same state as the namelist's own ways, but for the rounding \
     of sums in another order",
];

/// The same of patterns.
const PATTERN_DEFINITIONS: [&str; 3] = [
    "pattern: seconds of one whole exchange of all ranks, the largest of all; all-to-all: V bytes a \
     rank, the same share to every rank; gather:K: every rank sends the same share of V to each of K \
     I/O ranks; scatter:K: backwards; the data of the first and the last exchange are checked",
    "ratio: times over the fastest's, round by round; median and its 95 % interval; within noise: \
     the interval does not lie above 1",
    "sensitivity: (median - min)/min and (max - min)/min of the ways' median times; low up to 5 %, \
     high from 15 %, by the first",
];

/// Searches, prints, writes the result.
///
/// # Errors
/// Bad input, a failed run, a candidate that computes something else.
pub fn run(options: &TuneOptions, job: &Job) -> Result<()> {
    let ranks = options.rank_count(job)?;
    let session = Session::load(&options.file, &options.set, ranks)?;
    session.check_memory()?;
    session.check_engines(job)?;
    if let Some(target) = options.target {
        options.budget()?;
        if job.is_root() {
            check_files(options)?;
        }
        let Some((mut results, mut provenance)) = production::run(target, options, &session, job)?
        else {
            return Ok(());
        };
        provenance.finish();
        print(&format!(
            "{}\n",
            tune_text::header(&provenance, &session.namelist.problem, None)
        ))?;
        results.definitions = PATTERN_DEFINITIONS.map(str::to_owned).to_vec();
        return conclude(options, &session, results, provenance);
    }
    let (mut plan, notes) = plan(options, &session, job, ranks)?;
    let (_, unavailable) = options.ways(job)?;
    let journal = Mutex::new(if job.is_root() {
        check_files(options)?;
        Journal::open(options.journal.as_deref())?
    } else {
        Journal::none()
    });
    let outcome = loop {
        let program = Tuning {
            plan: &plan,
            session: &session,
            journal: &journal,
        };
        match session.on_ranks(job, &program) {
            Ok(outcomes) => break outcomes.into_iter().flatten().next(),
            // Ranks that are threads start again without the candidate that ended them.
            Err(Error::Failed(reason)) if matches!(job, Job::Threads) => {
                let under = journal.lock().ok().and_then(|mut j| j.take_under_way());
                let Some(candidate) = under else {
                    return Err(Error::Failed(reason));
                };
                say(&format!("{candidate} failed, is left out: {reason}"));
                plan.skipped.push((candidate, reason));
            }
            Err(error) => return Err(error),
        }
    };
    let Some((mut results, mut provenance)) = outcome else {
        return Ok(());
    };
    provenance.finish();
    results.definitions = DEFINITIONS.map(str::to_owned).to_vec();
    results.notes.extend(notes);
    results.unavailable = unavailable;
    conclude(options, &session, results, provenance)
}

/// What to search for, and what is left out of it.
fn plan(
    options: &TuneOptions,
    session: &Session,
    job: &Job,
    ranks: usize,
) -> Result<(Plan, Vec<String>)> {
    let list = &session.namelist;
    let (problem, base) = (&list.problem, list.algorithm);
    let base_layout = Layout::new(session.mesh, base.fft, base.legendre);
    let mut notes = Vec::new();
    let given = fragments::load(options, ranks)?;
    let mut found = if given.is_empty() {
        layouts(problem, ranks, &options.layouts(ranks)?)
    } else {
        let mut found: Vec<Layout> = Vec::new();
        for (layout, _) in &given {
            if !found.contains(layout) {
                found.push(*layout);
            }
        }
        found
    };
    let most = LAYOUTS.min(session.models_in_memory()).max(1);
    if found.len() > most {
        let names: Vec<String> = found
            .drain(most..)
            .map(|layout| layout.to_string())
            .collect();
        notes.push(format!(
            "layouts not measured, slower by estimate than {most} others: {}",
            names.join("; ")
        ));
    }
    if given.is_empty() && !found.contains(&base_layout) {
        found.push(base_layout);
    }
    if found.is_empty() {
        return Err(Error::Input(
            "--mesh, --fft, --legendre: no layout of these fits the problem and the ranks"
                .to_owned(),
        ));
    }
    let (wanted, _) = options.ways(job)?;
    let mode = if !given.is_empty() {
        Mode::Given(given)
    } else if options.exhaustive {
        Mode::Exhaustive
    } else {
        Mode::Search
    };
    let plan = Plan {
        problem: problem.clone(),
        time: list.time,
        family: session.family,
        base,
        base_layout,
        layouts: found,
        wanted,
        budget: options.budget()?,
        seed: options.seed,
        mode,
        skipped: Vec::new(),
    };
    let combinations = plan.combinations();
    if options.exhaustive && combinations > COMBINATIONS {
        return Err(Error::Input(format!(
            "--exhaustive: {combinations} combinations, at most {COMBINATIONS} are taken; restrict \
             them with --mesh, --fft, --legendre, --transpose, --sum, --order, --protocol, \
             --engine, --overlap"
        )));
    }
    Ok((plan, notes))
}

/// What every rank runs.
struct Tuning<'a> {
    plan: &'a Plan,
    session: &'a Session,
    /// Of the process of rank 0.
    journal: &'a Mutex<Journal>,
}

impl Program for Tuning<'_> {
    type Output = Option<(TuneResults, Provenance)>;

    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output> {
        let provenance = session::provenance(&comm, self.plan.seed)?;
        if let Some(provenance) = &provenance {
            print(&format!(
                "{}\n",
                tune_text::header(
                    provenance,
                    &self.plan.problem,
                    Some(self.plan.layouts.len())
                )
            ))?;
        }
        let mut plan = self.plan.clone();
        plan.skipped.extend(self.unended(&comm)?);
        let speaks = provenance.is_some();
        let mut tell = |news: News<'_>| {
            if !speaks {
                return;
            }
            match news {
                News::Race(about, candidates) => say(&format!("{about}: {candidates} candidates")),
                News::Over(rounds) => say(&format!("  {rounds} rounds")),
                News::Under(name, begins) => {
                    if let Ok(mut journal) = self.journal.lock() {
                        journal.note(name, begins);
                    }
                }
            }
        };
        let results =
            search::run(comm, &plan, &mut tell).map_err(|error| self.session.explain(error))?;
        Ok(provenance.map(|provenance| (results, provenance)))
    }
}

impl Tuning<'_> {
    /// What an earlier run did not end, as rank 0's journal says, on every rank.
    fn unended<T: Transport>(&self, comm: &T) -> Result<Vec<(String, String)>> {
        let text = match self.journal.lock() {
            Ok(journal) if comm.rank() == 0 => journal.unended().join("\n"),
            _ => String::new(),
        };
        let mut len = [text.len() as f64];
        collective::broadcast(comm, 0, &mut len)?;
        let mut bytes: Vec<f64> = text.bytes().map(f64::from).collect();
        bytes.resize(len[0] as usize, 0.0);
        collective::broadcast(comm, 0, &mut bytes)?;
        let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let reason = "did not end in an earlier run, as the journal says";
        Ok(text
            .lines()
            .map(|name| (name.to_owned(), reason.to_owned()))
            .collect())
    }
}

/// Progress goes to stderr, between samples.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn check_files(options: &TuneOptions) -> Result<()> {
    let files = [
        ("FILE", Some(&options.file)),
        ("--json", options.json.as_ref()),
        ("--csv", options.csv.as_ref()),
        ("--fragment", options.fragment.as_ref()),
        ("--journal", options.journal.as_ref()),
    ];
    let files: Vec<_> = files
        .into_iter()
        .filter_map(|(option, path)| Some((option, path?)))
        .collect();
    for (at, (option, path)) in files.iter().enumerate().skip(1) {
        if let Some((other, _)) = files[..at]
            .iter()
            .find(|(_, p)| result_files::same(p, path))
        {
            return Err(Error::Input(format!(
                "{option} {}: is the file of {other}, too; give each a file of its own",
                path.display()
            )));
        }
        json::check_writable(path)?;
    }
    Ok(())
}

/// Prints and writes what was found.
fn conclude(
    options: &TuneOptions,
    session: &Session,
    results: TuneResults,
    provenance: Provenance,
) -> Result<()> {
    let mut reasons = Vec::new();
    if !results.wrong.is_empty() {
        reasons.push(format!(
            "candidates that computed something else: {}",
            results.wrong.join("; ")
        ));
    }
    if results.ranking.is_empty() && results.settings.is_empty() {
        reasons.push("no candidate could be measured".to_owned());
    }
    let verdict = Verdict::from_reasons(reasons);
    let shown = format!(
        "{}\n{}",
        tune_text::results(&results),
        text::verdict(&verdict)
    );
    let input = serde_json::json!({
        "namelist": session.namelist.resolved,
        "ranks": session.ranks,
        "budget_seconds": options.budget,
        "mesh": options.mesh,
        "rank_order": options.rank_order,
        "fft": options.fft,
        "legendre": options.legendre,
        "transpose": options.transpose,
        "sum": options.sum,
        "order": options.order,
        "protocol": options.protocol,
        "engine": options.engine,
        "overlap": options.overlap,
        "for": options.target.map(production::Target::name),
        "io_ranks": options.io_ranks,
    });
    let record = Record::new(Kind::Tune, verdict, provenance, input, results);
    let written = write(options, &record);
    print(&shown)?;
    written?;
    if record.verdict.is_valid() {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "the search ended, but its result is INVALID: {}",
        record.verdict.reasons.join("; ")
    )))
}

fn write(options: &TuneOptions, record: &Record<TuneResults>) -> Result<()> {
    if let Some(path) = &options.json {
        json::write(path, record)?;
    }
    if let Some(path) = &options.csv {
        json::write_atomically(path, csv::tune(&record.results).as_bytes())?;
    }
    if let Some(path) = &options.fragment
        && record.verdict.is_valid()
    {
        json::write_atomically(path, record.results.fragment.as_bytes())?;
    }
    Ok(())
}
