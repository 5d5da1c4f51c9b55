//! The table of keys: what a namelist may say. The checks, the defaults, the commented namelists
//! and the reference page all read it; a new key is a new row.

use std::sync::LazyLock;

use super::choices::{self, Choice};
use crate::problem::definition::CaseName::{
    self, File, Williamson1, Williamson2, Williamson3, Williamson4, Williamson5, Williamson7,
};

/// What a key may hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A finite number.
    Number(Bound),
    /// A whole number between two, both included.
    Whole(i64, i64),
    /// One of some whole numbers.
    OneOf(&'static [i64]),
    /// true or false.
    Flag,
    /// One of some names.
    Name(&'static [Choice]),
    /// A protocol's name or number.
    Protocol,
    /// Words.
    Text,
    /// An existing file, relative to the namelist's folder.
    Path,
    /// N or [M, N, K].
    Truncation,
    /// [PX, PY] or "auto".
    Mesh,
    /// [[latitude, longitude], ...] in degrees.
    Points,
}

/// A range of numbers.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Any finite number.
    Any,
    /// More than 0.
    Positive,
    /// At least 0.
    NotNegative,
    /// At least 0, less than 1.
    Fraction,
    /// From 0 to 1.
    Unit,
}

impl Bound {
    /// Whether a finite number lies in the range.
    pub fn holds(self, number: f64) -> bool {
        match self {
            Self::Any => true,
            Self::Positive => number > 0.0,
            Self::NotNegative => number >= 0.0,
            Self::Fraction => (0.0..1.0).contains(&number),
            Self::Unit => (0.0..=1.0).contains(&number),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "any finite number",
            Self::Positive => "a number greater than 0",
            Self::NotNegative => "a number, at least 0",
            Self::Fraction => "a number, at least 0 and less than 1",
            Self::Unit => "a number from 0 to 1",
        }
    }
}

/// What stands for the default of a key that must be given.
pub const MUST: &str = "must be given";

/// Largest wavenumber of a truncation.
pub const MAX_TRUNCATION: i64 = 4095;

impl Kind {
    /// What is allowed, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Number(bound) => bound.words().to_owned(),
            Self::Whole(low, i64::MAX) => format!("a whole number, at least {low}"),
            Self::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Self::OneOf(numbers) => numbers
                .iter()
                .map(i64::to_string)
                .collect::<Vec<_>>()
                .join(", "),
            Self::Flag => "true, false".to_owned(),
            Self::Name(names) => choices::available(names),
            Self::Protocol => "the name or the number (0 to 10) of a protocol".to_owned(),
            Self::Text => "words in quotes".to_owned(),
            Self::Path => "the path of an existing file, in quotes".to_owned(),
            Self::Truncation => format!(
                "a whole number from 1 to {MAX_TRUNCATION}, or [M, N, K] with K >= N, K >= M, \
                 K <= M + N"
            ),
            Self::Mesh => "[PX, PY], both at least 1, or \"auto\"".to_owned(),
            Self::Points => {
                "[[latitude, longitude], ...] in degrees, -90 to 90 and -180 to 360".to_owned()
            }
        }
    }

    /// The type, in a word.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Whole(..) | Self::OneOf(_) => "whole number",
            Self::Flag => "true/false",
            Self::Name(_) => "name",
            Self::Protocol => "name or number",
            Self::Text => "text",
            Self::Path => "path",
            Self::Truncation => "whole number or list",
            Self::Mesh => "list or name",
            Self::Points => "list of pairs",
        }
    }
}

/// One key of the namelist.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its table.
    pub table: &'static str,
    /// Its name in the table.
    pub name: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// Its unit; empty: none.
    pub unit: &'static str,
    /// Its default in TOML; empty: none, or one that `otherwise` describes.
    pub default: &'static str,
    /// What holds when the key is absent and has no fixed default.
    pub otherwise: &'static str,
    /// The cases that have this key; empty: all.
    pub only: &'static [CaseName],
    /// What it means.
    pub about: &'static str,
}

impl Key {
    /// `table.key`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }

    /// Whether a case has this key.
    pub fn applies_to(&self, case: CaseName) -> bool {
        self.only.is_empty() || self.only.contains(&case)
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    const fn or(self, otherwise: &'static str) -> Self {
        Self { otherwise, ..self }
    }

    const fn only(self, only: &'static [CaseName]) -> Self {
        Self { only, ..self }
    }
}

const fn key(
    table: &'static str,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key {
        table,
        name,
        kind,
        unit: "",
        default,
        otherwise: "",
        only: &[],
        about,
    }
}

/// The cases whose start comes from a file.
pub const FROM_FILE: &[CaseName] = &[Williamson7, File];
const WITH_MOUNTAIN: &[CaseName] = &[Williamson5, Williamson7, File];
const NO_EXACT: &[CaseName] = &[
    Williamson5,
    CaseName::Williamson6,
    Williamson7,
    CaseName::Galewsky,
    File,
];

const NAMES: &str = "problem.file.names";

#[rustfmt::skip]
const PROBLEM: &[Key] = &[
    key("problem", "case", Kind::Name(choices::CASES), "", "The test case.")
        .or(MUST),
    key("problem", "alpha", Kind::Number(Bound::Any), "0.0",
        "Angle between the axis of the flow and of the planet.")
        .unit("radians").only(&[Williamson1, Williamson2, Williamson3]),
    key("problem", "truncation", Kind::Truncation, "42",
        "Spectral truncation: N for triangular TN, [M, N, K] for a pentagon.")
        .unit("wavenumber"),
    key("problem", "nlat", Kind::Whole(2, 16384), "",
        "Gaussian latitudes: even, at least (3 K + 1)/2.")
        .or("the smallest grid without aliasing"),
    key("problem", "nlon", Kind::Whole(4, 32768), "",
        "Longitudes: a product of 2, 3 and 5, at least 3 M + 1.")
        .or("the smallest grid without aliasing"),
    key("problem", "levels", Kind::Whole(1, 10_000), "1",
        "Independent copies of the problem: the work and the messages of a model with that many levels."),
    key("problem", "days", Kind::Number(Bound::Positive), "5.0",
        "Length of the run: a multiple of dt. Instead of steps.")
        .unit("days of 86400 s"),
    key("problem", "steps", Kind::Whole(1, 1_000_000_000_000), "",
        "Length of the run in time steps. Instead of days.").or("given by days"),
    key("problem", "u0", Kind::Number(Bound::Positive), "20.0",
        "Speed of the background flow; published: 20 and 40 in williamson-4, 20 in williamson-5.")
        .unit("m/s").only(&[Williamson4, Williamson5]),
    key("problem", "phibar", Kind::Number(Bound::Positive), "",
        "Mean geopotential about which gravity waves are linearised.")
        .unit("m2/s2").or("the mean of the initial g (h - h_s)"),
    key("problem", "mountain", Kind::Name(choices::MOUNTAINS), "",
        "The surface.").or("cone in williamson-5, none elsewhere").only(WITH_MOUNTAIN),
    key("problem", "mountain-file", Kind::Path, "",
        "NetCDF file of the surface height in m, for mountain = \"file\".")
        .or("none").only(WITH_MOUNTAIN),
    key("problem", "mountain-variable", Kind::Text, "",
        "Its variable.").or("found by its standard name, surface_altitude").only(WITH_MOUNTAIN),
    key("problem.planet", "radius", Kind::Number(Bound::Positive), "6371220.0",
        "Radius of the sphere.").unit("m"),
    key("problem.planet", "omega", Kind::Number(Bound::Any), "7.292e-5",
        "Rotation rate.").unit("1/s"),
    key("problem.planet", "gravity", Kind::Number(Bound::Positive), "9.80616",
        "Gravity.").unit("m/s2"),
    key("problem.file", "path", Kind::Path, "",
        "NetCDF file of the initial state.").or(MUST).only(FROM_FILE),
    key("problem.file", "time-index", Kind::Whole(0, i64::MAX), "0",
        "Which of its times, from 0.").only(FROM_FILE),
    key("problem.file", "height", Kind::Name(choices::HEIGHTS), "\"given\"",
        "Where the height comes from.").only(FROM_FILE),
    key(NAMES, "h", Kind::Text, "", "Variable of the free-surface height (m) or geopotential (m2/s2).")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "u", Kind::Text, "", "Variable of the eastward wind, m/s.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "v", Kind::Text, "", "Variable of the northward wind, m/s.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "zeta", Kind::Text, "", "Variable of the relative vorticity, 1/s.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "delta", Kind::Text, "", "Variable of the divergence, 1/s.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "lat", Kind::Text, "", "Variable of the latitude, degrees.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key(NAMES, "lon", Kind::Text, "", "Variable of the longitude, degrees.")
        .or("found by its CF or usual name").only(FROM_FILE),
    key("problem.reference", "path", Kind::Path, "",
        "NetCDF file of a reference state, for the error norms.")
        .or("williamson-7: a later time of its own file; else none").only(NO_EXACT),
    key("problem.reference", "time-index", Kind::Whole(0, i64::MAX), "",
        "Which of its times, from 0.").or("the last").only(NO_EXACT),
];

#[rustfmt::skip]
const TIME: &[Key] = &[
    key("time", "dt", Kind::Number(Bound::Positive), "",
        "Time step.").unit("s").or("1200 up to T42; must be given above"),
    key("time", "scheme", Kind::Name(choices::SCHEMES), "",
        "Time scheme; williamson-1 takes explicit or rk4.")
        .or("explicit in williamson-1, semi-implicit elsewhere"),
    key("time", "asselin", Kind::Number(Bound::Fraction), "0.0",
        "Coefficient of the Robert-Asselin filter (leapfrog schemes)."),
    key("time", "williams", Kind::Number(Bound::Unit), "1.0",
        "Williams' alpha (2009); 1 is the classic filter."),
    key("time", "diffusion", Kind::Number(Bound::NotNegative), "0.0",
        "Hyperdiffusion coefficient K.").unit("m^order/s"),
    key("time", "diffusion-order", Kind::OneOf(&[4, 6, 8]), "4",
        "Order of the hyperdiffusion."),
    key("time", "laplacian", Kind::Number(Bound::NotNegative), "0.0",
        "Viscosity nu on zeta, delta and g h.").unit("m2/s"),
];

#[rustfmt::skip]
const ALGORITHM: &[Key] = &[
    key("algorithm", "mesh", Kind::Mesh, "\"auto\"",
        "PX splits longitude and wavenumber, PY latitude pairs; PX * PY is the number of ranks."),
    key("algorithm", "rank-order", Kind::Name(choices::RANK_ORDERS), "\"row\"",
        "How ranks fill the mesh, hence what shares a node."),
    key("algorithm", "fft", Kind::Name(choices::FFTS), "\"double-transpose\"",
        "How the FFT meets the distribution of longitudes."),
    key("algorithm", "legendre", Kind::Name(choices::LEGENDRES), "\"transpose\"",
        "How the Legendre transform meets the distribution of latitudes."),
];

/// The keys that a stage's table may hold too.
#[rustfmt::skip]
const STAGE_KEYS: &[Key] = &[
    key("algorithm", "transpose", Kind::Name(choices::TRANSPOSES), "\"swap\"",
        "How the blocks of a transpose travel."),
    key("algorithm", "sum", Kind::Name(choices::SUMS), "\"halving\"",
        "How a vector sum is done (distributed Legendre transform only)."),
    key("algorithm", "order", Kind::Name(choices::ORDERS), "\"ordered\"",
        "The order of the two messages of a swap."),
    key("algorithm", "protocol", Kind::Protocol, "\"nonblocking-recv\"",
        "The calls a swap is made of (`pstswm list` shows them)."),
    key("algorithm", "engine", Kind::Name(choices::ENGINES), "\"pairwise\"",
        "What moves the blocks."),
    key("algorithm", "handshake", Kind::Flag, "false",
        "Signal before each send, also where the protocol itself does not."),
    key("algorithm", "max-requests", Kind::Whole(0, 1_000_000), "0",
        "Cap on outstanding requests of an exchange; 0: none."),
    key("algorithm", "overlap", Kind::Flag, "false",
        "Post every receive, then do every exchange, then every finish; not for \"logarithmic\"."),
];

#[rustfmt::skip]
const GENERAL: &[Key] = &[
    key("algorithm", "barrier", Kind::Flag, "false",
        "Time a barrier before each movement, so that waiting is told from moving."),
    key("algorithm", "eager-limit", Kind::Whole(0, 1 << 40), "4096",
        "Largest message that the threads transport buffers.").unit("bytes"),
    key("algorithm", "watchdog-seconds", Kind::Number(Bound::NotNegative), "300.0",
        "A wait for another rank as long as this ends the job with a report of who waits for whom; 0: never. Output on rank 0 makes the others wait: leave room for it.").unit("s"),
];

#[rustfmt::skip]
const GATHER: &[Key] = &[
    key("algorithm.gather", "order", Kind::Name(choices::ORDERS), "\"simple\"",
        "The order of the calls of a step; nothing goes back, so little depends on it."),
    key("algorithm.gather", "protocol", Kind::Protocol, "\"nonblocking-recv\"",
        "The calls of a step."),
    key("algorithm.gather", "handshake", Kind::Flag, "true",
        "The root signals a rank once its receive is posted."),
    key("algorithm.gather", "max-requests", Kind::Whole(0, 1_000_000), "64",
        "Receives that the root posts ahead; 0: all."),
    key("algorithm.gather", "overlap", Kind::Flag, "true",
        "Post receives ahead; otherwise one rank after the other."),
];

#[rustfmt::skip]
const OUTPUT: &[Key] = &[
    key("output", "directory", Kind::Text, "\"out\"",
        "Folder of history and checkpoint files, relative to where the program is started."),
    key("output", "every-hours", Kind::Number(Bound::NotNegative), "24.0",
        "Model hours between outputs: a multiple of dt (the default is rounded up to one); 0: at the start and the end only.").unit("h"),
    key("output", "samples-per-file", Kind::Whole(0, 1_000_000), "8",
        "Samples in a history file; 0: no history."),
    key("output", "format", Kind::Name(choices::FORMATS), "\"classic\"",
        "Format of history files."),
    key("output", "checkpoint-hours", Kind::Number(Bound::NotNegative), "24.0",
        "Model hours between checkpoints: a multiple of dt (the default is rounded up to one); 0: none.").unit("h"),
    key("output", "points", Kind::Points, "[]",
        "Points at which h, u, v, zeta and delta are summed from the spectral series.")
        .unit("degrees"),
];

#[rustfmt::skip]
const MEASURE: &[Key] = &[
    key("measure", "warmup", Kind::Whole(0, 1_000_000_000), "3",
        "Steps at the start that are left out of the timing."),
    key("measure", "repeat", Kind::Whole(1, 1_000_000), "1",
        "Repetitions of a timed sample set."),
    key("measure", "max-seconds", Kind::Number(Bound::NotNegative), "0.0",
        "Cap on the time of a sample set; 0: none.").unit("s"),
    key("measure", "seed", Kind::Whole(0, i64::MAX), "1",
        "Seed of everything random."),
];

/// The tables of the stages, each with what it is about.
pub const STAGES: [(&str, &str); 4] = [
    (
        "algorithm.fft-transpose",
        "Transposes along a mesh row, for the FFT.",
    ),
    (
        "algorithm.fft-butterfly",
        "Butterflies of a distributed FFT.",
    ),
    (
        "algorithm.legendre-transpose",
        "Transpose along a mesh column, for the Legendre transform.",
    ),
    (
        "algorithm.legendre-sum",
        "Vector sum of a distributed Legendre transform.",
    ),
];

/// Every table, with one line, in the order of a namelist.
pub static TABLES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let mut tables = vec![
        ("problem", "What is integrated, on which grid, how long."),
        ("problem.planet", "The sphere."),
        (
            "problem.file",
            "The initial state of williamson-7 and file.",
        ),
        (NAMES, "Names of variables in that file."),
        ("problem.reference", "A state to compare the end with."),
        ("time", "Time stepping and damping."),
        ("algorithm", "How the work is split and how data move."),
    ];
    tables.extend(STAGES);
    tables.push((
        "algorithm.gather",
        "Gathering for output: flow control at the root.",
    ));
    tables.push(("output", "What is written, and when."));
    tables.push(("measure", "How a run is timed."));
    tables
});

/// Every key, in the order of a namelist.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = [PROBLEM, TIME, ALGORITHM, STAGE_KEYS, GENERAL].concat();
    for (table, _) in STAGES {
        keys.extend(STAGE_KEYS.iter().map(|key| Key {
            table,
            default: "",
            otherwise: "as in [algorithm]",
            ..*key
        }));
    }
    keys.extend_from_slice(GATHER);
    keys.extend_from_slice(OUTPUT);
    keys.extend_from_slice(MEASURE);
    keys
});

/// The key `table.name`.
pub fn find(table: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter()
        .find(|key| key.table == table && key.name == name)
}

/// Whether this is a table.
pub fn is_table(name: &str) -> bool {
    TABLES.iter().any(|(table, _)| *table == name)
}
