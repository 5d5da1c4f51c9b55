//! A NetCDF file as plain data, independent of the format and of the library that writes it.

use std::borrow::Cow;
use std::path::Path;

use super::error::OutputError;
use crate::problem::definition::HistoryFormat;

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Doubles(Vec<f64>),
    Ints(Vec<i32>),
}

/// Values of a variable (of one record of it).
pub(super) enum Values<'a> {
    Doubles(Cow<'a, [f64]>),
    Ints(Cow<'a, [i32]>),
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Double,
    Int,
}

/// A variable; the first dimension may be the document's record dimension.
pub(super) struct Variable<'a> {
    pub(super) name: String,
    pub(super) dimensions: Vec<String>,
    pub(super) kind: Kind,
    pub(super) attributes: Vec<(String, Value)>,
    /// The values of a record (record variables), else all of them (argument 0).
    pub(super) values: Box<dyn Fn(usize) -> Values<'a> + 'a>,
}

/// The file.
#[derive(Default)]
pub(super) struct Document<'a> {
    /// Name and number of records of the unlimited dimension.
    pub(super) records: Option<(String, usize)>,
    /// Names and lengths of the fixed dimensions.
    pub(super) dimensions: Vec<(String, usize)>,
    pub(super) attributes: Vec<(String, Value)>,
    pub(super) variables: Vec<Variable<'a>>,
}

/// An attribute of text.
pub(super) fn text(name: &str, value: impl Into<String>) -> (String, Value) {
    (name.to_string(), Value::Text(value.into()))
}

impl<'a> Document<'a> {
    /// A variable whose values are there already and do not depend on the record.
    pub(super) fn doubles(
        &mut self,
        name: &str,
        dimensions: &[&str],
        attributes: &[(&str, &str)],
        values: Cow<'a, [f64]>,
    ) {
        self.variables.push(Variable {
            name: name.to_string(),
            dimensions: dimensions.iter().map(|d| (*d).to_string()).collect(),
            kind: Kind::Double,
            attributes: attributes.iter().map(|(k, v)| text(k, *v)).collect(),
            values: Box::new(move |_| Values::Doubles(values.clone())),
        });
    }

    /// Whether the variable has one slab per record.
    pub(super) fn is_record(&self, variable: &Variable<'_>) -> bool {
        match (&self.records, variable.dimensions.first()) {
            (Some((record, _)), Some(first)) => record == first,
            _ => false,
        }
    }

    /// Writes the file whole: under a temporary name, synced, renamed to `path`.
    pub(super) fn write(&self, path: &Path, format: HistoryFormat) -> Result<(), OutputError> {
        match format {
            HistoryFormat::Classic => {
                super::atomic::replace(path, |part| super::classic::write(self, part))
            }
            #[cfg(feature = "netcdf4")]
            HistoryFormat::NetCdf4 => {
                super::atomic::replace(path, |part| super::netcdf4::write(self, part))
            }
            #[cfg(not(feature = "netcdf4"))]
            HistoryFormat::NetCdf4 => Err(OutputError::NoNetCdf4),
        }
    }
}
