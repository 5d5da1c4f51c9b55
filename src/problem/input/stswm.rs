//! Spectral files of STSWM, NCAR's spectral transform shallow water model (version 2.0).
//!
//! Variables `vorticity`, `divergence`, `geopotential` (timestep, n, m, complex); entries with
//! m > n are fill. The normalisation is the model's own. The vorticity is absolute: its
//! coefficient n = 1, m = 0 holds f; the geopotential is the total g h. `mm`, `nn`, `kk` are the
//! truncation, `time` is in hours.

use std::path::Path;

use num_complex::Complex64;

use super::LAST_TIME;
use super::error::InputError;
use super::source::Source;
use crate::problem::planet::Planet;
use crate::spectral::truncation::Truncation;

/// Spectral coefficients of a state; of each field one row per m, with n = m ..= n_top(m).
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralState {
    /// The truncation of the file.
    pub truncation: Truncation,
    /// Time of the state, s.
    pub time: f64,
    /// Relative vorticity, 1/s.
    pub zeta: Vec<Vec<Complex64>>,
    /// Divergence, 1/s.
    pub delta: Vec<Vec<Complex64>>,
    /// Geopotential of the free surface, g h, m2/s2.
    pub phi: Vec<Vec<Complex64>>,
}

impl SpectralState {
    /// The coefficients of one zonal wavenumber at the degrees of another truncation: cut off or
    /// filled with zeros. `field` is one of this state's.
    pub fn at(&self, field: &[Vec<Complex64>], run: &Truncation, m: usize) -> Vec<Complex64> {
        let mut row = field.get(m).cloned().unwrap_or_default();
        row.resize(run.degrees(m), Complex64::ZERO);
        row
    }
}

const FIELDS: [&str; 3] = ["vorticity", "divergence", "geopotential"];

/// Whether a file is one of STSWM: its three variables end in a dimension `complex`.
pub(super) fn is_stswm(source: &Source) -> bool {
    FIELDS.iter().all(|name| {
        let last = source
            .variable(name)
            .and_then(|variable| variable.dimensions.last());
        last.is_some_and(|(dimension, length)| dimension == "complex" && *length == 2)
    })
}

/// Reads a state of a spectral file of STSWM.
///
/// # Errors
/// No file of STSWM, no such time, a truncation that makes no sense, a coefficient that is not
/// finite.
pub fn read_stswm(
    path: &Path,
    time_index: usize,
    planet: &Planet,
) -> Result<SpectralState, InputError> {
    let source = Source::open(path)?;
    if !is_stswm(&source) {
        return Err(InputError::Malformed {
            file: path.to_path_buf(),
            reason: "it has no vorticity, divergence and geopotential with a dimension `complex`, \
                     as a spectral file of STSWM has"
                .into(),
        });
    }
    read(source, time_index, planet)
}

/// Reads a state of an open file.
pub(super) fn read(
    mut source: Source,
    time_index: usize,
    planet: &Planet,
) -> Result<SpectralState, InputError> {
    let file = source.path().to_path_buf();
    let refuse = |variable: &str, reason: String| InputError::Variable {
        file: file.clone(),
        variable: variable.to_string(),
        reason,
    };
    let mut size = [0; 3];
    for (size, name) in size.iter_mut().zip(["mm", "nn", "kk"]) {
        let values = if source.variable(name).is_some() {
            source.read(name)?
        } else {
            Vec::new()
        };
        *size = match values.first() {
            Some(value) if (1.0..=1e5).contains(value) && value.fract() == 0.0 => *value as usize,
            Some(value) => return Err(refuse(name, format!("is {value}; allowed is 1 to 100000"))),
            None => return Err(refuse(name, "is missing; it holds the truncation".into())),
        };
    }
    let truncation = Truncation::new(size[0], size[1], size[2])
        .map_err(|error| refuse("mm`, `nn`, `kk", error.to_string()))?;
    let mut fields = Vec::new();
    for name in FIELDS {
        fields.push(coefficients(&mut source, name, time_index, &truncation)?);
    }
    let time = match source
        .variable("time")
        .map(|variable| variable.dimensions.len())
    {
        Some(1) => {
            let times = source.read("time")?;
            let at = time_index.min(times.len().saturating_sub(1));
            times.get(at).copied().unwrap_or(0.0) * 3600.0
        }
        _ => 0.0,
    };
    let mut fields = fields.into_iter();
    let mut next = || fields.next().unwrap_or_default();
    let (mut zeta, delta, phi) = (next(), next(), next());
    // f = 2 Omega mu, and P_10 = sqrt(3/2) mu.
    zeta[0][1] -= 2.0 * planet.omega * (2.0f64 / 3.0).sqrt();
    Ok(SpectralState {
        truncation,
        time,
        zeta,
        delta,
        phi,
    })
}

fn coefficients(
    source: &mut Source,
    name: &str,
    time_index: usize,
    truncation: &Truncation,
) -> Result<Vec<Vec<Complex64>>, InputError> {
    let file = source.path().to_path_buf();
    let refuse = |reason: String| InputError::Variable {
        file: file.clone(),
        variable: name.to_string(),
        reason,
    };
    let shape: Vec<usize> = match source.variable(name) {
        Some(info) => info.dimensions.iter().map(|(_, length)| *length).collect(),
        None => Vec::new(),
    };
    let [times, rows, columns, 2] = shape[..] else {
        return Err(refuse(format!(
            "has shape {shape:?}; expected is (timestep, n, m, complex = 2)"
        )));
    };
    if rows <= truncation.k_max() || columns <= truncation.m_max() {
        return Err(refuse(format!(
            "holds {rows} x {columns} coefficients (n, m), too few for mm, nn, kk = {:?}",
            truncation.mnk()
        )));
    }
    let time_index = if time_index == LAST_TIME {
        times.saturating_sub(1)
    } else {
        time_index
    };
    if time_index >= times {
        return Err(InputError::TimeIndex {
            file,
            variable: name.to_string(),
            index: time_index,
            count: times,
        });
    }
    let values = source.read_at(name, time_index)?;
    if values.len() < rows * columns * 2 {
        return Err(refuse(format!("holds {} values, too few", values.len())));
    }
    let mut all = Vec::with_capacity(truncation.m_max() + 1);
    for m in 0..=truncation.m_max() {
        let mut row = Vec::with_capacity(truncation.degrees(m));
        for n in m..=truncation.n_top(m) {
            let at = 2 * (n * columns + m);
            let value = Complex64::new(values[at], values[at + 1]);
            if !value.is_finite() || value.norm() > 1e30 {
                return Err(refuse(format!("is {value} at n = {n}, m = {m}")));
            }
            row.push(value);
        }
        all.push(row);
    }
    Ok(all)
}
