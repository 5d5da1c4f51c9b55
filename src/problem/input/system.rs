//! NetCDF-4 files through the system's library.

use std::path::Path;

use netcdf::AttributeValue;
use netcdf::types::NcVariableType;

use super::error::InputError;
use super::source::{Attribute, VariableInfo};

/// What the file says about a variable.
pub(super) fn info(variable: &netcdf::Variable<'_>) -> VariableInfo {
    let dimensions = variable
        .dimensions()
        .iter()
        .map(|d| (d.name(), d.len()))
        .collect();
    let numeric = matches!(
        variable.vartype(),
        NcVariableType::Int(_) | NcVariableType::Float(_)
    );
    VariableInfo::new(
        variable.name(),
        dimensions,
        attributes(variable.attributes()),
        numeric,
    )
}

/// Attributes; those of types no reader of fields asks for are left out.
pub(super) fn attributes<'a>(
    list: impl Iterator<Item = netcdf::Attribute<'a>>,
) -> Vec<(String, Attribute)> {
    list.filter_map(|attribute| {
        let value = value(attribute.value().ok()?)?;
        Some((attribute.name().to_string(), value))
    })
    .collect()
}

fn value(value: AttributeValue) -> Option<Attribute> {
    use AttributeValue as V;
    let one = |x: f64| Some(Attribute::Numbers(vec![x]));
    match value {
        V::Str(text) => Some(Attribute::Text(text.trim_end_matches('\0').to_string())),
        V::Strs(texts) => Some(Attribute::Text(texts.join("\n"))),
        V::Uchar(x) => one(x.into()),
        V::Schar(x) => one(x.into()),
        V::Ushort(x) => one(x.into()),
        V::Short(x) => one(x.into()),
        V::Uint(x) => one(x.into()),
        V::Int(x) => one(x.into()),
        V::Ulonglong(x) => one(x as f64),
        V::Longlong(x) => one(x as f64),
        V::Float(x) => one(x.into()),
        V::Double(x) => one(x),
        V::Ints(list) => Some(Attribute::Numbers(
            list.into_iter().map(f64::from).collect(),
        )),
        V::Shorts(list) => Some(Attribute::Numbers(
            list.into_iter().map(f64::from).collect(),
        )),
        V::Floats(list) => Some(Attribute::Numbers(
            list.into_iter().map(f64::from).collect(),
        )),
        V::Doubles(list) => Some(Attribute::Numbers(list)),
        _ => None,
    }
}

/// Values of a variable, all of them or those at one index of its first dimension.
pub(super) fn read(
    path: &Path,
    file: &netcdf::File,
    name: &str,
    index: Option<usize>,
) -> Result<Vec<f64>, InputError> {
    let malformed = |reason: String| InputError::Malformed {
        file: path.to_path_buf(),
        reason: format!("variable `{name}`: {reason}"),
    };
    let variable = file
        .variable(name)
        .ok_or_else(|| malformed("is not there".into()))?;
    let lengths: Vec<usize> = variable
        .dimensions()
        .iter()
        .map(netcdf::Dimension::len)
        .collect();
    let extents = lengths
        .iter()
        .enumerate()
        .map(|(k, &length)| match (k, index) {
            (0, Some(index)) => (index..index + 1).into(),
            _ => (0..length).into(),
        });
    let extents: Vec<netcdf::Extent> = extents.collect();
    let values = variable.get_values::<f64, _>(extents);
    values.map_err(|error| malformed(error.to_string()))
}
