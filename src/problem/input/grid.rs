//! The grid of a file: told from its latitudes and longitudes, or refused.

use super::error::InputError;
use super::quadrature::{clenshaw_curtis, fejer};
use super::source::Source;
use super::variables::{LATITUDE, LONGITUDE, locate};
use crate::grid::gauss::GaussNodes;
use crate::problem::definition::VariableNames;

/// How far a latitude may lie from its place, degrees: half a millidegree is the rounding of
/// GRIB 1, from which many files come.
const LATITUDE_TOLERANCE: f64 = 6e-4;
/// How far a longitude may lie from its place, degrees.
const LONGITUDE_TOLERANCE: f64 = 6e-4;

/// Which latitudes a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridKind {
    /// The nodes of Gauss-Legendre quadrature.
    Gaussian,
    /// Equally spaced, from pole to pole.
    WithPoles,
    /// Equally spaced, half a cell from the poles.
    WithoutPoles,
}

/// A grid over the whole sphere: `nlat` rows from north to south, each eastward from `lon0`.
#[derive(Clone, Debug, PartialEq)]
pub struct LatLonGrid {
    /// Which latitudes.
    pub kind: GridKind,
    /// Latitudes north to south, degrees: their exact places, not the rounded ones of the file.
    pub latitudes: Vec<f64>,
    /// Their sines.
    pub mu: Vec<f64>,
    /// Quadrature weights over mu: they sum to 2.
    pub weights: Vec<f64>,
    /// Longitudes.
    pub nlon: usize,
    /// The first longitude, radians.
    pub lon0: f64,
    /// The largest degree `n` whose coefficients the weights give exactly from a field without
    /// higher degrees: `nlat - 1` (Gaussian), `(nlat - 1)/2` (regular).
    pub degree: usize,
    /// The largest zonal wavenumber the longitudes resolve, `(nlon - 1)/2`.
    pub order: usize,
}

/// How the arrays of a file lie on the grid.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) lat_dimension: String,
    pub(super) lon_dimension: String,
    /// The file goes from south to north.
    pub(super) northward: bool,
    /// The file goes from east to west.
    pub(super) westward: bool,
}

/// Reads the coordinates of a file.
pub(super) fn read(
    source: &mut Source,
    names: &VariableNames,
) -> Result<(LatLonGrid, Layout), InputError> {
    let (lat_name, lat_dimension, mut lat) = axis(source, &LATITUDE, names.lat.as_deref())?;
    let (lon_name, lon_dimension, mut lon) = axis(source, &LONGITUDE, names.lon.as_deref())?;
    let refuse = |variable: &str, reason: String| InputError::Variable {
        file: source.path().to_path_buf(),
        variable: variable.to_string(),
        reason,
    };
    let northward = lat.len() > 1 && lat[0] < lat[1];
    if northward {
        lat.reverse();
    }
    let (kind, latitudes, mu, weights) = latitudes(&lat).map_err(|e| refuse(&lat_name, e))?;
    let westward = lon.len() > 1 && wrapped(lon[1] - lon[0]) < 0.0;
    if westward {
        lon.reverse();
    }
    let lon0 = first_longitude(&lon).map_err(|e| refuse(&lon_name, e))?;
    let (nlat, nlon) = (lat.len(), lon.len());
    let grid = LatLonGrid {
        kind,
        latitudes,
        mu,
        weights,
        nlon,
        lon0,
        degree: if kind == GridKind::Gaussian {
            nlat - 1
        } else {
            (nlat - 1) / 2
        },
        order: (nlon - 1) / 2,
    };
    let layout = Layout {
        lat_dimension,
        lon_dimension,
        northward,
        westward,
    };
    Ok((grid, layout))
}

/// Name, dimension and values of a coordinate variable.
fn axis(
    source: &mut Source,
    wanted: &super::variables::Wanted,
    given: Option<&str>,
) -> Result<(String, String, Vec<f64>), InputError> {
    let name = locate(source, wanted, given)?;
    let file = source.path().to_path_buf();
    let refuse = |reason: String| InputError::Variable {
        file: file.clone(),
        variable: name.clone(),
        reason,
    };
    let (dimension, units) = match source.variable(&name) {
        Some(info) => match info.dimensions.as_slice() {
            [(dimension, _)] => (dimension.clone(), info.text("units").map(str::to_lowercase)),
            other => {
                return Err(refuse(format!(
                    "has {} dimensions; a {} must have one (curvilinear and reduced grids are not \
                     read)",
                    other.len(),
                    wanted.what
                )));
            }
        },
        None => return Err(refuse("is not there".into())),
    };
    if let Some(units) = units.filter(|units| !units.trim().starts_with("degree")) {
        return Err(refuse(format!("has units `{units}`; allowed are degrees")));
    }
    let values = source.read(&name)?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(refuse(format!("is {} at index {k}", values[k]))),
        None => Ok((name, dimension, values)),
    }
}

type Latitudes = (GridKind, Vec<f64>, Vec<f64>, Vec<f64>);

/// Kind, latitudes, sines and weights of latitudes that go from north to south.
fn latitudes(lat: &[f64]) -> Result<Latitudes, String> {
    let n = lat.len();
    if n < 2 {
        return Err(format!("has {n} latitude(s); at least 2 are needed"));
    }
    let distance = |places: &[f64]| {
        lat.iter()
            .zip(places)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    // The south mirrors the north to the last bit: rows can then share Legendre functions.
    let mirrored = |place: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let side = |j: usize| {
            if 2 * j < n {
                place(j)
            } else {
                -place(n - 1 - j)
            }
        };
        (0..n).map(side).collect()
    };
    let poles = mirrored(&|j| 90.0 - 180.0 * j as f64 / (n - 1) as f64);
    let cells = mirrored(&|j| 90.0 - 180.0 * (j as f64 + 0.5) / n as f64);
    let sines = |places: &[f64]| places.iter().map(|p| p.to_radians().sin()).collect();
    if distance(&poles) <= LATITUDE_TOLERANCE {
        let mu = sines(&poles);
        return Ok((GridKind::WithPoles, poles, mu, clenshaw_curtis(n)));
    }
    if distance(&cells) <= LATITUDE_TOLERANCE {
        let mu = sines(&cells);
        return Ok((GridKind::WithoutPoles, cells, mu, fejer(n)));
    }
    let mut nearest = distance(&poles).min(distance(&cells));
    // The nodes are worth their cost only when the first guess of the northernmost one is near.
    let guess = 90.0 - 180.0 * 0.75 / (n as f64 + 0.5);
    if n.is_multiple_of(2) && (lat[0] - guess).abs() < 0.05 * 180.0 / n as f64 {
        let nodes = GaussNodes::new(n);
        let places: Vec<f64> = nodes
            .all_latitudes()
            .iter()
            .map(|p| p.to_degrees())
            .collect();
        if distance(&places) <= LATITUDE_TOLERANCE {
            let south = nodes.weight.iter().rev();
            let weights = nodes.weight.iter().chain(south).copied().collect();
            return Ok((GridKind::Gaussian, places, nodes.all_mu(), weights));
        }
        nearest = nearest.min(distance(&places));
    }
    Err(format!(
        "has {n} latitudes from {} to {} that are neither Gaussian (an even number) nor equally \
         spaced over the whole sphere, with or without poles (off by {nearest:.3} degrees at \
         least, allowed {LATITUDE_TOLERANCE}); interpolate the file to such a grid",
        lat[0],
        lat[n - 1]
    ))
}

/// The first longitude in radians, if all are equally spaced eastward round the full circle.
fn first_longitude(lon: &[f64]) -> Result<f64, String> {
    let n = lon.len();
    if n < 2 {
        return Err(format!("has {n} longitude(s); at least 2 are needed"));
    }
    let step = 360.0 / n as f64;
    let repeats = wrapped(lon[n - 1] - lon[0]).abs() <= LONGITUDE_TOLERANCE;
    if repeats {
        return Err(format!(
            "ends with {}, the same meridian as its first, {}; drop the last column",
            lon[n - 1],
            lon[0]
        ));
    }
    let mut mean = 0.0;
    for (i, value) in lon.iter().enumerate() {
        let off = wrapped(value - lon[0] - i as f64 * step);
        if off.abs() > LONGITUDE_TOLERANCE {
            return Err(format!(
                "has {n} longitudes that are not equally spaced over the full circle: number {i} \
                 (from 0) is {value}, expected {}",
                lon[0] + i as f64 * step
            ));
        }
        mean += off / n as f64;
    }
    Ok((lon[0] + mean).to_radians())
}

/// An angle in degrees brought to [-180, 180).
fn wrapped(angle: f64) -> f64 {
    (angle + 180.0).rem_euclid(360.0) - 180.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_latitudes() {
        let poles: Vec<f64> = (0..73).map(|j| 90.0 - 2.5 * f64::from(j)).collect();
        assert_eq!(latitudes(&poles).unwrap().0, GridKind::WithPoles);
        let cells: Vec<f64> = (0..90).map(|j| 89.0 - 2.0 * f64::from(j)).collect();
        assert_eq!(latitudes(&cells).unwrap().0, GridKind::WithoutPoles);
        for n in [2, 32, 94, 640] {
            let nodes = GaussNodes::new(n).all_latitudes();
            let gauss: Vec<f64> = nodes
                .iter()
                .map(|p| f64::from(p.to_degrees() as f32))
                .collect();
            let (kind, _, _, weights) = latitudes(&gauss).unwrap();
            assert_eq!(kind, GridKind::Gaussian, "{n}");
            assert!((weights.iter().sum::<f64>() - 2.0).abs() < 1e-13);
            let mut bent = gauss.clone();
            bent[n / 2] += 0.01;
            assert!(latitudes(&bent).unwrap_err().contains("neither Gaussian"));
        }
        assert!(latitudes(&poles[1..]).is_err());
    }

    #[test]
    fn longitudes_from_anywhere() {
        let from = |start: f64| {
            (0..8)
                .map(|i| start + 45.0 * f64::from(i))
                .collect::<Vec<_>>()
        };
        assert_eq!(first_longitude(&from(0.0)).unwrap(), 0.0);
        assert_eq!(
            first_longitude(&from(-180.0)).unwrap(),
            -std::f64::consts::PI
        );
        let split = [0.0, 45.0, 90.0, 135.0, 180.0, -135.0, -90.0, -45.0];
        assert_eq!(first_longitude(&split).unwrap(), 0.0);
        let closed: Vec<f64> = (0..=8).map(|i| 45.0 * f64::from(i)).collect();
        assert!(
            first_longitude(&closed)
                .unwrap_err()
                .contains("drop the last column")
        );
        assert!(
            first_longitude(&[0.0, 10.0, 20.0])
                .unwrap_err()
                .contains("full circle")
        );
    }
}
