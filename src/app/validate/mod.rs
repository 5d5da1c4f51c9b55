//! `validate`: runs the standard cases and compares them with reference values.
//!
//! Cases run through the very code of `run`, on namelists made here, without output files. Each
//! file below holds the checks of some cases; a new check is a new figure there.

mod advection;
mod analysed;
mod bench;
mod forced;
mod jet;
mod mountain;
mod steady;
mod transform;
mod wave;

use bench::Bench;
use serde::{Deserialize, Serialize};

use super::cli::ValidateOptions;
use super::print;
use crate::check::figure::Figure;
use crate::check::points::ReferencePoints;
use crate::error::{Error, Result};
use crate::report::json;
use crate::report::provenance::{Context, Place, Provenance};
use crate::report::record::{Kind, Record, Verdict};
use crate::report::text;

/// The result of `validate`.
pub type ValidateRecord = Record<Vec<Figure>, Selection>;

/// What is checked, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Names of the subjects; empty: all.
    pub cases: Vec<String>,
    /// Also what takes long.
    pub full: bool,
    /// Ranks.
    pub ranks: usize,
}

/// The checks of one subject.
type Check = fn(&mut Bench<'_>) -> Result<()>;

/// What can be checked.
const SUBJECTS: [(&str, Check); 10] = [
    ("transform", transform::check),
    ("williamson-1", advection::check),
    ("williamson-2", steady::zonal),
    ("williamson-3", steady::compact),
    ("williamson-4", forced::check),
    ("williamson-5", mountain::check),
    ("williamson-6", wave::check),
    ("williamson-7", analysed::check),
    ("galewsky", jet::perturbed),
    ("galewsky-balanced", jet::balanced),
];

/// Runs the selected checks; prints a line per figure and the verdict, writes the result.
///
/// # Errors
/// Bad options; a figure that fails.
pub fn run(options: &ValidateOptions) -> Result<()> {
    let selection = Selection {
        cases: options.cases.clone(),
        full: options.full,
        ranks: options.ranks as usize,
    };
    if let Some(path) = &options.json {
        json::check_writable(path)?;
    }
    let mut provenance = Provenance::collect(Context {
        transport: "threads".to_owned(),
        transport_library: None,
        places: vec![Place::here(); selection.ranks],
        seed: 1,
    });
    let figures = figures(&selection, &stored()?, true)?;
    provenance.finish();
    let verdict = verdict(&figures);
    let passed = figures.iter().filter(|figure| figure.pass).count();
    print(&format!(
        "\n{passed} of {} figures pass\n{}",
        figures.len(),
        text::verdict(&verdict)
    ))?;
    let invalid = !verdict.is_valid();
    let failed = figures.len() - passed;
    if let Some(path) = &options.json {
        let record: ValidateRecord =
            Record::new(Kind::Validate, verdict, provenance, selection, figures);
        json::write(path, &record)?;
    }
    if invalid {
        return Err(Error::Invalid(format!("validate: {failed} figures fail")));
    }
    Ok(())
}

/// The stored reference values.
///
/// # Errors
/// A fault of the program.
pub fn stored() -> Result<ReferencePoints> {
    ReferencePoints::stored()
        .map_err(|error| Error::Failed(format!("the stored reference values: {error}")))
}

/// Runs the selected checks against these reference values; `speak`: print while running.
///
/// # Errors
/// A name that is no subject. A run that fails is a figure that fails.
pub fn figures(
    selection: &Selection,
    reference: &ReferencePoints,
    speak: bool,
) -> Result<Vec<Figure>> {
    for name in &selection.cases {
        if !SUBJECTS.iter().any(|(subject, _)| subject == name) {
            let all: Vec<&str> = SUBJECTS.iter().map(|(subject, _)| *subject).collect();
            return Err(Error::Input(format!(
                "validate: there is nothing to check by the name {name:?}; there are {}",
                all.join(", ")
            )));
        }
    }
    let mut bench = Bench::new(selection, reference, speak);
    for (name, check) in SUBJECTS {
        if selection.cases.is_empty() || selection.cases.iter().any(|case| case == name) {
            bench.begin(name)?;
            check(&mut bench)?;
        }
    }
    Ok(bench.into_figures())
}

/// INVALID when a figure fails, and which.
pub fn verdict(figures: &[Figure]) -> Verdict {
    let failed = figures.iter().filter(|figure| !figure.pass);
    Verdict::from_reasons(
        failed
            .map(|figure| {
                format!(
                    "{}, {}: {} is {:e}, allowed is {}",
                    figure.case,
                    figure.run,
                    figure.quantity,
                    figure.value,
                    figure.allowed()
                )
            })
            .collect(),
    )
}
