//! Every file that cannot be used is refused in one line that says what is wrong.

use std::fs;
use std::path::PathBuf;

use pstswm::problem::definition::{HeightFrom, StateFile, VariableNames};
use pstswm::problem::input::{read_state, read_stswm, read_surface};
use pstswm::problem::planet::Planet;

use crate::made::{Attr, Data, Var, var, write};
use crate::support::{Random, scratch};

const NLAT: usize = 5;
const NLON: usize = 8;

struct File {
    path: PathBuf,
    dims: Vec<(&'static str, usize)>,
    vars: Vec<Var>,
    names: VariableNames,
}

impl File {
    /// A good file of constant fields.
    fn new(name: &str) -> Self {
        let lat = (0..NLAT).map(|j| 90.0 - 45.0 * j as f64).collect();
        let lon = (0..NLON).map(|i| 45.0 * i as f64).collect();
        let field = |name, units| var(name, &["lat", "lon"], vec![1.0; NLAT * NLON]).units(units);
        Self {
            path: scratch(name).join("state.nc"),
            dims: vec![("lat", NLAT), ("lon", NLON)],
            vars: vec![
                var("lat", &["lat"], lat).units("degrees_north"),
                var("lon", &["lon"], lon).units("degrees_east"),
                field("h", "m"),
                field("u", "m s-1"),
                field("v", "m s-1"),
            ],
            names: VariableNames::default(),
        }
    }

    fn var(&mut self, name: &str) -> &mut Var {
        self.vars.iter_mut().find(|v| v.name == name).unwrap()
    }

    fn values(&mut self, name: &str) -> &mut Vec<f64> {
        match &mut self.var(name).data {
            Data::F64(list) => list,
            _ => panic!("no doubles"),
        }
    }

    fn read(&self) -> Result<(), String> {
        let file = StateFile {
            path: self.path.clone(),
            time_index: 0,
            height: HeightFrom::Given,
            names: self.names.clone(),
        };
        read_state(&file, &Planet::default())
            .map(|_| ())
            .map_err(|error| {
                assert!(matches!(
                    pstswm::error::Error::from(error.clone()),
                    pstswm::error::Error::Input(_)
                ));
                error.to_string()
            })
    }

    fn refused(&self, words: &[&str]) {
        write(&self.path, None, &self.dims, &self.vars);
        let message = self.read().unwrap_err();
        for word in words.iter().chain(&["state.nc"]) {
            assert!(message.contains(word), "`{word}` is not in: {message}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
}

/// A good file, changed.
fn refused(name: &str, change: impl Fn(&mut File), words: &[&str]) {
    let mut file = File::new(name);
    write(&file.path, None, &file.dims, &file.vars);
    file.read().unwrap();
    change(&mut file);
    file.refused(words);
}

#[test]
fn values() {
    refused(
        "nan",
        |f| f.values("u")[NLON + 2] = f64::NAN,
        &["`u` is NaN at latitude 45.0000, longitude 90.0000"],
    );
    refused(
        "inf",
        |f| f.values("v")[0] = f64::INFINITY,
        &["`v` is inf at latitude 90.0000"],
    );
    refused(
        "fill",
        |f| {
            f.values("h")[NLON * NLAT - 1] = -999.0;
            *f.var("h") = f.var("h").clone().with("missing_value", Attr::F64(-999.0));
        },
        &["`h` has a missing value (-9.99e2) at latitude -90.0000, longitude 315.0000"],
    );
    refused(
        "never",
        |f| f.values("h")[3] = 9.969209968386869e36,
        &["`h` has a missing value"],
    );
}

/// Replaces the units of a variable.
fn with_units(name: &'static str, units: &'static str) -> impl Fn(&mut File) {
    move |f| {
        f.var(name).attrs.clear();
        *f.var(name) = f.var(name).clone().units(units);
    }
}

#[test]
fn units_and_names() {
    refused(
        "knots",
        with_units("u", "knots"),
        &["`u` has units `knots`; allowed are m s-1"],
    );
    refused(
        "kilometres",
        with_units("h", "km"),
        &["`h` has units `km`", "m2 s-2"],
    );
    refused(
        "radians",
        with_units("lat", "radians"),
        &["`lat` has units `radians`", "degrees"],
    );
    refused(
        "no wind",
        |f| f.vars.retain(|v| v.name != "u"),
        &[
            "no eastward wind",
            "its variables are lat, lon, h, v",
            "problem.file.names.u",
        ],
    );
    refused(
        "no latitude",
        |f| f.vars.retain(|v| v.name != "lat"),
        &["no latitude", "its variables are lon, h, u, v"],
    );
    refused(
        "given",
        |f| f.names.h = Some("depth".into()),
        &[
            "no free-surface height",
            "`depth`, given by problem.file.names.h",
            "lat, lon, h, u, v",
        ],
    );
    refused(
        "text",
        |f| f.var("v").data = Data::Text(vec![b'x'; NLAT * NLON]),
        &["`v` holds text"],
    );
    let twice = |f: &mut File| {
        for name in ["h", "u"] {
            *f.var(name) = f.var(name).clone().standard("northward_wind");
        }
        f.var("v").attrs.clear();
    };
    refused(
        "twice",
        twice,
        &["`h`, `u` share the standard name northward_wind", "names.v"],
    );
}

#[test]
fn grids() {
    refused(
        "uneven",
        |f| f.values("lat")[1] = 50.0,
        &[
            "`lat` has 5 latitudes from 90 to -90",
            "neither Gaussian",
            "allowed",
        ],
    );
    refused(
        "region",
        |f| f.values("lon").iter_mut().for_each(|x| *x /= 2.0),
        &["`lon` has 8 longitudes", "full circle", "number 1"],
    );
    refused(
        "closed",
        |f| {
            let n = NLON as f64 - 1.0;
            f.values("lon")
                .iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x = 360.0 * i as f64 / n);
        },
        &[
            "ends with 360, the same meridian as its first, 0",
            "drop the last column",
        ],
    );
    refused(
        "nan lat",
        |f| f.values("lat")[2] = f64::NAN,
        &["`lat` is NaN at index 2"],
    );
    let curvilinear = |f: &mut File| {
        f.var("lat").dims = vec!["lat", "lon"];
        f.var("lat").data = Data::F64(vec![0.0; NLAT * NLON]);
    };
    refused(
        "curvilinear",
        curvilinear,
        &["`lat` has 2 dimensions", "curvilinear"],
    );
    let levels = |f: &mut File| {
        f.dims.push(("plev", 3));
        f.var("u").dims = vec!["plev", "lat", "lon"];
        f.var("u").data = Data::F64(vec![0.0; 3 * NLAT * NLON]);
    };
    refused(
        "levels",
        levels,
        &["`u` has the dimension `plev` of length 3", "ncks -d plev,0"],
    );
    let lacking = |f: &mut File| {
        f.var("u").dims = vec!["lat"];
        f.var("u").data = Data::F64(vec![0.0; NLAT]);
    };
    refused(
        "lacking",
        lacking,
        &["`u` has dimensions (lat) and lacks `lon`"],
    );
    let times = |f: &mut File| {
        f.dims.extend([("time", 2), ("t", 1)]);
        f.var("u").dims = vec!["t", "time", "lat", "lon"];
        f.var("u").data = Data::F64(vec![0.0; 2 * NLAT * NLON]);
    };
    refused("times", times, &["`u` has two time dimensions"]);
}

#[test]
fn files_of_other_kinds() {
    let folder = scratch("kinds");
    let surface = |content: &[u8]| {
        let path = folder.join("state.nc");
        fs::write(&path, content).unwrap();
        read_surface(&path, None, &Planet::default())
            .unwrap_err()
            .to_string()
    };
    assert!(surface(b"GRIB....").contains("is not a NetCDF file (it begins with \"GRIB....\")"));
    assert!(surface(b"").contains("is empty"));
    if !cfg!(feature = "netcdf4") {
        let message = surface(b"\x89HDF\r\n\x1a\nxxxx");
        assert!(message.contains("is a NetCDF-4 (HDF5) file; build with --features netcdf4"));
        assert!(
            message.contains("nccopy -k 'classic' in.nc out.nc"),
            "{message}"
        );
    }
    let absent = read_surface(&folder.join("absent.nc"), None, &Planet::default());
    let message = absent.unwrap_err().to_string();
    assert!(message.contains("absent.nc: No such file"), "{message}");
    let message = read_surface(&folder, None, &Planet::default())
        .unwrap_err()
        .to_string();
    assert!(message.contains("it is a folder"), "{message}");
    let file = File::new("not spectral");
    write(&file.path, None, &file.dims, &file.vars);
    let message = read_stswm(&file.path, 0, &Planet::default())
        .unwrap_err()
        .to_string();
    assert!(message.contains("dimension `complex`"), "{message}");
}

#[test]
fn no_content_panics() {
    let file = File::new("fuzz");
    write(&file.path, None, &file.dims, &file.vars);
    let bytes = fs::read(&file.path).unwrap();
    let begin = bytes.len() - 8 * (3 * NLAT * NLON + NLAT + NLON);
    for cut in (0..begin).chain([begin + 1, bytes.len() - 1]) {
        fs::write(&file.path, &bytes[..cut]).unwrap();
        assert!(file.read().is_err(), "cut at {cut}");
    }
    let mut random = Random(11);
    for position in 0..begin {
        for value in [0xff, 0x7f, bytes[position] ^ 1, random.bits() as u8] {
            let mut damaged = bytes.clone();
            damaged[position] = value;
            fs::write(&file.path, &damaged).unwrap();
            // Changed padding or names do no harm.
            let _ = file.read();
        }
    }
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.bits() % 6 {
            let at = random.bits() as usize % begin;
            damaged[at] = random.bits() as u8;
        }
        fs::write(&file.path, &damaged).unwrap();
        let _ = file.read();
    }
}
