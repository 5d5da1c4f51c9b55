//! Fields on every kind of grid come back as the coefficients they were made of.

use std::convert::Infallible;

use std::path::Path;

use ndarray::Array2;
use pstswm::grid::gauss::GaussNodes;
use pstswm::problem::definition::{HeightFrom, StateFile, VariableNames};
use pstswm::problem::input::{
    FileState, GridField, GridKind, GridState, LatLonGrid, Wind, read_state, read_surface,
};
use pstswm::problem::planet::Planet;
use pstswm::spectral::project::Projection;
use pstswm::spectral::truncation::Truncation;

use crate::made::{
    Attr, Data, Places, Series, Var, distance, laplacian, random_series, var, write,
};
use crate::support::scratch;

const TOP: usize = 10;

fn gaussian(n: usize) -> Vec<f64> {
    GaussNodes::new(n)
        .all_latitudes()
        .iter()
        .map(|lat| lat.to_degrees())
        .collect()
}

fn with_poles(n: usize) -> Vec<f64> {
    (0..n)
        .map(|j| 90.0 - 180.0 * j as f64 / (n - 1) as f64)
        .collect()
}

fn without_poles(n: usize) -> Vec<f64> {
    (0..n)
        .map(|j| 90.0 - 180.0 * (j as f64 + 0.5) / n as f64)
        .collect()
}

fn longitudes(n: usize, start: f64) -> Vec<f64> {
    (0..n)
        .map(|i| start + 360.0 * i as f64 / n as f64)
        .collect()
}

fn state_file(path: &Path) -> StateFile {
    StateFile {
        path: path.to_path_buf(),
        time_index: 0,
        height: HeightFrom::Given,
        names: VariableNames::default(),
    }
}

fn grid_state(file: &StateFile) -> GridState {
    match read_state(file, &Planet::default()).unwrap() {
        FileState::Grid(state) => state,
        FileState::Spectral(_) => panic!("a spectral file"),
    }
}

fn projection(grid: &LatLonGrid) -> Projection {
    let orders: Vec<usize> = (0..=TOP).collect();
    let truncation = Truncation::triangular(TOP);
    Projection::new(
        truncation,
        &orders,
        &grid.mu,
        &grid.weights,
        grid.nlon,
        grid.lon0,
    )
    .with_limits(grid.degree, grid.order)
}

fn fill(field: &GridField, j: usize, row: &mut [f64]) -> Result<(), Infallible> {
    row.copy_from_slice(field.rows.row(j).to_slice().unwrap());
    Ok(())
}

fn scalar(grid: &LatLonGrid, field: &GridField) -> Series {
    let Ok(series) = projection(grid).project_scalar(0, |j, row| fill(field, j, row));
    series
}

fn wind(grid: &LatLonGrid, wind: &Wind) -> (Series, Series) {
    match wind {
        Wind::Components { u, v } => {
            let Ok(both) =
                projection(grid).project_vector(1.0, |field, j, row| fill([u, v][field], j, row));
            both
        }
        Wind::Derivatives { zeta, delta } => (scalar(grid, zeta), scalar(grid, delta)),
    }
}

/// Values (lat, lon) as (lon, lat).
fn turned(values: &[f64], nlat: usize, nlon: usize) -> Vec<f64> {
    let field = Array2::from_shape_vec((nlat, nlon), values.to_vec()).unwrap();
    field.t().iter().copied().collect()
}

#[test]
fn every_grid_and_order_gives_the_coefficients_back() {
    let folder = scratch("grids");
    let h = random_series(TOP, 0, 1);
    let (psi, chi) = (random_series(TOP, 1, 2), random_series(TOP, 1, 3));
    let kinds = [
        (GridKind::Gaussian, gaussian(12)),
        (GridKind::WithPoles, with_poles(21)),
        (GridKind::WithPoles, with_poles(24)),
        (GridKind::WithoutPoles, without_poles(21)),
        (GridKind::WithoutPoles, without_poles(22)),
    ];
    for (kind, north_south) in kinds {
        for (nlon, start) in [(21, 0.0), (24, -180.0), (32, 7.5)] {
            for (northward, westward, lon_first) in [
                (false, false, false),
                (true, false, true),
                (false, true, false),
                (true, true, true),
            ] {
                let (mut lat, mut lon) = (north_south.clone(), longitudes(nlon, start));
                if northward {
                    lat.reverse();
                }
                if westward {
                    lon.reverse();
                }
                let places = Places {
                    lat: &lat,
                    lon: &lon,
                };
                let (u, v) = places.wind(&psi, &chi);
                let height = places.scalar(&h);
                let nlat = lat.len();
                let order = |values: Vec<f64>| {
                    if lon_first {
                        turned(&values, nlat, nlon)
                    } else {
                        values
                    }
                };
                let dims: &[&'static str] = if lon_first {
                    &["lon", "lat"]
                } else {
                    &["lat", "lon"]
                };
                let path = folder.join("state.nc");
                let vars = [
                    var("lat", &["lat"], lat.clone()).units("degrees_north"),
                    var("lon", &["lon"], lon.clone()).units("degrees_east"),
                    var("z", dims, order(height)).units("m"),
                    var("u", dims, order(u)).units("m/s"),
                    var("v", dims, order(v)).units("m s**-1"),
                ];
                write(&path, None, &[("lat", nlat), ("lon", nlon)], &vars);
                let state = grid_state(&state_file(&path));
                assert_eq!(state.grid.kind, kind);
                assert!(projection(&state.grid).shortfall().is_none());
                let what = format!("{kind:?} {nlat} x {nlon} {northward} {westward} {lon_first}");
                let found = scalar(&state.grid, state.h.as_ref().unwrap());
                assert!(
                    distance(&found, &h) < 1e-12,
                    "{what}: {}",
                    distance(&found, &h)
                );
                let (zeta, delta) = wind(&state.grid, &state.wind);
                // Divided by the size of the coefficients, n (n + 1).
                let scale = (TOP * (TOP + 1)) as f64;
                let off = distance(&zeta, &laplacian(&psi)).max(distance(&delta, &laplacian(&chi)));
                assert!(off / scale < 1e-12, "{what}: {off:e}");
            }
        }
    }
}

#[test]
fn what_the_grid_does_not_resolve_is_zero_and_told() {
    let folder = scratch("coarse");
    let h = random_series(4, 0, 9);
    let (lat, lon) = (with_poles(9), longitudes(16, 0.0));
    let places = Places {
        lat: &lat,
        lon: &lon,
    };
    let path = folder.join("state.nc");
    let vars = [
        var("lat", &["lat"], lat.clone()),
        var("lon", &["lon"], lon.clone()),
        var("h_s", &["lat", "lon"], places.scalar(&h))
            .standard("surface_altitude")
            .units("m"),
    ];
    write(&path, None, &[("lat", 9), ("lon", 16)], &vars);
    let (grid, field) = read_surface(&path, None, &Planet::default()).unwrap();
    assert_eq!((grid.degree, grid.order), (4, 7));
    let found = scalar(&grid, &field);
    for (m, row) in found.iter().enumerate() {
        for (i, c) in row.iter().enumerate() {
            let expected = h
                .get(m)
                .and_then(|row| row.get(i))
                .copied()
                .unwrap_or_default();
            assert!((c - expected).norm() < 1e-13, "m {m} n {}", m + i);
        }
    }
    let note = projection(&grid).shortfall().unwrap();
    assert!(
        note.contains("9 x 16") && note.contains("degrees up to 4"),
        "{note}"
    );
}

/// A file with times, a level, geopotential, absolute vorticity, packing and other names.
#[test]
fn analyses_as_they_come() {
    let folder = scratch("analysis");
    let planet = Planet::default();
    let (lat, lon) = (gaussian(12), longitudes(24, 0.0));
    let places = Places {
        lat: &lat,
        lon: &lon,
    };
    let (zeta, delta) = (random_series(TOP, 1, 5), random_series(TOP, 1, 6));
    let h: Series = random_series(TOP, 0, 7);
    let points = 12 * 24;
    let later = |values: Vec<f64>| {
        let mut both = vec![1e3; points];
        both.extend(values);
        both
    };
    let absolute: Vec<f64> = places
        .scalar(&zeta)
        .iter()
        .enumerate()
        .map(|(k, z)| z + 2.0 * planet.omega * lat[k / 24].to_radians().sin())
        .collect();
    let potential: Vec<f64> = places
        .scalar(&h)
        .iter()
        .map(|h| h * planet.gravity)
        .collect();
    let dims = ["valid_time", "number", "latitude", "longitude"];
    let single = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let vars = [
        Var {
            data: Data::F32(single(&lat)),
            ..var("latitude", &["latitude"], vec![])
        }
        .standard("latitude")
        .units("degrees_north"),
        Var {
            data: Data::F32(single(&lon)),
            ..var("longitude", &["longitude"], vec![])
        }
        .standard("longitude")
        .units("degrees_east"),
        var("valid_time", &["valid_time"], vec![0.0, 6.0]).units("hours since 1979-01-01"),
        var("z", &dims, later(potential))
            .standard("geopotential")
            .units("m**2 s**-2"),
        var("absv", &dims, later(absolute))
            .standard("atmosphere_absolute_vorticity")
            .units("s-1"),
        var("d", &dims, later(places.scalar(&delta))).units("1/s"),
        // u alone must not win over vorticity and divergence when these are asked for.
        var("u", &dims, vec![0.0; 2 * points]).units("m s-1"),
        var("v", &dims, vec![0.0; 2 * points]).units("m s-1"),
    ];
    let sizes = [("number", 1), ("latitude", 12), ("longitude", 24)];
    for unlimited in [true, false] {
        let path = folder.join("analysis.nc");
        if unlimited {
            write(&path, Some(("valid_time", 2)), &sizes, &vars);
        } else {
            let mut sizes = sizes.to_vec();
            sizes.push(("valid_time", 2));
            write(&path, None, &sizes, &vars);
        }
        let mut file = state_file(&path);
        file.time_index = 1;
        file.names.zeta = Some("absv".into());
        let state = grid_state(&file);
        assert_eq!(state.grid.kind, GridKind::Gaussian);
        assert!(distance(&scalar(&state.grid, state.h.as_ref().unwrap()), &h) < 1e-12);
        let (found_zeta, found_delta) = wind(&state.grid, &state.wind);
        assert!(distance(&found_zeta, &zeta) < 1e-12);
        assert!(distance(&found_delta, &delta) < 1e-12);
        file.time_index = 2;
        let message = read_state(&file, &planet).unwrap_err().to_string();
        assert!(
            message.contains("time-index = 2") && message.contains("2 times"),
            "{message}"
        );
        file.time_index = 0;
        file.names.zeta = None;
        file.height = HeightFrom::Balanced;
        let state = grid_state(&file);
        assert!(state.h.is_none() && matches!(state.wind, Wind::Components { .. }));
    }
}

#[test]
fn packed_numbers_are_unpacked() {
    let folder = scratch("packed");
    let (lat, lon) = (with_poles(5), longitudes(8, 0.0));
    let path = folder.join("packed.nc");
    let packed: Vec<i16> = (0..40).map(|k| 100 * k - 2000).collect();
    let vars = [
        var("lat", &["lat"], lat),
        var("lon", &["lon"], lon),
        Var {
            data: Data::I16(packed.clone()),
            ..var("orog", &["lat", "lon"], vec![])
        }
        .units("m")
        .with("scale_factor", Attr::F64(0.5))
        .with("add_offset", Attr::F32(3000.0))
        .with("missing_value", Attr::I16([-32767, -32768])),
    ];
    write(&path, None, &[("lat", 5), ("lon", 8)], &vars);
    let (_, field) = read_surface(&path, Some("orog"), &Planet::default()).unwrap();
    let expected: Vec<f64> = packed
        .iter()
        .map(|&k| 0.5 * f64::from(k) + 3000.0)
        .collect();
    assert_eq!(field.rows.iter().copied().collect::<Vec<_>>(), expected);
}
