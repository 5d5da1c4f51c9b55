//! Words of the command line: names, numbers, lists of them.

use crate::error::{Error, Result};
use crate::namelist::choices::{ENGINES, nearest};
use crate::transport::EngineKind;

/// What the words name, each once; `all` is all.
pub(super) fn named<T: Copy + PartialEq>(
    option: &str,
    words: &[String],
    all: Vec<T>,
    parse: impl Fn(&str) -> std::result::Result<T, String>,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    for word in words {
        if word == "all" {
            return Ok(all);
        }
        let one = parse(word).map_err(|why| Error::Input(format!("{option} {word}: {why}")))?;
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

/// An engine, or `None` for messages between pairs of ranks.
pub(super) fn engine_of(word: &str) -> std::result::Result<Option<EngineKind>, String> {
    let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
    if names.contains(&word) {
        return Ok(EngineKind::from_name(word));
    }
    let meant = nearest(word, names.iter().copied());
    let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
    Err(format!("must be all or among {}{meant}", names.join(", ")))
}

/// A number of seconds, at least 0.
pub(super) fn seconds(option: &str, value: f64) -> Result<f64> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    input(format!(
        "{option} {value}: must be a number of seconds, at least 0"
    ))
}

/// A whole number of the command line.
pub(super) fn whole(text: &str) -> std::result::Result<usize, String> {
    let number = text.trim().parse();
    number.map_err(|_| "must be a whole number, at least 0".to_owned())
}

/// Without repetitions, in the order given.
pub(super) fn unique(list: Vec<usize>) -> Vec<usize> {
    let mut kept = Vec::with_capacity(list.len());
    for value in list {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

pub(super) fn joined(list: &[usize]) -> String {
    let words: Vec<String> = list.iter().map(usize::to_string).collect();
    words.join(",")
}

/// Bad input.
pub(super) fn input<T>(message: String) -> Result<T> {
    Err(Error::Input(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namelist::choices::order_of;
    use crate::swap::order::Order;

    #[test]
    fn names_numbers_and_all() {
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let of = |list: &[&str]| named("--order", &words(list), Order::ALL.to_vec(), order_of);
        assert_eq!(of(&["delayed", "2", "delayed"]).unwrap(), [Order::Delayed]);
        assert_eq!(of(&["delayed", "all"]).unwrap(), Order::ALL);
        let error = of(&["delaid"]).unwrap_err().to_string();
        assert!(error.starts_with("--order delaid: ") && error.contains("did you mean delayed?"));
        assert_eq!(engine_of("pairwise"), Ok(None));
        assert!(
            engine_of("alltoall")
                .unwrap_err()
                .contains("did you mean alltoallv?")
        );
    }
}
