//! Where checks run: integrates made-up namelists, collects figures, says what goes on.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::super::print;
use super::super::run::{Kept, integrate_keeping};
use super::super::session::Session;
use super::Selection;
use crate::check::figure::{Allowed, Figure};
use crate::check::points::ReferencePoints;
use crate::error::{Error, Result};
use crate::namelist;
use crate::report::netcdf::CheckpointData;
use crate::report::run::{DiagnosticsRecord, RunRecord};

/// Nothing but rounding of 1000 steps may change the mass, and never more than the second.
const MASS: (f64, f64) = (1e-14, 1e-13);

/// The mean vorticity and divergence, 1/s: their tendencies vanish exactly.
const MEAN: f64 = 1e-20;

/// A run in few words.
#[derive(Clone, Debug)]
pub(super) struct Plan<'a> {
    /// Truncation.
    pub truncation: usize,
    /// Other keys of `[problem]`, a line each.
    pub problem: String,
    /// Time scheme.
    pub scheme: &'a str,
    /// Step, s.
    pub dt: f64,
    /// Other keys of `[time]`, a line each.
    pub time: &'a str,
    /// Length.
    pub days: f64,
    /// Hours between outputs; 0: start and end.
    pub every: f64,
    /// Points that are summed at output times.
    pub points: Vec<(f64, f64)>,
}

impl<'a> Plan<'a> {
    /// A run without anything special, with output at its start and end.
    pub(super) fn new(truncation: usize, scheme: &'a str, dt: f64, days: f64) -> Self {
        Self {
            truncation,
            problem: String::new(),
            scheme,
            dt,
            time: "",
            days,
            every: 0.0,
            points: Vec::new(),
        }
    }

    /// With a key of `[problem]`.
    pub(super) fn with(mut self, key: &str, value: impl std::fmt::Debug) -> Self {
        self.problem += &format!("{key} = {value:?}\n");
        self
    }

    /// With output at these hours, and these points.
    pub(super) fn every(mut self, hours: f64, points: &[(f64, f64)]) -> Self {
        self.every = hours;
        self.points = points.to_vec();
        self
    }

    /// With other keys of `[time]`.
    pub(super) fn time(mut self, lines: &'a str) -> Self {
        self.time = lines;
        self
    }

    fn namelist(&self, case: &str) -> String {
        let Self {
            truncation,
            problem,
            scheme,
            dt,
            time,
            days,
            every,
            points,
        } = self;
        let points: Vec<String> = points
            .iter()
            .map(|(lat, lon)| format!("[{lat:?}, {lon:?}]"))
            .collect();
        format!(
            "[problem]\ncase = \"{case}\"\ntruncation = {truncation}\ndays = {days:?}\n{problem}\n\
             [time]\ndt = {dt:?}\nscheme = \"{scheme}\"\n{time}\n\
             [output]\nevery-hours = {every:?}\nsamples-per-file = 0\ncheckpoint-hours = 0.0\n\
             points = [{}]\n[measure]\nwarmup = 0\n",
            points.join(", ")
        )
    }
}

/// A run that ended.
pub(super) struct Done {
    /// What it is called in figures.
    pub name: String,
    /// Its record.
    pub record: RunRecord,
    /// The states of its output times.
    pub kept: Vec<Kept>,
}

impl Done {
    /// Diagnostics of the last output.
    pub(super) fn last(&self) -> Option<&DiagnosticsRecord> {
        self.record.results.diagnostics.last()
    }

    /// The state at a day.
    pub(super) fn at(&self, day: f64) -> Option<&Kept> {
        self.kept.iter().find(|kept| (kept.day - day).abs() < 1e-9)
    }

    /// The diagnostics of a day.
    pub(super) fn diagnosed(&self, day: f64) -> Option<&DiagnosticsRecord> {
        let entries = &self.record.results.diagnostics;
        entries.iter().find(|entry| (entry.day - day).abs() < 1e-9)
    }
}

/// Where checks run.
pub(super) struct Bench<'a> {
    ranks: usize,
    /// Whether the long checks run, too.
    pub full: bool,
    /// Stored values.
    pub reference: &'a ReferencePoints,
    speak: bool,
    case: &'static str,
    figures: Vec<Figure>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(selection: &Selection, reference: &'a ReferencePoints, speak: bool) -> Self {
        Self {
            ranks: selection.ranks,
            full: selection.full,
            reference,
            speak,
            case: "",
            figures: Vec::new(),
        }
    }

    pub(super) fn into_figures(self) -> Vec<Figure> {
        self.figures
    }

    /// The checks of a case begin.
    pub(super) fn begin(&mut self, case: &'static str) -> Result<()> {
        self.case = case;
        if self.speak {
            print(&format!("\n{case}\n"))?;
        }
        Ok(())
    }

    /// The case at hand.
    pub(super) fn case(&self) -> &'static str {
        self.case
    }

    /// Takes a figure, and prints it.
    pub(super) fn push(&mut self, figure: Figure) -> Result<()> {
        if self.speak {
            print(&format!("  {}\n", figure.line()))?;
        }
        self.figures.push(figure);
        Ok(())
    }

    /// Judges a value of a run of the case at hand.
    pub(super) fn judge(
        &mut self,
        run: &str,
        quantity: &str,
        (value, unit): (f64, &str),
        allowed: Allowed,
        source: &str,
    ) -> Result<()> {
        let place = (self.case, run);
        self.push(Figure::new(place, quantity, (value, unit), allowed, source))
    }

    /// Says something that is no figure.
    pub(super) fn remark(&self, text: &str) -> Result<()> {
        if self.speak {
            print(&format!("  {text}\n"))
        } else {
            Ok(())
        }
    }

    /// What goes on, on stderr.
    pub(super) fn progress(&self, text: &str) {
        if self.speak {
            let _ = writeln!(std::io::stderr(), "  {text}");
        }
    }

    /// The session of a plan on some ranks.
    fn session(&self, plan: &Plan<'_>, ranks: usize) -> Result<Session> {
        self.session_of(self.case, plan, ranks)
    }

    /// The session of a plan for another case.
    pub(super) fn session_of(&self, case: &str, plan: &Plan<'_>, ranks: usize) -> Result<Session> {
        let text = plan.namelist(case);
        let namelist = namelist::parse(&text, "validate", Path::new(""), &[])
            .map_err(|error| Error::Failed(format!("a namelist of validate: {error}")))?;
        Session::new(namelist, ranks)
    }

    /// Integrates; judges mass and means. `None`: the run failed, which is a figure that fails.
    pub(super) fn integrate(&mut self, name: &str, plan: &Plan<'_>) -> Result<Option<Done>> {
        self.integrate_from(name, plan, None, self.ranks)
    }

    /// The same from a state, on some ranks.
    pub(super) fn integrate_from(
        &mut self,
        name: &str,
        plan: &Plan<'_>,
        start: Option<&CheckpointData>,
        ranks: usize,
    ) -> Result<Option<Done>> {
        let began = Instant::now();
        let session = self.session(plan, ranks)?;
        let result = integrate_keeping(&session, start, false, true);
        self.progress(&format!(
            "{}, {name}: {} days in {:.1} s",
            self.case,
            plan.days,
            began.elapsed().as_secs_f64()
        ));
        let (record, kept) = match result {
            Ok(done) => done,
            Err(error) => {
                self.remark(&format!("{name}: {error}"))?;
                let value = (f64::NAN, "");
                self.judge(name, "ends", value, Allowed::AtMost(0.0), "must run")?;
                return Ok(None);
            }
        };
        let worst = |of: fn(&DiagnosticsRecord) -> f64| {
            let values = record.results.diagnostics.iter().map(of).map(f64::abs);
            values.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a })
        };
        let thousands = (record.results.steps as f64 / 1000.0).ceil();
        let limit = (MASS.0 * thousands).min(MASS.1);
        let mass = (worst(|entry| entry.mass), "");
        let means = (
            worst(|entry| entry.zeta_mean).max(worst(|entry| entry.delta_mean)),
            "1/s",
        );
        for reason in &record.verdict.reasons {
            self.remark(&format!("{name}: {reason}"))?;
        }
        self.judge(
            name,
            "mass, relative change",
            mass,
            Allowed::AtMost(limit),
            CONSERVED,
        )?;
        self.judge(
            name,
            "mean zeta, delta",
            means,
            Allowed::AtMost(MEAN),
            CONSERVED,
        )?;
        Ok(Some(Done {
            name: name.to_owned(),
            record,
            kept,
        }))
    }
}

/// Basis of what is conserved.
pub(super) const CONSERVED: &str = "conserved exactly";
/// Basis of errors against an exact solution where only rounding remains.
pub(super) const ROUNDING: &str = "exact solution: only rounding remains";
/// Basis of values of the independent solver at a vanishing time step.
pub(super) const INDEPENDENT: &str = "independent solver, dt to 0";
/// Basis of values of STSWM.
pub(super) const STSWM: &str = "STSWM";
