//! Choices in files of their own: `[algorithm]` tables that go on top of the namelist.

use std::path::Path;

use super::TuneOptions;
use crate::app::session::Session;
use crate::error::{Error, Result};
use crate::pencil::choice::AlgorithmChoice;
use crate::tune::layout::Layout;

/// The choices of `--only`, with their layouts.
///
/// # Errors
/// A file that cannot be read, is no TOML, or holds something else; what the namelist would refuse.
pub(super) fn load(options: &TuneOptions, ranks: usize) -> Result<Vec<(Layout, AlgorithmChoice)>> {
    let mut given = Vec::new();
    for path in &options.only {
        let mut sets = options.set.clone();
        sets.extend(overrides(path)?);
        let session = Session::load(&options.file, &sets, ranks)
            .map_err(|error| Error::Input(format!("--only {}: {error}", path.display())))?;
        let choice = session.namelist.algorithm;
        let layout = Layout::new(session.mesh, choice.fft, choice.legendre);
        given.push((layout, choice));
    }
    Ok(given)
}

/// The keys of a file as overrides.
fn overrides(path: &Path) -> Result<Vec<String>> {
    let refuse = |why: String| Error::Input(format!("--only {}: {why}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error| refuse(format!("is no TOML: {error}")))?;
    if let Some(other) = table.keys().find(|key| *key != "algorithm") {
        return Err(refuse(format!(
            "holds {other}; only [algorithm] and its tables are taken from it"
        )));
    }
    let mut sets = Vec::new();
    flatten("", &table, &mut sets);
    Ok(sets)
}

fn flatten(before: &str, table: &toml::Table, sets: &mut Vec<String>) {
    for (key, value) in table {
        let key = if before.is_empty() {
            key.clone()
        } else {
            format!("{before}.{key}")
        };
        match value {
            toml::Value::Table(table) => flatten(&key, table, sets),
            value => sets.push(format!("{key}={value}")),
        }
    }
}
