//! States and surfaces from files: rank 0 reads, every rank projects its own wavenumbers.

use std::path::Path;

use num_complex::Complex64;

use super::model::{Model, SolverError};
use super::state::State;
use crate::exchange::collective::broadcast;
use crate::pencil::SpectralLayout;
use crate::problem::definition::{HeightFrom, Mountain, StateFile};
use crate::problem::input::{
    FileState, GridField, GridState, InputError, LatLonGrid, Wind, read_state, read_surface,
};
use crate::problem::planet::Planet;
use crate::spectral::project::Projection;
use crate::transport::{Transport, TransportError};

/// A state of a file in this rank's spectral space: `phi` holds `g h` of the free surface.
pub(super) struct Loaded {
    pub state: State,
    /// Time of the state in the file, s, where the file says so.
    pub time: Option<f64>,
}

/// Surface height of a file, m, in this rank's spectral space.
pub(super) fn surface<T: Transport>(
    model: &Model<T>,
    path: &Path,
    variable: Option<&str>,
) -> Result<Vec<Complex64>, SolverError> {
    let planet = &model.problem.planet;
    let read = on_root(model, "problem.mountain-file", || {
        read_surface(path, variable, planet)
    })?;
    let (grid, field) = read.map_or((None, None), |(grid, field)| (Some(grid), Some(field)));
    let grid = share_grid(&model.world, grid)?;
    let layout = model.pencil.layout();
    let columns = scalar(&model.world, layout, &grid, field.as_ref())?;
    let mut result = vec![Complex64::default(); layout.len()];
    place(layout, &columns, 1.0, &mut result);
    Ok(result)
}

/// The state of a file becomes the model's: `phi` is `g h`, zero where the file has no height.
pub(super) fn state<T: Transport>(
    model: &mut Model<T>,
    file: &StateFile,
) -> Result<(), SolverError> {
    let loaded = load(model, "problem.file.path", file)?;
    (model.now, model.file_time) = (loaded.state, loaded.time);
    Ok(())
}

/// Reads a state, of the file that `key` names.
pub(super) fn load<T: Transport>(
    model: &Model<T>,
    key: &'static str,
    file: &StateFile,
) -> Result<Loaded, SolverError> {
    let planet = &model.problem.planet;
    let read = on_root(model, key, || read_state(file, planet))?;
    let mut kind = [match &read {
        Some(FileState::Spectral(_)) => 1.0,
        _ => 0.0,
    }];
    broadcast(&model.world, 0, &mut kind)?;
    if kind[0] == 1.0 {
        return spectral(model, read);
    }
    let state = match read {
        Some(FileState::Grid(state)) => Some(state),
        _ => None,
    };
    if model.problem.mountain == Mountain::Flat {
        must_be_positive(state.as_ref())?;
    }
    on_grid(
        &model.world,
        model.pencil.layout(),
        planet,
        file.height,
        state,
    )
}

/// Runs `read` on rank 0; `None` elsewhere.
fn on_root<T: Transport, R>(
    model: &Model<T>,
    key: &'static str,
    read: impl FnOnce() -> Result<R, InputError>,
) -> Result<Option<R>, SolverError> {
    if model.world.rank() == 0 {
        read()
            .map(Some)
            .map_err(|error| SolverError::File { key, error })
    } else {
        Ok(None)
    }
}

/// STSWM's coefficients, one wavenumber at a time.
fn spectral<T: Transport>(
    model: &Model<T>,
    read: Option<FileState>,
) -> Result<Loaded, SolverError> {
    let layout = model.pencil.layout();
    let truncation = *layout.truncation();
    let file = match &read {
        Some(FileState::Spectral(file)) => Some(file),
        _ => None,
    };
    let mut time = [file.map_or(0.0, |file| file.time)];
    broadcast(&model.world, 0, &mut time)?;
    let mut state = State::zeros(layout.len());
    for m in 0..=truncation.m_max() {
        let degrees = truncation.degrees(m);
        let mut flat = vec![0.0; 3 * 2 * degrees];
        if let Some(file) = file {
            for (part, field) in
                flat.chunks_exact_mut(2 * degrees)
                    .zip([&file.zeta, &file.delta, &file.phi])
            {
                for (pair, c) in part.chunks_exact_mut(2).zip(file.at(field, &truncation, m)) {
                    pair.copy_from_slice(&[c.re, c.im]);
                }
            }
        }
        broadcast(&model.world, 0, &mut flat)?;
        for (_, range) in layout.iter().filter(|(unit, _)| unit.m == m) {
            for (part, to) in flat.chunks_exact(2 * degrees).zip(state.fields_mut()) {
                for (pair, to) in part.chunks_exact(2).zip(&mut to[range.clone()]) {
                    *to = Complex64::new(pair[0], pair[1]);
                }
            }
        }
    }
    drop_means(layout, &mut state);
    Ok(Loaded {
        state,
        time: Some(time[0]),
    })
}

/// Refuses a height that is not positive somewhere in the file: over a flat surface there is no
/// depth then, though the truncated series may hide a single point.
fn must_be_positive(state: Option<&GridState>) -> Result<(), SolverError> {
    let Some((grid, h)) = state.and_then(|state| Some((&state.grid, state.h.as_ref()?))) else {
        return Ok(());
    };
    let lowest = h.rows.indexed_iter().min_by(|a, b| a.1.total_cmp(b.1));
    match lowest {
        Some(((row, column), &value)) if value <= 0.0 => {
            let east = grid.lon0.to_degrees() + 360.0 * column as f64 / grid.nlon as f64;
            Err(SolverError::Start(format!(
                "the file's height leaves no depth: h - h_s is {value} m at latitude {:.4}, \
                 longitude {:.4}, over a flat surface, and it must be positive",
                grid.latitudes[row],
                east.rem_euclid(360.0)
            )))
        }
        _ => Ok(()),
    }
}

/// A state on a grid, projected from rows that rank 0 sends one by one.
fn on_grid<T: Transport>(
    world: &T,
    layout: &SpectralLayout,
    planet: &Planet,
    height: HeightFrom,
    state: Option<GridState>,
) -> Result<Loaded, SolverError> {
    let (grid, h, wind) = match state {
        Some(state) => (Some(state.grid), state.h, Some(state.wind)),
        None => (None, None, None),
    };
    let grid = share_grid(world, grid)?;
    let mut result = State::zeros(layout.len());
    let mut form = [match wind {
        Some(Wind::Derivatives { .. }) => 1.0,
        _ => 0.0,
    }];
    broadcast(world, 0, &mut form)?;
    let (first, second) = match &wind {
        Some(Wind::Components { u, v }) => (Some(u), Some(v)),
        Some(Wind::Derivatives { zeta, delta }) => (Some(zeta), Some(delta)),
        None => (None, None),
    };
    if form[0] == 1.0 {
        let zeta = scalar(world, layout, &grid, first)?;
        let delta = scalar(world, layout, &grid, second)?;
        place(layout, &zeta, 1.0, &mut result.zeta);
        place(layout, &delta, 1.0, &mut result.delta);
        drop_means(layout, &mut result);
    } else {
        let fields = [first, second];
        let (zeta, delta) = projection(layout, &grid)
            .project_vector(planet.radius, |field, j, row| {
                send_row(world, fields[field], j, row)
            })?;
        place(layout, &zeta, 1.0, &mut result.zeta);
        place(layout, &delta, 1.0, &mut result.delta);
    }
    if height == HeightFrom::Given {
        let h = scalar(world, layout, &grid, h.as_ref())?;
        place(layout, &h, planet.gravity, &mut result.phi);
    }
    Ok(Loaded {
        state: result,
        time: None,
    })
}

fn projection(layout: &SpectralLayout, grid: &Rows) -> Projection {
    let waves: Vec<usize> = layout.waves().map(|(m, _)| m).collect();
    Projection::new(
        *layout.truncation(),
        &waves,
        &grid.mu,
        &grid.weights,
        grid.nlon,
        grid.lon0,
    )
    .with_limits(grid.degree, grid.order)
}

fn scalar<T: Transport>(
    world: &T,
    layout: &SpectralLayout,
    grid: &Rows,
    field: Option<&GridField>,
) -> Result<Vec<Vec<Complex64>>, TransportError> {
    projection(layout, grid).project_scalar(0, |j, row| send_row(world, field, j, row))
}

/// Row `j` from rank 0 to all.
fn send_row<T: Transport>(
    world: &T,
    field: Option<&GridField>,
    j: usize,
    row: &mut [f64],
) -> Result<(), TransportError> {
    if let Some(field) = field {
        for (to, from) in row.iter_mut().zip(field.rows.row(j)) {
            *to = *from;
        }
    }
    broadcast(world, 0, row)
}

/// The means of vorticity and divergence are zero; what rounding in a file left of them is dropped.
fn drop_means(layout: &SpectralLayout, state: &mut State) {
    for (_, range) in layout.iter().filter(|(unit, _)| unit.m == 0) {
        state.zeta[range.start] = Complex64::default();
        state.delta[range.start] = Complex64::default();
    }
}

/// Columns of wavenumbers, the same on every level.
fn place(
    layout: &SpectralLayout,
    columns: &[Vec<Complex64>],
    factor: f64,
    field: &mut [Complex64],
) {
    for ((_, units), column) in layout.waves().zip(columns) {
        for unit in units {
            for (to, from) in field[layout.range(unit)].iter_mut().zip(column) {
                *to = from * factor;
            }
        }
    }
}

/// What a projection needs to know of a file's grid, on every rank.
struct Rows {
    mu: Vec<f64>,
    weights: Vec<f64>,
    nlon: usize,
    lon0: f64,
    degree: usize,
    order: usize,
}

/// The grid that rank 0 read, on every rank.
fn share_grid<T: Transport>(world: &T, grid: Option<LatLonGrid>) -> Result<Rows, TransportError> {
    let mut head = [0.0; 5];
    if let Some(grid) = &grid {
        head = [
            grid.mu.len() as f64,
            grid.nlon as f64,
            grid.lon0,
            grid.degree as f64,
            grid.order as f64,
        ];
    }
    broadcast(world, 0, &mut head)?;
    let nlat = head[0] as usize;
    let mut rows = vec![0.0; 2 * nlat];
    if let Some(grid) = &grid {
        rows[..nlat].copy_from_slice(&grid.mu);
        rows[nlat..].copy_from_slice(&grid.weights);
    }
    broadcast(world, 0, &mut rows)?;
    Ok(Rows {
        mu: rows[..nlat].to_vec(),
        weights: rows[nlat..].to_vec(),
        nlon: head[1] as usize,
        lon0: head[2],
        degree: head[3] as usize,
        order: head[4] as usize,
    })
}
