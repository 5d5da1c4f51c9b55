//! Which variable of a file is which quantity, and in which units.

use super::error::InputError;
use super::source::{Source, VariableInfo};

/// A field that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Free-surface height, m.
    Height,
    /// Eastward wind, m/s.
    Eastward,
    /// Northward wind, m/s.
    Northward,
    /// Relative vorticity, 1/s.
    Vorticity,
    /// Divergence, 1/s.
    Divergence,
    /// Surface height, m.
    Surface,
}

/// How a variable is recognised.
pub(super) struct Wanted {
    /// What it is, in words.
    pub(super) what: &'static str,
    /// The key of its name in the namelist.
    pub(super) key: &'static str,
    standard: &'static [&'static str],
    usual: &'static [&'static str],
}

pub(super) const LATITUDE: Wanted = Wanted {
    what: "latitude",
    key: "problem.file.names.lat",
    standard: &["latitude"],
    usual: &["lat", "latitude", "lats", "nav_lat", "y"],
};

pub(super) const LONGITUDE: Wanted = Wanted {
    what: "longitude",
    key: "problem.file.names.lon",
    standard: &["longitude"],
    usual: &["lon", "longitude", "lons", "long", "nav_lon", "x"],
};

const HEIGHT: Wanted = Wanted {
    what: "free-surface height",
    key: "problem.file.names.h",
    standard: &[
        "geopotential_height",
        "geopotential",
        "height_above_mean_sea_level",
    ],
    usual: &["h", "z", "gh", "zg", "height", "hgt", "geopotential", "phi"],
};

const EASTWARD: Wanted = Wanted {
    what: "eastward wind",
    key: "problem.file.names.u",
    standard: &["eastward_wind", "x_wind"],
    usual: &["u", "ua", "uwnd", "u_wind", "eastward_wind"],
};

const NORTHWARD: Wanted = Wanted {
    what: "northward wind",
    key: "problem.file.names.v",
    standard: &["northward_wind", "y_wind"],
    usual: &["v", "va", "vwnd", "v_wind", "northward_wind"],
};

const VORTICITY: Wanted = Wanted {
    what: "vorticity",
    key: "problem.file.names.zeta",
    standard: &[
        "atmosphere_upward_relative_vorticity",
        "atmosphere_relative_vorticity",
        "atmosphere_upward_absolute_vorticity",
        "atmosphere_absolute_vorticity",
    ],
    usual: &["zeta", "vo", "vor", "vort", "vorticity", "absv"],
};

const DIVERGENCE: Wanted = Wanted {
    what: "divergence",
    key: "problem.file.names.delta",
    standard: &["divergence_of_wind"],
    usual: &["delta", "d", "div", "divergence"],
};

const SURFACE: Wanted = Wanted {
    what: "surface height",
    key: "mountain-variable",
    standard: &["surface_altitude", "surface_geopotential"],
    usual: &[
        "h_s",
        "hs",
        "zs",
        "orog",
        "oro",
        "orography",
        "topo",
        "topography",
        "phis",
        "z",
        "geopotential",
    ],
};

impl Quantity {
    pub(super) fn wanted(self) -> &'static Wanted {
        match self {
            Self::Height => &HEIGHT,
            Self::Eastward => &EASTWARD,
            Self::Northward => &NORTHWARD,
            Self::Vorticity => &VORTICITY,
            Self::Divergence => &DIVERGENCE,
            Self::Surface => &SURFACE,
        }
    }
}

/// What must be done to the values of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    None,
    /// Geopotential, m2/s2: divide by g.
    DivideByGravity,
    /// Absolute vorticity: subtract f.
    SubtractCoriolis,
}

/// The name of the variable: the given one, else by standard name, else a usual name.
pub(super) fn locate(
    source: &Source,
    wanted: &Wanted,
    given: Option<&str>,
) -> Result<String, InputError> {
    let missing = |tried: String| InputError::NoVariable {
        file: source.path().to_path_buf(),
        wanted: wanted.what.to_string(),
        tried,
        has: list(source),
    };
    if let Some(name) = given {
        let found = source.variable(name).map(|variable| variable.name.clone());
        return found.ok_or_else(|| missing(format!("`{name}`, given by {}", wanted.key)));
    }
    for standard in wanted.standard {
        let mut matches: Vec<&VariableInfo> = source.variables().iter().collect();
        matches.retain(|variable| variable.text("standard_name") == Some(standard));
        match matches.as_slice() {
            [] => {}
            [one] => return Ok(one.name.clone()),
            several => {
                if let Some(usual) = usual(wanted, several.iter().copied()) {
                    return Ok(usual);
                }
                let names: Vec<&str> = several.iter().map(|v| v.name.as_str()).collect();
                return Err(InputError::Variable {
                    file: source.path().to_path_buf(),
                    variable: names.join("`, `"),
                    reason: format!(
                        "share the standard name {standard}; say with {} which one is the {}",
                        wanted.key, wanted.what
                    ),
                });
            }
        }
    }
    usual(wanted, source.variables().iter()).ok_or_else(|| {
        missing(format!(
            "standard names {} and names {}; {} gives another",
            wanted.standard.join(", "),
            wanted.usual.join(", "),
            wanted.key
        ))
    })
}

fn usual<'a>(wanted: &Wanted, variables: impl Iterator<Item = &'a VariableInfo>) -> Option<String> {
    let variables: Vec<&VariableInfo> = variables.collect();
    wanted.usual.iter().find_map(|name| {
        let found = variables
            .iter()
            .find(|variable| variable.name.eq_ignore_ascii_case(name));
        found.map(|variable| variable.name.clone())
    })
}

fn list(source: &Source) -> String {
    let names: Vec<&str> = source.variables().iter().map(|v| v.name.as_str()).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// What the units (and, without units, the names) ask for; the error says what is allowed.
pub(super) fn conversion(
    quantity: Quantity,
    variable: &VariableInfo,
) -> Result<Conversion, String> {
    let standard = variable.text("standard_name").unwrap_or_default();
    let Some(units) = variable
        .text("units")
        .filter(|units| !units.trim().is_empty())
    else {
        let name = variable.name.to_lowercase();
        let potential = standard.ends_with("geopotential")
            || (standard.is_empty() && ["geopotential", "phi", "phis"].contains(&name.as_str()));
        return Ok(match quantity {
            Quantity::Height | Quantity::Surface if potential => Conversion::DivideByGravity,
            Quantity::Vorticity => vorticity(standard),
            _ => Conversion::None,
        });
    };
    let plain = plain_units(units);
    let speed = ["ms-1", "m/s"];
    let rate = ["s-1", "1/s", "/s"];
    let height = ["m", "gpm"];
    let potential = ["m2s-2", "m2/s2", "jkg-1", "j/kg"];
    let is = |list: &[&str]| list.contains(&plain.as_str());
    match quantity {
        Quantity::Height | Quantity::Surface if is(&height) => Ok(Conversion::None),
        Quantity::Height | Quantity::Surface if is(&potential) => Ok(Conversion::DivideByGravity),
        Quantity::Height | Quantity::Surface => Err(format!(
            "has units `{units}`; allowed are m, or m2 s-2 for a geopotential"
        )),
        Quantity::Eastward | Quantity::Northward if is(&speed) => Ok(Conversion::None),
        Quantity::Eastward | Quantity::Northward => {
            Err(format!("has units `{units}`; allowed are m s-1"))
        }
        Quantity::Vorticity if is(&rate) => Ok(vorticity(standard)),
        Quantity::Divergence if is(&rate) => Ok(Conversion::None),
        Quantity::Vorticity | Quantity::Divergence => {
            Err(format!("has units `{units}`; allowed are s-1"))
        }
    }
}

fn vorticity(standard: &str) -> Conversion {
    if standard.contains("absolute_vorticity") {
        Conversion::SubtractCoriolis
    } else {
        Conversion::None
    }
}

/// Units without the many ways to write the same: `m s**-1`, `metre/second`, `m s^-1`.
fn plain_units(units: &str) -> String {
    let mut text = units.to_lowercase();
    for (long, short) in [
        ("meters", "m"),
        ("metres", "m"),
        ("meter", "m"),
        ("metre", "m"),
        ("seconds", "s"),
        ("second", "s"),
        ("sec", "s"),
        (" per ", "/"),
        ("**", ""),
        ("^", ""),
        (".", ""),
        ("*", ""),
        (" ", ""),
    ] {
        text = text.replace(long, short);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_many_ways_to_write_units() {
        for units in [
            "m s-1",
            "m/s",
            "m s**-1",
            "m s^-1",
            "metre/second",
            "meters per second",
        ] {
            assert!(
                ["ms-1", "m/s"].contains(&plain_units(units).as_str()),
                "{units}"
            );
        }
        for units in [
            "m2 s-2",
            "m**2 s**-2",
            "m^2/s^2",
            "meter2 second-2",
            "J kg-1",
        ] {
            let plain = plain_units(units);
            assert!(
                ["m2s-2", "m2/s2", "jkg-1"].contains(&plain.as_str()),
                "{units} {plain}"
            );
        }
        assert_eq!(plain_units("knots"), "knots");
    }
}
