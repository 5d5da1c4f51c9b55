//! States and surfaces from files, whatever their kind.

use std::path::Path;

use super::error::InputError;
use super::field::{self, GridField};
use super::grid::{self, LatLonGrid, Layout};
use super::source::Source;
use super::stswm::{self, SpectralState};
use super::variables::{Quantity, locate};
use crate::problem::definition::{HeightFrom, StateFile, VariableNames};
use crate::problem::planet::Planet;

/// An open file of fields on a grid.
#[derive(Debug)]
pub struct StateReader {
    source: Source,
    names: VariableNames,
    surface: Option<String>,
    grid: LatLonGrid,
    layout: Layout,
}

impl StateReader {
    /// Opens a file and finds out its grid.
    ///
    /// # Errors
    /// A file that cannot be read, without latitudes or longitudes, or on a grid that is neither
    /// Gaussian nor regular over the whole sphere.
    pub fn open(path: &Path, names: &VariableNames) -> Result<Self, InputError> {
        Self::of(Source::open(path)?, names)
    }

    fn of(mut source: Source, names: &VariableNames) -> Result<Self, InputError> {
        let (grid, layout) = grid::read(&mut source, names)?;
        Ok(Self {
            source,
            names: names.clone(),
            surface: None,
            grid,
            layout,
        })
    }

    /// The grid of the file.
    pub fn grid(&self) -> &LatLonGrid {
        &self.grid
    }

    /// Whether the file has the field (by the name given, standard name, or usual name).
    pub fn has(&self, quantity: Quantity) -> bool {
        self.find(quantity).is_ok()
    }

    /// How many times the file has of a field.
    ///
    /// # Errors
    /// The field is not there.
    pub fn times(&self, quantity: Quantity) -> Result<usize, InputError> {
        let name = self.find(quantity)?;
        Ok(self
            .source
            .variable(&name)
            .map_or(1, |info| field::times(&self.source, info)))
    }

    /// Reads a field: height and surface in m, wind in m/s, relative vorticity and divergence in
    /// 1/s. A geopotential is divided by g, absolute vorticity loses f.
    ///
    /// # Errors
    /// No such variable, time, or units; a missing or non-finite value (with its place); further
    /// dimensions.
    pub fn read(
        &mut self,
        quantity: Quantity,
        time_index: usize,
        planet: &Planet,
    ) -> Result<GridField, InputError> {
        let name = self.find(quantity)?;
        let place = (&self.grid, &self.layout);
        field::read(&mut self.source, place, quantity, &name, time_index, planet)
    }

    fn find(&self, quantity: Quantity) -> Result<String, InputError> {
        let given = match quantity {
            Quantity::Height => &self.names.h,
            Quantity::Eastward => &self.names.u,
            Quantity::Northward => &self.names.v,
            Quantity::Vorticity => &self.names.zeta,
            Quantity::Divergence => &self.names.delta,
            Quantity::Surface => &self.surface,
        };
        locate(&self.source, quantity.wanted(), given.as_deref())
    }
}

/// The wind of a file, in one of its two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Wind {
    /// Eastward and northward wind, m/s.
    Components {
        /// Eastward.
        u: GridField,
        /// Northward.
        v: GridField,
    },
    /// Relative vorticity and divergence, 1/s.
    Derivatives {
        /// Relative vorticity.
        zeta: GridField,
        /// Divergence.
        delta: GridField,
    },
}

/// A state on the grid of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct GridState {
    /// The grid.
    pub grid: LatLonGrid,
    /// Free-surface height, m; `None`: to be derived from the wind.
    pub h: Option<GridField>,
    /// The wind.
    pub wind: Wind,
}

/// A state as its file holds it.
// There is one of these in a run: its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum FileState {
    /// On a grid.
    Grid(GridState),
    /// Spectral coefficients of STSWM.
    Spectral(SpectralState),
}

/// Reads the state of a namelist's file.
///
/// The wind comes from u and v; from vorticity and divergence when the namelist names one of
/// these, or the file has no u and v. STSWM's spectral files are told by their variables.
///
/// # Errors
/// Everything [`StateReader`] and [`stswm::read_stswm`] refuse.
pub fn read_state(file: &StateFile, planet: &Planet) -> Result<FileState, InputError> {
    let source = Source::open(&file.path)?;
    if stswm::is_stswm(&source) {
        return stswm::read(source, file.time_index, planet).map(FileState::Spectral);
    }
    let mut reader = StateReader::of(source, &file.names)?;
    let h = match file.height {
        HeightFrom::Given => Some(reader.read(Quantity::Height, file.time_index, planet)?),
        HeightFrom::Balanced => None,
    };
    let mut read = |quantity| reader.read(quantity, file.time_index, planet);
    let named = file.names.zeta.is_some() || file.names.delta.is_some();
    let wind = if named {
        Wind::Derivatives {
            zeta: read(Quantity::Vorticity)?,
            delta: read(Quantity::Divergence)?,
        }
    } else {
        // Without u the file may still have vorticity; when it has neither, u is what is missed.
        match reader.find(Quantity::Eastward) {
            Err(_) if file.names.u.is_none() && reader.has(Quantity::Vorticity) => {
                Wind::Derivatives {
                    zeta: reader.read(Quantity::Vorticity, file.time_index, planet)?,
                    delta: reader.read(Quantity::Divergence, file.time_index, planet)?,
                }
            }
            _ => Wind::Components {
                u: reader.read(Quantity::Eastward, file.time_index, planet)?,
                v: reader.read(Quantity::Northward, file.time_index, planet)?,
            },
        }
    };
    Ok(FileState::Grid(GridState {
        grid: reader.grid,
        h,
        wind,
    }))
}

/// Reads a surface height, m, from a file on a grid: the variable of a name, or found by its
/// standard name (surface_altitude) or usual names; a geopotential is divided by g. Of several
/// times the first counts.
///
/// # Errors
/// Everything [`StateReader`] refuses.
pub fn read_surface(
    path: &Path,
    variable: Option<&str>,
    planet: &Planet,
) -> Result<(LatLonGrid, GridField), InputError> {
    let mut reader = StateReader::open(path, &VariableNames::default())?;
    reader.surface = variable.map(str::to_string);
    let field = reader.read(Quantity::Surface, 0, planet)?;
    Ok((reader.grid, field))
}
