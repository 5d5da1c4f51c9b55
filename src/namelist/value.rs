//! One value against what its key may hold, and back to TOML.

use std::path::Path;

use super::choices::{Choice, available, nearest};
use super::keys::{Key, Kind, MAX_TRUNCATION};
use super::source::Raw;
use crate::decomp::mesh::MeshChoice;
use crate::spectral::truncation::Truncation;
use crate::swap::protocol::Protocol;

/// A value that its key may hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Whole(i64),
    Flag(bool),
    Name(&'static str),
    Protocol(Protocol),
    Text(String),
    Truncation(Truncation),
    Mesh(MeshChoice),
    Points(Vec<(f64, f64)>),
}

impl Value {
    /// The value as TOML has it.
    pub(super) fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        match self {
            Self::Number(number) => format!("{number:?}"),
            Self::Whole(whole) => whole.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Name(name) => quoted(name),
            Self::Protocol(protocol) => quoted(protocol.name()),
            Self::Text(text) => quoted(text),
            Self::Truncation(truncation) if truncation.is_triangular() => {
                truncation.m_max().to_string()
            }
            Self::Truncation(truncation) => format!("{:?}", truncation.mnk()),
            Self::Mesh(MeshChoice::Auto) => quoted("auto"),
            Self::Mesh(MeshChoice::Given(px, py)) => format!("[{px}, {py}]"),
            Self::Points(points) => {
                let pairs: Vec<String> = points
                    .iter()
                    .map(|(latitude, longitude)| format!("[{latitude:?}, {longitude:?}]"))
                    .collect();
                format!("[{}]", pairs.join(", "))
            }
        }
    }
}

/// Checks one value by itself.
///
/// # Errors
/// What is wrong with it and what is allowed.
pub(super) fn check(key: &Key, raw: &Raw, folder: &Path) -> Result<Value, String> {
    match (key.kind, raw) {
        (Kind::Number(bound), Raw::Number(_) | Raw::Whole(Some(_))) => {
            let number = number(raw).unwrap_or(f64::NAN);
            if number.is_finite() && bound.holds(number) {
                Ok(Value::Number(number + 0.0))
            } else {
                Err(must_be(key))
            }
        }
        (Kind::Whole(low, high), Raw::Whole(whole)) => match whole {
            Some(whole) if (low..=high).contains(whole) => Ok(Value::Whole(*whole)),
            _ => Err(must_be(key)),
        },
        (Kind::OneOf(numbers), Raw::Whole(Some(whole))) => match numbers.contains(whole) {
            true => Ok(Value::Whole(*whole)),
            false => Err(must_be(key)),
        },
        (Kind::Flag, Raw::Flag(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Name(names), Raw::Text(text)) => name(names, text),
        (Kind::Protocol, Raw::Text(text)) => Protocol::from_name(text)
            .map(Value::Protocol)
            .ok_or_else(|| unknown_protocol(text)),
        (Kind::Protocol, Raw::Whole(Some(number))) => Protocol::from_number(*number)
            .map(Value::Protocol)
            .ok_or_else(|| unknown_protocol("")),
        (Kind::Text | Kind::Path, Raw::Text(text)) => {
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                return Err("must not be empty or hold control characters".to_owned());
            }
            if matches!(key.kind, Kind::Path) {
                existing(&folder.join(text))?;
            }
            Ok(Value::Text(text.clone()))
        }
        (Kind::Truncation, Raw::Whole(Some(n))) if (1..=MAX_TRUNCATION).contains(n) => size(*n)
            .map(|n| Value::Truncation(Truncation::triangular(n)))
            .ok_or_else(|| must_be(key)),
        (Kind::Truncation, Raw::List(items)) => pentagon(items).map_or_else(
            || Err(must_be(key)),
            |[m, n, k]| {
                Truncation::new(m, n, k)
                    .map(Value::Truncation)
                    .map_err(|error| error.to_string())
            },
        ),
        (Kind::Truncation, Raw::Whole(_)) => Err(must_be(key)),
        (Kind::Mesh, Raw::Text(text)) if text == "auto" => Ok(Value::Mesh(MeshChoice::Auto)),
        (Kind::Mesh, Raw::List(items)) => match items.as_slice() {
            [Raw::Whole(Some(px)), Raw::Whole(Some(py))] => size(*px)
                .zip(size(*py))
                .filter(|&(px, py)| px >= 1 && py >= 1 && px.checked_mul(py).is_some())
                .map(|(px, py)| Value::Mesh(MeshChoice::Given(px, py)))
                .ok_or_else(|| must_be(key)),
            _ => Err(must_be(key)),
        },
        (Kind::Mesh, Raw::Text(_)) => Err(must_be(key)),
        (Kind::Points, Raw::List(items)) => {
            let pairs: Result<Vec<_>, String> = items.iter().enumerate().map(point).collect();
            pairs.map(Value::Points)
        }
        _ => Err(format!("{}, not {}", must_be(key), raw.type_name())),
    }
}

fn must_be(key: &Key) -> String {
    let one_of = if matches!(key.kind, Kind::Name(_) | Kind::OneOf(_)) {
        "one of "
    } else {
        ""
    };
    let unit = if key.unit.is_empty() {
        String::new()
    } else {
        format!(" ({})", key.unit)
    };
    format!("must be {one_of}{}{unit}", key.kind.allowed())
}

fn number(raw: &Raw) -> Option<f64> {
    match raw {
        Raw::Number(number) => Some(*number),
        Raw::Whole(Some(whole)) => Some(*whole as f64),
        _ => None,
    }
}

fn size(whole: i64) -> Option<usize> {
    usize::try_from(whole).ok()
}

fn name(names: &'static [Choice], text: &str) -> Result<Value, String> {
    match names.iter().find(|choice| choice.name == text) {
        Some(choice) => match choice.unavailable {
            None => Ok(Value::Name(choice.name)),
            Some(why) => Err(format!("{why}; available: {}", available(names))),
        },
        None => {
            let suggestion = nearest(text, names.iter().map(|choice| choice.name));
            let mean =
                suggestion.map_or(String::new(), |name| format!("did you mean \"{name}\"? "));
            Err(format!("{mean}must be one of {}", available(names)))
        }
    }
}

fn unknown_protocol(text: &str) -> String {
    let suggestion = nearest(text, Protocol::all().map(Protocol::name));
    let mean = suggestion.map_or(String::new(), |name| format!("did you mean \"{name}\"? "));
    let names: Vec<String> = Protocol::all()
        .map(|protocol| format!("{} \"{}\"", protocol.row().number, protocol.name()))
        .collect();
    format!(
        "{mean}must be the number or the name of a protocol: {}",
        names.join(", ")
    )
}

fn existing(path: &Path) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() => Ok(()),
        Ok(_) => Err(format!("{} is no file", path.display())),
        Err(error) => Err(format!(
            "cannot open {}: {error} (a path is relative to the namelist's folder)",
            path.display()
        )),
    }
}

fn pentagon(items: &[Raw]) -> Option<[usize; 3]> {
    let sizes: Option<Vec<usize>> = items
        .iter()
        .map(|item| match item {
            Raw::Whole(Some(n)) if (0..=MAX_TRUNCATION).contains(n) => size(*n),
            _ => None,
        })
        .collect();
    sizes?.try_into().ok()
}

fn point((index, item): (usize, &Raw)) -> Result<(f64, f64), String> {
    let nth = index + 1;
    let shape = || format!("point {nth} must be [latitude, longitude] in degrees");
    let Raw::List(pair) = item else {
        return Err(shape());
    };
    let [latitude, longitude] = pair.as_slice() else {
        return Err(shape());
    };
    let (Some(latitude), Some(longitude)) = (number(latitude), number(longitude)) else {
        return Err(shape());
    };
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(format!(
            "latitude {latitude} of point {nth} must be from -90 to 90 degrees"
        ));
    }
    if !(-180.0..=360.0).contains(&longitude) {
        return Err(format!(
            "longitude {longitude} of point {nth} must be from -180 to 360 degrees"
        ));
    }
    Ok((latitude + 0.0, longitude + 0.0))
}
