//! NetCDF-4 through the system's library.

use std::path::Path;

use super::document::{Document, Kind, Value, Values};

/// Writes the document to `path`; the error is in the words of the library.
pub(super) fn write(document: &Document<'_>, path: &Path) -> Result<(), String> {
    fill(document, path).map_err(|error| error.to_string())
}

fn fill(document: &Document<'_>, path: &Path) -> Result<(), netcdf::Error> {
    let mut file = netcdf::create(path)?;
    if let Some((name, _)) = &document.records {
        file.add_unlimited_dimension(name)?;
    }
    for (name, length) in &document.dimensions {
        file.add_dimension(name, *length)?;
    }
    for (name, value) in &document.attributes {
        match value {
            Value::Text(text) => file.add_attribute(name, text.as_str())?,
            Value::Doubles(list) => file.add_attribute(name, list.clone())?,
            Value::Ints(list) => file.add_attribute(name, list.clone())?,
        };
    }
    for variable in &document.variables {
        let dimensions: Vec<&str> = variable.dimensions.iter().map(String::as_str).collect();
        let mut target = match variable.kind {
            Kind::Double => file.add_variable::<f64>(&variable.name, &dimensions)?,
            Kind::Int => file.add_variable::<i32>(&variable.name, &dimensions)?,
        };
        for (name, value) in &variable.attributes {
            match value {
                Value::Text(text) => target.put_attribute(name, text.as_str())?,
                Value::Doubles(list) => target.put_attribute(name, list.clone())?,
                Value::Ints(list) => target.put_attribute(name, list.clone())?,
            };
        }
        let records = match &document.records {
            Some((_, count)) if document.is_record(variable) => *count,
            _ => 0,
        };
        // Whole dimensions, but for a record variable one index of the first.
        let fixed = |name: &String| {
            let known = document.dimensions.iter().find(|(known, _)| known == name);
            known.map_or(0, |(_, length)| *length)
        };
        for record in 0..records.max(1) {
            let extents = variable.dimensions.iter().enumerate().map(|(k, name)| {
                let range = if k == 0 && records > 0 {
                    record..record + 1
                } else {
                    0..fixed(name)
                };
                netcdf::Extent::from(range)
            });
            let extents: Vec<netcdf::Extent> = extents.collect();
            match (variable.values)(record) {
                Values::Doubles(list) => target.put_values(&list, extents)?,
                Values::Ints(list) => target.put_values(&list, extents)?,
            }
        }
    }
    file.close()
}
