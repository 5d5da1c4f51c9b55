//! Namelists and files that cannot be run.

use netcdf3::{DataSet, FileWriter, Version};

use super::common::Folder;
use super::{go, quick, refused, refused_in_a_line};

#[test]
fn one_bad_key() {
    let folder = Folder::new("keys");
    quick(&folder, "");
    for (set, said) in [
        ("problem.levls=3", ["levls", "levels"]),
        (
            "problem.levels=\"three\"",
            ["problem.levels", "whole number"],
        ),
        ("problem.levels=0", ["problem.levels", "1 to 10000"]),
        ("problem.levels=-1", ["problem.levels", "-1"]),
        ("problem.truncation=0", ["problem.truncation", "1 to 4095"]),
        (
            "problem.truncation=[10,20,5]",
            ["problem.truncation", "K >= N"],
        ),
        (
            "problem.case=\"williamson-9\"",
            ["problem.case", "williamson-6"],
        ),
        ("problem.nlat=17", ["problem.nlat", "even"]),
        ("problem.nlat=12", ["problem.nlat", "16"]),
        ("problem.nlon=34", ["problem.nlon", "2, 3 and 5"]),
        ("problem.alpha=0.5", ["problem.alpha", "williamson"]),
        ("time.dt=0", ["time.dt", "greater than 0"]),
        ("time.dt=nan", ["time.dt", "nan"]),
        ("time.dt=-inf", ["time.dt", "inf"]),
        ("time.scheme=\"euler\"", ["time.scheme", "rk4"]),
        (
            "time.diffusion-order=5",
            ["time.diffusion-order", "4, 6, 8"],
        ),
        (
            "algorithm.fft=\"butterfly\"",
            ["algorithm.fft", "double-transpose"],
        ),
        ("algorithm.mesh=[0,1]", ["algorithm.mesh", "at least 1"]),
        ("output.format=\"zarr\"", ["output.format", "classic"]),
        ("output.points=[[91,0]]", ["output.points", "91"]),
        ("nonsense", ["nonsense", "table.key"]),
    ] {
        refused(&folder, &format!("run n.toml --set {set}"), &said);
    }
    let simple =
        "run n.toml --set algorithm.order=\"simple\" --set algorithm.protocol=\"blocking\"";
    refused(&folder, simple, &["blocking", "ordered"]);
    let one = "run n.toml --set problem.case=\"williamson-1\" --set time.scheme=\"semi-implicit\"";
    refused(&folder, one, &["time.scheme", "explicit"]);
}

#[test]
fn all_problems_at_once_with_their_lines() {
    let folder = Folder::new("many");
    folder.file(
        "n.toml",
        "[problem]\ncase = \"williamson-6\"\ntruncation = \"ten\"\nsteps = 0\nlevles = 3\n\
         [time]\ndt = -5.0\n[outptu]\ndirectory = \"x\"\n",
    );
    let outcome = refused(&folder, "run n.toml", &[]);
    for (line, word) in [
        (3, "truncation"),
        (4, "steps"),
        (5, "levles"),
        (7, "dt"),
        (8, "outptu"),
    ] {
        let place = format!("n.toml:{line}");
        assert!(
            outcome
                .stderr
                .lines()
                .any(|l| l.contains(&place) && l.contains(word)),
            "{place} {word}:\n{}",
            outcome.stderr
        );
    }
}

#[test]
fn no_namelist() {
    let folder = Folder::new("none");
    folder.file("binary.toml", [0x80u8, 0xff, 0, 1]);
    folder.file("broken.toml", "[problem\ncase = 3");
    folder.file("empty.toml", "");
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    refused_in_a_line(
        &folder,
        "run missing.toml",
        &["missing.toml", "No such file"],
    );
    refused_in_a_line(&folder, "run folder", &["folder"]);
    refused_in_a_line(&folder, "run binary.toml", &["binary.toml", "UTF-8"]);
    refused(&folder, "run broken.toml", &["broken.toml:1"]);
    refused(&folder, "run empty.toml", &["problem.case"]);
}

#[test]
fn a_mesh_that_does_not_fit() {
    let folder = Folder::new("mesh");
    quick(&folder, "");
    refused_in_a_line(
        &folder,
        "run n.toml --ranks 6 --set algorithm.mesh=[2,2]",
        &[
            "algorithm.mesh",
            "[2, 2]",
            "needs 4 ranks, this run has 6",
            "[2, 3]",
            "[6, 1]",
        ],
    );
}

#[test]
fn options_that_point_nowhere() {
    let folder = Folder::new("nowhere");
    quick(&folder, "");
    refused_in_a_line(&folder, "run n.toml --json no/such/r.json", &["no/such"]);
    refused_in_a_line(&folder, "run n.toml --csv no/such/r.csv", &["no/such"]);
    refused_in_a_line(&folder, "run n.toml --restart no.nc", &["no.nc"]);
    for words in ["--json n.toml", "--csv n.toml", "--json r --csv r"] {
        refused_in_a_line(
            &folder,
            &format!("run n.toml {words}"),
            &["a file of its own"],
        );
    }
    std::fs::create_dir(folder.0.join("results")).unwrap();
    refused_in_a_line(&folder, "run n.toml --json results", &["results"]);
}

#[test]
fn folders_in_use_and_folders_that_are_none() {
    let folder = Folder::new("folders");
    quick(&folder, "samples-per-file = 1\ncheckpoint-hours = 0");
    assert_eq!(go(&folder, "run n.toml").code, 0);
    let before = std::fs::read(folder.0.join("out/history_0001.nc")).unwrap();
    refused_in_a_line(
        &folder,
        "run n.toml",
        &["output.directory", "history_0001.nc"],
    );
    assert_eq!(
        std::fs::read(folder.0.join("out/history_0001.nc")).unwrap(),
        before
    );
    let file = "run n.toml --set output.directory=\"n.toml/deep\"";
    refused_in_a_line(&folder, file, &["output.directory", "not a folder"]);
}

/// A 32 x 16 state on a regular grid: zonal wind in balance with nothing in particular.
fn state_file(folder: &Folder, name: &str, change: impl Fn(&mut Vec<f64>), omit: &str) {
    let (nlat, nlon) = (33, 64);
    let lat: Vec<f64> = (0..nlat)
        .map(|j| 90.0 - 180.0 * j as f64 / (nlat - 1) as f64)
        .collect();
    let lon: Vec<f64> = (0..nlon).map(|i| 360.0 * i as f64 / nlon as f64).collect();
    let field = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
        lat.iter()
            .flat_map(|lat| vec![value(lat.to_radians()); nlon])
            .collect()
    };
    let mut h = field(&|lat| 5000.0 - 1000.0 * lat.sin() * lat.sin());
    change(&mut h);
    let u = field(&|lat| 20.0 * lat.cos());
    let v = field(&|_| 0.0);
    let mut set = DataSet::new();
    set.add_fixed_dim("lat", nlat).unwrap();
    set.add_fixed_dim("lon", nlon).unwrap();
    let all = [
        ("lat", vec!["lat"], lat.clone(), "degrees_north"),
        ("lon", vec!["lon"], lon, "degrees_east"),
        ("h", vec!["lat", "lon"], h, "m"),
        ("u", vec!["lat", "lon"], u, "m s-1"),
        ("v", vec!["lat", "lon"], v, "m s-1"),
    ];
    let kept: Vec<_> = all.into_iter().filter(|(name, ..)| *name != omit).collect();
    for (name, dims, _, units) in &kept {
        set.add_var_f64(name, dims).unwrap();
        set.add_var_attr_string(name, "units", *units).unwrap();
    }
    let mut writer = FileWriter::open(folder.0.join(name)).unwrap();
    writer.set_def(&set, Version::Classic, 0).unwrap();
    for (name, _, values, _) in &kept {
        writer.write_var_f64(name, values).unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn states_from_files() {
    let folder = Folder::new("states");
    let namelist = |file: &str| {
        folder.file(
            "n.toml",
            format!(
                "[problem]\ncase = \"file\"\ntruncation = 10\nsteps = 2\n[problem.file]\n\
                 path = \"{file}\"\nnames = {{ h = \"h\", u = \"u\", v = \"v\" }}\n[time]\n\
                 dt = 600.0\n[output]\nsamples-per-file = 0\ncheckpoint-hours = 0\n"
            ),
        );
    };
    namelist("good.nc");
    state_file(&folder, "good.nc", |_| (), "");
    state_file(&folder, "nan.nc", |h| h[5 * 64 + 3] = f64::NAN, "");
    state_file(
        &folder,
        "low.nc",
        |h| h.iter_mut().for_each(|h| *h -= 4500.0),
        "",
    );
    state_file(&folder, "no-v.nc", |_| (), "v");
    folder.file("text.nc", "not a NetCDF file\n");
    let good = std::fs::read(folder.0.join("good.nc")).unwrap();
    folder.file("half.nc", &good[..good.len() / 2]);
    folder.file("hdf.nc", b"\x89HDF\r\n\x1a\n and so on");
    for ranks in [1, 3] {
        let words = format!("run n.toml --ranks {ranks}");
        namelist("good.nc");
        let outcome = go(&folder, &words);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        for (file, said) in [
            ("nan.nc", ["nan.nc", "`h`"]),
            ("low.nc", ["h - h_s", "positive"]),
            ("no-v.nc", ["no-v.nc", "`v`"]),
            ("text.nc", ["text.nc", "NetCDF"]),
            ("half.nc", ["half.nc", "problem.file.path"]),
            ("hdf.nc", ["hdf.nc", "netcdf4"]),
        ] {
            namelist(file);
            refused_in_a_line(&folder, &words, &said);
        }
    }
    namelist("missing.nc");
    refused(
        &folder,
        "run n.toml",
        &["n.toml:6", "problem.file.path", "missing.nc"],
    );
    namelist("good.nc");
    let index = "run n.toml --set problem.file.time-index=3";
    refused_in_a_line(&folder, index, &["time"]);
}
