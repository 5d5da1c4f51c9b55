//! `init CASE`: prints a commented namelist.

use crate::error::{Error, Result};
use crate::namelist::choices::{CASES, available, nearest};
use crate::namelist::reference::template;
use crate::problem::definition::CaseName;

/// A commented, complete namelist of a case.
///
/// # Errors
/// When there is no such case.
pub fn namelist(case: &str) -> Result<String> {
    let Some(known) = CaseName::from_name(case) else {
        let suggestion = nearest(case, CASES.iter().map(|choice| choice.name));
        let mean = suggestion.map_or(String::new(), |name| format!("; did you mean {name}?"));
        return Err(Error::Input(format!(
            "init: there is no case {case:?}{mean}; there are {}",
            available(CASES).replace('"', "")
        )));
    };
    Ok(template(known))
}
