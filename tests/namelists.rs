//! Namelists: the ready ones, those of `init`, and what is said about bad ones.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pstswm::app::init;
use pstswm::decomp::algorithm::FftAlgorithm;
use pstswm::decomp::mesh::{MeshChoice, RankOrder};
use pstswm::exchange::choice::TransposeAlgorithm;
use pstswm::exchange::gather::FLOW_CONTROL;
use pstswm::namelist::reference::{reference_markdown, template};
use pstswm::namelist::{self, Namelist, NamelistError, check_ranks};
use pstswm::problem::definition::{CaseName, HeightFrom, Mountain, Scheme};
use pstswm::swap::order::Order;

fn parse(text: &str) -> Result<Namelist, NamelistError> {
    namelist::parse(text, "bad.toml", Path::new("."), &[])
}

fn with(text: &str, sets: &[&str]) -> Result<Namelist, NamelistError> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    namelist::parse(text, "bad.toml", Path::new("."), &sets)
}

/// A fresh folder with the files that namelists name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    for file in ["analysis.nc", "mountain.nc", "reference.nc"] {
        fs::write(folder.join(file), "").unwrap();
    }
    folder
}

fn same(one: &Namelist, other: &Namelist) {
    assert_eq!(one.problem, other.problem);
    assert_eq!(one.time, other.time);
    assert_eq!(one.algorithm, other.algorithm);
    assert_eq!(one.output, other.output);
    assert_eq!(one.measure, other.measure);
    assert_eq!(one.resolved, other.resolved);
}

fn resolves_to_itself(first: &Namelist, folder: &Path) {
    let again = namelist::parse(&first.resolved, "resolved", folder, &[])
        .unwrap_or_else(|error| panic!("{error}\n{}", first.resolved));
    same(first, &again);
}

#[test]
fn init_texts_load_and_resolve_to_themselves() {
    let folder = folder("init");
    for case in CaseName::ALL {
        let text = init::namelist(case.name()).unwrap();
        let first = namelist::parse(&text, case.name(), &folder, &[])
            .unwrap_or_else(|error| panic!("{}:\n{error}", case.name()));
        assert_eq!(first.problem.case, case);
        resolves_to_itself(&first, &folder);
    }
    let error = init::namelist("galewski").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("did you mean galewsky?"));
}

/// Each commented-out line of a template is right when the comment sign goes.
#[test]
fn commented_lines_of_templates_are_right() {
    let folder = folder("commented");
    for case in CaseName::ALL {
        let lines: Vec<String> = template(case).lines().map(str::to_owned).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((key, _)) = line
                .strip_prefix("# ")
                .and_then(|rest| rest.split_once(" = "))
            else {
                continue;
            };
            if key.contains(' ') {
                continue;
            }
            let mut lines = lines.clone();
            lines[index] = line[2..].to_owned();
            if key == "steps" {
                lines.retain(|line| !line.starts_with("days"));
            }
            let mut sets = Vec::new();
            if key.starts_with("mountain-") {
                sets.push("problem.mountain=file".to_owned());
            }
            if key == "mountain-variable" {
                sets.push("problem.mountain-file=mountain.nc".to_owned());
            }
            if key == "time-index" {
                sets.push("problem.reference.path=reference.nc".to_owned());
            }
            let text = lines.join("\n");
            let first = namelist::parse(&text, case.name(), &folder, &sets)
                .unwrap_or_else(|error| panic!("{error}"));
            resolves_to_itself(&first, &folder);
        }
    }
}

fn ready() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("namelists");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn ready_namelists_load() {
    let files = ready();
    assert!(files.len() >= 8);
    for file in files {
        let namelist = namelist::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        resolves_to_itself(&namelist, file.parent().unwrap());
    }
}

/// Pages and namelists that are made from the table of keys: `UPDATE=1 cargo test` writes them.
#[test]
fn generated_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![("docs/namelist.md".to_owned(), reference_markdown())];
    for case in CaseName::ALL {
        let size = match case {
            CaseName::Williamson7 | CaseName::File => continue,
            CaseName::Galewsky | CaseName::GalewskyBalanced => "t85",
            _ => "t42",
        };
        let name = case
            .name()
            .replace("williamson-", "williamson")
            .replace('-', "_");
        files.push((format!("namelists/{size}_{name}.toml"), template(case)));
    }
    for (file, text) in files {
        let path = root.join(&file);
        if std::env::var_os("UPDATE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{file} is old: run UPDATE=1 cargo test --test namelists"
        );
    }
}

#[test]
fn defaults_are_those_of_the_contract() {
    let namelist = parse("[problem]\ncase = \"williamson-2\"\n").unwrap();
    let problem = &namelist.problem;
    assert_eq!(problem.truncation.mnk(), [42, 42, 42]);
    assert_eq!((problem.nlat, problem.nlon, problem.levels), (64, 128, 1));
    assert_eq!((problem.alpha, problem.steps), (0.0, 360));
    assert_eq!(problem.mountain, Mountain::Flat);
    assert_eq!(namelist.time.dt, 1200.0);
    assert_eq!(namelist.time.scheme, Scheme::SemiImplicit);
    assert_eq!((namelist.time.asselin, namelist.time.williams), (0.0, 1.0));
    assert_eq!(
        (namelist.time.diffusion, namelist.time.diffusion_order),
        (0.0, 4)
    );
    assert_eq!(namelist.algorithm.mesh, MeshChoice::Auto);
    assert_eq!(namelist.algorithm.rank_order, RankOrder::Row);
    assert_eq!(namelist.algorithm.fft, FftAlgorithm::DoubleTranspose);
    assert_eq!(namelist.algorithm.gather, FLOW_CONTROL);
    assert_eq!(
        (
            namelist.output.every_steps,
            namelist.output.checkpoint_steps
        ),
        (72, 72)
    );
    assert_eq!(namelist.output.samples_per_file, 8);
    assert_eq!((namelist.measure.warmup, namelist.measure.seed), (3, 1));

    let advection = parse("[problem]\ncase = \"williamson-1\"\n").unwrap();
    assert_eq!(advection.time.scheme, Scheme::Explicit);
    let mountain = parse("problem.case = \"williamson-5\"\n").unwrap();
    assert_eq!(mountain.problem.mountain, Mountain::Cone);
    assert_eq!(mountain.problem.u0, 20.0);
    // A step that does not divide a day, with the interval of output left alone.
    let odd = with(
        "problem.case = \"williamson-2\"",
        &["problem.steps=10", "time.dt=7"],
    )
    .unwrap();
    assert_eq!(odd.output.every_steps, 12343);
    resolves_to_itself(&odd, Path::new("."));
}

#[test]
fn stages_override_the_general_keys() {
    let text = "problem.case = \"williamson-6\"\nproblem.alpha = 0\n[algorithm]\nfft = \"single-transpose\"\n\
        transpose = \"logarithmic\"\nprotocol = 3\norder = \"simple\"\nmax-requests = 8\nbarrier = true\nmesh = [2, 3]\n\
        [algorithm.legendre-transpose]\ntranspose = \"send-recv\"\norder = \"ordered\"\n\
        protocol = \"blocking\"\n[algorithm.legendre-sum]\nsum = \"ring\"\n";
    let namelist = parse(text).unwrap();
    let algorithm = &namelist.algorithm;
    assert_eq!(algorithm.fft, FftAlgorithm::SingleTranspose);
    assert_eq!(algorithm.fft_transpose.order, Order::Simple);
    assert_eq!(algorithm.fft_transpose.protocol.name(), "nonblocking");
    assert_eq!(
        algorithm.fft_transpose.transpose,
        TransposeAlgorithm::Logarithmic
    );
    assert_eq!(
        algorithm.legendre_transpose.transpose,
        TransposeAlgorithm::SendRecv
    );
    assert_eq!(algorithm.legendre_transpose.protocol.name(), "blocking");
    assert_eq!(algorithm.legendre_transpose.max_requests, 8);
    // Gathers have keys of their own.
    assert_eq!(algorithm.gather, FLOW_CONTROL);
    assert!(
        namelist
            .resolved
            .contains("[algorithm.legendre-sum]\ntranspose = \"logarithmic\"\nsum = \"ring\"")
    );
    resolves_to_itself(&namelist, Path::new("."));

    assert_eq!(
        check_ranks(&namelist, 6).unwrap().map(|mesh| mesh.ranks()),
        Some(6)
    );
    let error = check_ranks(&namelist, 4).unwrap_err().to_string();
    for part in [
        "bad.toml:10:8: algorithm.mesh = [2, 3]",
        "6 ranks",
        "[1, 4], [2, 2], [4, 1]",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let auto = with(text, &["algorithm.mesh=auto"]).unwrap();
    assert_eq!(check_ranks(&auto, 4).unwrap(), None);
}

#[test]
fn overrides() {
    let text = "[problem]\ncase = \"williamson-2\"\ndays = 5\nlevels = \"bad\"\n";
    let sets = [
        "problem.levels=4",
        "problem.steps=7",
        "time.scheme=rk4",
        "output.points=[[1,2]]",
        "problem.levels = 5",
    ];
    let namelist = with(text, &sets).unwrap();
    assert_eq!((namelist.problem.levels, namelist.problem.steps), (5, 7));
    assert_eq!(namelist.time.scheme, Scheme::Rk4);
    assert_eq!(namelist.output.points, [(1.0, 2.0)]);
    assert!(
        namelist
            .at("problem.levels")
            .starts_with("--set problem.levels = 5")
    );
    assert_eq!(
        namelist.at("problem.nlat"),
        "bad.toml: problem.nlat (default)"
    );

    let error = with(text, &["problem.levels=0", "nonsense", "time.dt=fast"]).unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.problems().len(), 3, "{shown}");
    for part in [
        "--set problem.levels=0: problem.levels = 0: must be a whole number from 1 to 10000",
        "--set nonsense: an override is written table.key=value",
        "--set time.dt=fast: time.dt = fast: must be a number greater than 0 (s), not text",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn files_are_found_beside_the_namelist() {
    let folder = folder("files");
    let text = "[problem]\ncase = \"file\"\nmountain = \"file\"\nmountain-file = \"mountain.nc\"\n\
        [problem.file]\npath = \"analysis.nc\"\ntime-index = 2\nheight = \"balanced\"\n\
        names = { u = \"U\", v = \"V\" }\n[problem.reference]\npath = \"reference.nc\"\n";
    let path = folder.join("case.toml");
    fs::write(&path, text).unwrap();
    let namelist = namelist::load(&path, &[]).unwrap();
    let file = namelist.problem.file.as_ref().unwrap();
    assert_eq!(file.path, folder.join("analysis.nc"));
    assert_eq!((file.time_index, file.height), (2, HeightFrom::Balanced));
    assert_eq!(file.names.u.as_deref(), Some("U"));
    assert!(namelist.problem.reference.is_some());
    resolves_to_itself(&namelist, &folder);

    let gone = text
        .replace("analysis.nc", "gone.nc")
        .replace("mountain.nc", ".");
    fs::write(&path, gone).unwrap();
    let shown = namelist::load(&path, &[]).unwrap_err().to_string();
    assert!(
        shown.contains("case.toml:6:8: problem.file.path = \"gone.nc\": cannot open"),
        "{shown}"
    );
    assert!(
        shown.contains("case.toml:4:17: problem.mountain-file = \".\""),
        "{shown}"
    );
}

#[test]
fn unreadable_files() {
    let folder = folder("unreadable");
    let path = folder.join("n.toml");
    let refused = |path: &Path| namelist::load(path, &[]).unwrap_err().to_string();
    assert!(refused(&folder).contains("is a folder"));
    assert!(refused(&folder.join("none.toml")).contains("none.toml: cannot read the namelist"));
    fs::write(&path, b"[problem]\ncase = \"\xff\"\n").unwrap();
    assert!(refused(&path).contains("line 2: not UTF-8"));
    fs::write(&path, "  \n").unwrap();
    assert!(
        refused(&path)
            .contains("problem.case: nothing is set; a namelist needs at least [problem]")
    );
    fs::write(
        &path,
        "\u{feff}[problem]\r\ncase = \"williamson-2\"\r\nlevels = 2\r\n",
    )
    .unwrap();
    assert_eq!(namelist::load(&path, &[]).unwrap().problem.levels, 2);
    fs::write(
        &path,
        "[problem]\r\ncase = \"williamson-2\"\r\nlevels = 2.5\r\n",
    )
    .unwrap();
    let shown = refused(&path);
    assert!(
        shown.contains("n.toml:3:10: problem.levels = 2.5"),
        "{shown}"
    );
    assert!(
        shown.ends_with("  3 | levels = 2.5\n    |          ^^^"),
        "{shown}"
    );
}

/// Case, lines after `[problem]` and `case = ...`, and what must be said about them.
#[rustfmt::skip]
const BAD: &[(&str, &str, &[&str])] = &[
    ("wiliamson-2", "",
        &["bad.toml:2:8: problem.case = \"wiliamson-2\"", "did you mean \"williamson-2\"?", "\"galewsky\""]),
    ("williamson-2", "levles = 3", &["bad.toml:3:1: problem.levles: unknown key; did you mean `levels`?"]),
    ("williamson-2", "dt = 3", &["bad.toml:3:1: problem.dt: unknown key here; `dt` belongs in [time]"]),
    ("williamson-2", "[outptu]\nformat = \"classic\"",
        &["bad.toml:3:2: outptu: unknown table; did you mean [output]?"]),
    ("williamson-2", "[time]\ndt = 1200\ndt = 600", &["bad.toml:5:1: this is no TOML", "duplicate key"]),
    ("williamson-2", "levels = ", &["bad.toml:3:", "this is no TOML"]),
    ("williamson-2", "levels = 2.0", &["problem.levels = 2.0: must be a whole number from 1 to 10000, not a number"]),
    ("williamson-2", "levels = \"2\"", &["problem.levels = \"2\"", "not text"]),
    ("williamson-2", "levels = 0", &["problem.levels = 0: must be a whole number from 1 to 10000"]),
    ("williamson-2", "levels = 99999999999999999999", &["problem.levels = 99999999999999999999: must be"]),
    ("williamson-2", "levels = [1]", &["problem.levels = [1]", "not a list"]),
    ("williamson-2", "planet = 3", &["bad.toml:3:10: problem.planet = 3: this is a table: write [problem.planet]"]),
    ("williamson-2", "[problem.levels]\na = 1", &["problem.levels", "not a table"]),
    ("williamson-2", "[[problem.planet]]\nradius = 1", &["this is a table"]),
    ("williamson-2", "truncation = 0",
        &["problem.truncation = 0: must be a whole number from 1 to 4095, or [M, N, K]"]),
    ("williamson-2", "truncation = [42, 42, 100]", &["problem.truncation = [42, 42, 100]", "K <= M + N"]),
    ("williamson-2", "truncation = [42, 42]", &["problem.truncation = [42, 42]: must be"]),
    ("williamson-2", "truncation = 85", &["bad.toml: time.dt: missing: must be given in s above T42"]),
    ("williamson-2", "nlat = 63", &["problem.nlat = 63: T42 aliases; at least 64"]),
    ("williamson-2", "nlat = 65", &["problem.nlat = 65: must be even, such as 66"]),
    ("williamson-2", "nlon = 120", &["problem.nlon = 120: T42 aliases; at least 127"]),
    ("williamson-2", "nlon = 130", &["problem.nlon = 130: must be a product of 2, 3 and 5, such as 135"]),
    ("williamson-2", "days = 5\nsteps = 3",
        &["bad.toml:4:9: problem.steps = 3: the length is given twice: either days or steps"]),
    ("williamson-2", "days = 1.001", &["problem.days = 1.001", "nearest dt:", "(72 steps) or", "(73 steps)"]),
    ("williamson-2", "days = -1", &["problem.days = -1: must be a number greater than 0"]),
    ("williamson-2", "days = 1e300", &["problem.days = 1e300", "too many steps"]),
    ("williamson-2", "phibar = inf", &["problem.phibar = inf: must be a number greater than 0 (m2/s2)"]),
    ("williamson-2", "alpha = nan", &["problem.alpha = nan: must be any finite number (radians)"]),
    ("williamson-2", "u0 = 20",
        &["problem.u0 = 20: williamson-2 has no such key; it is for williamson-4, williamson-5"]),
    ("williamson-2", "mountain = \"cone\"", &["problem.mountain = \"cone\": williamson-2 has no such key"]),
    ("williamson-2", "[problem.file]\npath = \"a.nc\"",
        &["problem.file.path = \"a.nc\": williamson-2 has no such key; it is for williamson-7, file"]),
    ("williamson-2", "[problem.planet]\nradius = 0",
        &["problem.planet.radius = 0: must be a number greater than 0 (m)"]),
    ("williamson-4", "[problem.planet]\nomega = 0", &["problem.planet.omega = 0: williamson-4 needs rotation"]),
    ("williamson-5", "alpha = 0.1",
        &["problem.alpha = 0.1: williamson-5 has no such key; it is for williamson-1, williamson-2, williamson-3"]),
    ("williamson-5", "mountain = \"none\"", &["problem.mountain = \"none\": williamson-5 has a mountain"]),
    ("williamson-5", "mountain = \"file\"", &["problem.mountain-file: missing"]),
    ("williamson-5", "mountain-variable = \"z\"",
        &["problem.mountain-variable = \"z\": goes with mountain = \"file\" only"]),
    ("williamson-5", "reference.time-index = 1", &["problem.reference.path: missing"]),
    ("williamson-7", "", &["problem.file.path: missing: williamson-7 starts from a file"]),
    ("file", "[problem.file]\npath = \"gone.nc\"",
        &["bad.toml:4:8: problem.file.path = \"gone.nc\": cannot open ./gone.nc"]),
    ("williamson-1", "[time]\nscheme = \"semi-implicit\"",
        &["bad.toml:4:10: time.scheme = \"semi-implicit\": williamson-1", "\"explicit\" or \"rk4\""]),
    ("williamson-2", "[time]\nscheme = \"rk3\"", &["time.scheme = \"rk3\": did you mean \"rk4\"?"]),
    ("williamson-2", "[time]\ndt = -1", &["time.dt = -1: must be a number greater than 0 (s)"]),
    ("williamson-2", "[time]\nasselin = 1.0", &["time.asselin = 1.0: must be a number, at least 0 and less than 1"]),
    ("williamson-2", "[time]\nwilliams = 1.1", &["time.williams = 1.1: must be a number from 0 to 1"]),
    ("williamson-2", "[time]\ndiffusion-order = 5", &["time.diffusion-order = 5: must be one of 4, 6, 8"]),
    ("williamson-2", "[time]\nlaplacian = -1e5", &["time.laplacian = -1e5: must be a number, at least 0 (m2/s)"]),
    ("williamson-2", "[algorithm]\nmesh = [0, 2]",
        &["algorithm.mesh = [0, 2]: must be [PX, PY], both at least 1, or \"auto\""]),
    ("williamson-2", "[algorithm]\nfft = \"butterfly\"",
        &["algorithm.fft = \"butterfly\": must be one of \"distributed\", "]),
    ("williamson-2", "[algorithm]\nlegendre = \"sum\"",
        &["algorithm.legendre = \"sum\": must be one of "]),
    ("williamson-2", "[algorithm.gather]\nprotocol = 0",
        &["algorithm.gather.protocol = 0: protocol \"blocking\" with order \"simple\""]),
    ("williamson-2", "[algorithm.gather]\nengine = \"alltoallv\"",
        &["algorithm.gather.engine: unknown key; [algorithm.gather] has order, protocol, handshake, max-requests, overlap"]),
    ("williamson-2", "[algorithm.gather]\ntranspose = \"swap\"",
        &["algorithm.gather.transpose: unknown key; [algorithm.gather] has order"]),
    ("williamson-2", "[algorithm.gather]\nsum = \"recursive-halving\"", &["algorithm.gather.sum: unknown key; [algorithm.gather] has order"]),
    ("williamson-2", "[algorithm]\nengine = \"alltoallv\"\ntranspose = \"swap\"",
        &["bad.toml:5:13: algorithm.transpose = \"swap\": transpose = \"swap\" is made of messages", "leave one of the two out"]),
    ("williamson-2", "[algorithm]\nengine = \"alltoallv\"\n[algorithm.fft-transpose]\ntranspose = \"send-recv\"",
        &["algorithm.fft-transpose.transpose = \"send-recv\"", "engine = \"alltoallv\" moves all in one go"]),
    ("williamson-2", "[algorithm]\ntranspose = \"logarithmic\"\nengine = \"alltoallv\"",
        &["algorithm.transpose = \"logarithmic\": transpose = \"logarithmic\" is made of messages", "leave one of the two out"]),
    ("williamson-2", "[algorithm]\ntranspose = \"collective\"",
        &["algorithm.transpose = \"collective\"", "is done by an engine", "for example \"alltoallv\""]),
    ("williamson-2", "[algorithm]\nprotocol = 11",
        &["algorithm.protocol = 11: must be the number or the name", "10 \"blocking-synchronous\""]),
    ("williamson-2", "[algorithm]\nprotocol = \"nonblockin\"", &["did you mean \"nonblocking\"?"]),
    ("williamson-2", "[algorithm]\nprotocol = 0\norder = \"simple\"",
        &["bad.toml:4:12: algorithm.protocol = 0: protocol \"blocking\" with order \"simple\"", "legal orders of this protocol: ordered"]),
    ("williamson-2", "[algorithm]\nprotocol = 10\n[algorithm.fft-transpose]\norder = \"delayed\"",
        &["bad.toml:6:9: algorithm.fft-transpose.order = \"delayed\": protocol \"blocking-synchronous\""]),
    ("williamson-2", "[algorithm]\nhandshake = 1",
        &["algorithm.handshake = 1: must be true, false, not a whole number"]),
    ("williamson-2", "[algorithm]\neager-limit = -1", &["algorithm.eager-limit = -1: must be"]),
    ("williamson-2", "[output]\nevery-hours = 0.1", &["output.every-hours = 0.1", "nearest dt: 360 s (1 steps)"]),
    ("williamson-2", "[output]\ncheckpoint-hours = 1.1", &["output.checkpoint-hours = 1.1"]),
    ("williamson-2", "[output]\ndirectory = \"\"", &["output.directory = \"\": must not be empty"]),
    ("williamson-2", "[output]\npoints = [[91, 0]]", &["latitude 91 of point 1 must be from -90 to 90"]),
    ("williamson-2", "[output]\npoints = [[1, 2], [3, 361]]", &["longitude 361 of point 2 must be from -180 to 360"]),
    ("williamson-2", "[output]\npoints = [1, 2]", &["point 1 must be [latitude, longitude]"]),
    ("williamson-2", "[measure]\nwarmup = -1", &["measure.warmup = -1: must be"]),
];

#[test]
fn bad_namelists() {
    let mut wrong = Vec::new();
    for (case, lines, parts) in BAD {
        let text = format!("[problem]\ncase = \"{case}\"\n{lines}\n");
        let shown = match parse(&text) {
            Ok(_) => "accepted".to_owned(),
            Err(error) if error.problems().len() == 1 => error.to_string(),
            Err(error) => format!("not one problem:\n{error}"),
        };
        let lacks: Vec<&&str> = parts
            .iter()
            .filter(|part| !shown.contains(**part))
            .collect();
        if !lacks.is_empty() || shown.starts_with("not one") {
            wrong.push(format!("{text}{shown}\nlacks {lacks:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_problems_at_once() {
    let text = "[problem]\ncase = \"williamson-2\"\nlevels = 0\nnlat = 10\n[time]\ndt = nan\n\
        [algorithm]\nmesh = \"big\"\n[plots]\n";
    let error = parse(text).unwrap_err();
    let at: Vec<&str> = error
        .problems()
        .iter()
        .map(|problem| problem.at.as_str())
        .collect();
    let wanted = [
        "bad.toml:3:10",
        "bad.toml:4:8",
        "bad.toml:6:6",
        "bad.toml:8:8",
        "bad.toml:9:2",
    ];
    assert_eq!(at, wanted);
}

#[cfg(not(feature = "netcdf4"))]
#[test]
fn netcdf4_needs_its_feature() {
    let text = "problem.case = \"williamson-2\"\noutput.format = \"netcdf4\"\n";
    let shown = parse(text).unwrap_err().to_string();
    assert!(
        shown.contains("rebuild with `--features netcdf4`"),
        "{shown}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_answered(text in "\\PC*|[\\[\\]a-z=\\.\"\n\r\t{},0-9é-]{0,200}", set in "\\PC{0,40}") {
        let _ = with(&text, &[set.as_str()]).map_err(|error| error.to_string());
    }

    /// A template with a piece replaced by something else.
    #[test]
    fn mutated_namelists_are_answered(
        case in 0..CaseName::ALL.len(),
        at in 0.0..1.0_f64,
        length in 0..30_usize,
        piece in "\\PC{0,8}|[\\[\\]=\\.\"\n{},0-9e-]{0,8}",
    ) {
        let text = template(CaseName::ALL[case]);
        let characters: Vec<char> = text.chars().collect();
        let from = (at * characters.len() as f64) as usize;
        let to = (from + length).min(characters.len());
        let mutated: String = characters[..from].iter().copied()
            .chain(piece.chars())
            .chain(characters[to..].iter().copied())
            .collect();
        let _ = parse(&mutated).map_err(|error| error.to_string());
    }

    /// One value of a template replaced: either refused, or it resolves to itself.
    #[test]
    fn values_are_refused_or_kept(
        line in 0..200_usize,
        value in "-?[0-9]{1,6}|[0-9]{1,3}\\.[0-9]{1,3}|\"[a-z0-9-]{0,12}\"|true|nan|\\[[0-9]{1,3}, [0-9]{1,3}\\]|1e400|-0.0",
    ) {
        let text = template(CaseName::Williamson5);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let chosen = line % lines.len();
        let changed: Vec<String> = lines.iter().enumerate().map(|(index, line)| {
            match line.split_once(" = ") {
                Some((key, _)) if index == chosen => format!("{key} = {value}"),
                _ => (*line).to_owned(),
            }
        }).collect();
        if let Ok(namelist) = parse(&changed.join("\n")) {
            resolves_to_itself(&namelist, Path::new("."));
        }
    }
}
