//! One field of a file as rows: unpacked, checked value by value, in the model's order and units.

use ndarray::Array2;

use super::LAST_TIME;
use super::error::InputError;
use super::grid::{LatLonGrid, Layout};
use super::source::{Attribute, Source, VariableInfo};
use super::variables::{Conversion, Quantity, conversion};
use crate::problem::planet::Planet;

/// What the NetCDF library puts where nothing was written.
const NEVER_WRITTEN: f64 = 9.969_209_968_386_869e36;
/// Usual names of a time dimension.
const TIMES: [&str; 6] = ["time", "t", "valid_time", "timestep", "times", "step"];

/// A field on a [`LatLonGrid`]: (nlat, nlon), north to south, eastward from its `lon0`.
#[derive(Clone, Debug, PartialEq)]
pub struct GridField {
    /// The values.
    pub rows: Array2<f64>,
}

/// Where the variable lies in the file: for each dimension what it is.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Time,
    Lat,
    Lon,
    Single,
}

/// How many times a variable has; 1 when it has no time dimension.
pub(super) fn times(source: &Source, variable: &VariableInfo) -> usize {
    let time = variable
        .dimensions
        .iter()
        .find(|(name, _)| is_time(source, name));
    time.map_or(1, |(_, length)| *length)
}

fn is_time(source: &Source, dimension: &str) -> bool {
    let coordinate = source.variable(dimension).is_some_and(|variable| {
        variable.text("standard_name") == Some("time")
            || variable.text("axis") == Some("T")
            || variable
                .text("units")
                .is_some_and(|units| units.contains(" since "))
    });
    coordinate || TIMES.contains(&dimension.to_lowercase().as_str())
}

/// Reads a field.
pub(super) fn read(
    source: &mut Source,
    (grid, layout): (&LatLonGrid, &Layout),
    quantity: Quantity,
    name: &str,
    time_index: usize,
    planet: &Planet,
) -> Result<GridField, InputError> {
    let file = source.path().to_path_buf();
    let refuse = |reason: String| InputError::Variable {
        file: file.clone(),
        variable: name.to_string(),
        reason,
    };
    let info = match source.variable(name) {
        Some(info) => info.clone(),
        None => return Err(refuse("is not there".into())),
    };
    let change = conversion(quantity, &info).map_err(&refuse)?;
    let roles = roles(source, &info, layout).map_err(&refuse)?;
    let count = times(source, &info);
    let time_index = if time_index == LAST_TIME {
        count.saturating_sub(1)
    } else {
        time_index
    };
    if time_index >= count {
        return Err(InputError::TimeIndex {
            file,
            variable: name.to_string(),
            index: time_index,
            count,
        });
    }
    let by_record = roles.first() == Some(&Role::Time);
    let raw = if by_record {
        source.read_at(name, time_index)?
    } else {
        source.read(name)?
    };
    // Strides of latitude and longitude, and where the wanted time begins.
    let (mut stride, mut start, mut lat_stride, mut lon_stride) = (1, 0, 0, 0);
    let held = usize::from(by_record);
    for (role, (_, length)) in roles.iter().zip(&info.dimensions).skip(held).rev() {
        match role {
            Role::Lat => lat_stride = stride,
            Role::Lon => lon_stride = stride,
            Role::Time => start = time_index * stride,
            Role::Single => {}
        }
        stride *= length;
    }
    let (nlat, nlon) = (grid.mu.len(), grid.nlon);
    if raw.len() < stride {
        return Err(refuse(format!(
            "holds {} values, {stride} are expected",
            raw.len()
        )));
    }
    let packing = Packing::of(&info);
    let mut rows = Array2::zeros((nlat, nlon));
    for ((j, i), value) in rows.indexed_iter_mut() {
        let y = if layout.northward { nlat - 1 - j } else { j };
        let x = if layout.westward { nlon - 1 - i } else { i };
        *value = packing.unpack(raw[start + y * lat_stride + x * lon_stride]).map_err(|what| {
            let east = grid.lon0.to_degrees() + 360.0 * i as f64 / nlon as f64;
            refuse(format!(
                "{what} at latitude {:.4}, longitude {east:.4}, time-index {time_index}; a value \
                 is needed at every point of the sphere",
                grid.latitudes[j]
            ))
        })?;
        match change {
            Conversion::None => {}
            Conversion::DivideByGravity => *value /= planet.gravity,
            Conversion::SubtractCoriolis => *value -= 2.0 * planet.omega * grid.mu[j],
        }
    }
    Ok(GridField { rows })
}

fn roles(source: &Source, info: &VariableInfo, layout: &Layout) -> Result<Vec<Role>, String> {
    if !info.numeric {
        return Err("holds text, not numbers".into());
    }
    let role = |(dimension, length): &(String, usize)| {
        if *dimension == layout.lat_dimension {
            Ok(Role::Lat)
        } else if *dimension == layout.lon_dimension {
            Ok(Role::Lon)
        } else if is_time(source, dimension) {
            Ok(Role::Time)
        } else if *length == 1 {
            Ok(Role::Single)
        } else {
            Err(format!(
                "has the dimension `{dimension}` of length {length}; besides time, latitude and \
                 longitude only dimensions of length 1 are allowed: extract one {dimension} \
                 (ncks -d {dimension},0 in.nc out.nc)"
            ))
        }
    };
    let roles: Vec<Role> = info.dimensions.iter().map(role).collect::<Result<_, _>>()?;
    for (wanted, dimension) in [
        (Role::Lat, &layout.lat_dimension),
        (Role::Lon, &layout.lon_dimension),
    ] {
        if !roles.contains(&wanted) {
            return Err(format!(
                "has dimensions ({}) and lacks `{dimension}`",
                info.dimensions
                    .iter()
                    .map(|(n, _)| n.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
    }
    if roles.iter().filter(|role| **role == Role::Time).count() > 1 {
        return Err("has two time dimensions; one is allowed".into());
    }
    Ok(roles)
}

/// CF packing and missing values of a variable.
struct Packing {
    scale: f64,
    offset: f64,
    missing: Vec<f64>,
}

impl Packing {
    fn of(info: &VariableInfo) -> Self {
        let mut missing = vec![NEVER_WRITTEN];
        for (name, value) in &info.attributes {
            if let ("_FillValue" | "missing_value", Attribute::Numbers(list)) =
                (name.as_str(), value)
            {
                missing.extend(list);
            }
        }
        Self {
            scale: info.number("scale_factor").unwrap_or(1.0),
            offset: info.number("add_offset").unwrap_or(0.0),
            missing,
        }
    }

    /// The value, or what is wrong with it.
    fn unpack(&self, raw: f64) -> Result<f64, String> {
        if self.missing.contains(&raw) {
            return Err(format!("has a missing value ({raw:e})"));
        }
        let value = raw * self.scale + self.offset;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(format!("is {value}"))
        }
    }
}
