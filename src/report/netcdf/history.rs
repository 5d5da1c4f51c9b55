//! History files: samples of the fields on the model's grid, as CF NetCDF.
//!
//! `history_0001.nc`, `history_0002.nc`, ... hold a set number of samples each, the last one what
//! is left. Samples wait in memory until their file is whole: `samples_per_file` times five
//! fields of `levels x nlat x nlon` doubles on the rank that writes.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ndarray::Array2;

use super::check::history_name;
use super::classic::LARGEST;
use super::document::{Document, Kind, Value, Values, Variable, text};
use super::error::OutputError;
use crate::problem::definition::HistoryFormat;

/// What the files look like and where they go.
#[derive(Clone, Debug)]
pub struct HistoryPlan {
    /// Their folder; made with the first file.
    pub directory: PathBuf,
    /// Number of the first file (1, or [`super::next_history_number`] after a restart).
    pub first_number: usize,
    /// Samples in a file, at least 1.
    pub samples_per_file: usize,
    /// Format.
    pub format: HistoryFormat,
    /// Latitudes north to south, degrees.
    pub latitudes: Vec<f64>,
    /// Longitudes eastward, degrees.
    pub longitudes: Vec<f64>,
    /// Independent copies of the problem; the dimension `level` exists when there are several.
    pub levels: usize,
    /// Surface height h_s, m: (nlat, nlon), north to south.
    pub surface: Array2<f64>,
    /// One line: which case at which truncation.
    pub title: String,
    /// Program and version.
    pub source: String,
    /// When and by which command line the file was made.
    pub history: String,
    /// The resolved namelist.
    pub namelist: String,
}

/// The fields of one level at one time, each (nlat, nlon), north to south and eastward.
#[derive(Clone, Debug)]
pub struct LevelFields {
    /// Free-surface height, m.
    pub h: Array2<f64>,
    /// Eastward wind, m/s.
    pub u: Array2<f64>,
    /// Northward wind, m/s.
    pub v: Array2<f64>,
    /// Relative vorticity, 1/s.
    pub zeta: Array2<f64>,
    /// Divergence, 1/s.
    pub delta: Array2<f64>,
}

/// The state at one time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Time since the start of the integration, s.
    pub time: f64,
    /// One entry per level.
    pub levels: Vec<LevelFields>,
    /// Checksum of the spectral state; ends up in the attribute `checksum`.
    pub checksum: Option<u64>,
}

type Part = fn(&LevelFields) -> &Array2<f64>;

/// Name, accessor, units, standard name (none: CF has none that is true), long name.
const FIELDS: [(&str, Part, &str, Option<&str>, &str); 5] = [
    ("h", |f| &f.h, "m", None, "height of the free surface"),
    (
        "u",
        |f| &f.u,
        "m s-1",
        Some("eastward_wind"),
        "eastward wind",
    ),
    (
        "v",
        |f| &f.v,
        "m s-1",
        Some("northward_wind"),
        "northward wind",
    ),
    (
        "zeta",
        |f| &f.zeta,
        "s-1",
        Some("atmosphere_upward_relative_vorticity"),
        "relative vorticity",
    ),
    (
        "delta",
        |f| &f.delta,
        "s-1",
        Some("divergence_of_wind"),
        "horizontal divergence",
    ),
];

/// Collects samples and writes a file whenever enough are there. Used on one rank only.
#[derive(Debug)]
pub struct HistoryWriter {
    plan: HistoryPlan,
    pending: Vec<Sample>,
    /// How many of `pending` are in the file of that number already.
    flushed: usize,
    next: usize,
    written: Vec<PathBuf>,
}

impl HistoryWriter {
    /// Checks the plan; writes nothing yet.
    ///
    /// # Errors
    /// A format this build lacks, a field too large for the classic format, a file in the way,
    /// arrays whose shapes disagree.
    pub fn new(plan: HistoryPlan) -> Result<Self, OutputError> {
        let (nlat, nlon) = (plan.latitudes.len(), plan.longitudes.len());
        if plan.format == HistoryFormat::NetCdf4 && !cfg!(feature = "netcdf4") {
            return Err(OutputError::NoNetCdf4);
        }
        if plan.samples_per_file == 0 || plan.levels == 0 || nlat == 0 || nlon == 0 {
            return Err(OutputError::Shape(
                "a plan without samples, levels or points".into(),
            ));
        }
        check_shape("h_s", &plan.surface, nlat, nlon)?;
        let bytes = [plan.levels, nlat, nlon, 8]
            .iter()
            .map(|&n| n as u128)
            .product();
        if plan.format == HistoryFormat::Classic && bytes > LARGEST {
            return Err(OutputError::TooLarge {
                levels: plan.levels,
                nlat,
                nlon,
                bytes,
            });
        }
        let next = plan.first_number;
        let writer = Self {
            plan,
            pending: Vec::new(),
            flushed: 0,
            next,
            written: Vec::new(),
        };
        writer.must_be_free(&writer.path())?;
        Ok(writer)
    }

    /// Takes a sample; writes a file when it is full.
    ///
    /// # Errors
    /// A sample that does not fit the plan, or a file that cannot be written.
    pub fn push(&mut self, sample: Sample) -> Result<(), OutputError> {
        let (nlat, nlon) = (self.plan.latitudes.len(), self.plan.longitudes.len());
        if sample.levels.len() != self.plan.levels {
            return Err(OutputError::Shape(format!(
                "{} levels, {} planned",
                sample.levels.len(),
                self.plan.levels
            )));
        }
        for level in &sample.levels {
            for (name, part, ..) in FIELDS {
                check_shape(name, part(level), nlat, nlon)?;
            }
        }
        self.pending.push(sample);
        if self.pending.len() >= self.plan.samples_per_file {
            self.write()?;
        }
        Ok(())
    }

    /// Writes what is left, and tells which files this writer made.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, OutputError> {
        if !self.pending.is_empty() {
            self.write()?;
        }
        Ok(self.written)
    }

    /// Files written so far.
    pub fn written(&self) -> &[PathBuf] {
        &self.written
    }

    fn path(&self) -> PathBuf {
        self.plan.directory.join(history_name(self.next))
    }

    fn must_be_free(&self, path: &Path) -> Result<(), OutputError> {
        if path.exists() {
            return Err(OutputError::Exists {
                directory: self.plan.directory.clone(),
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            });
        }
        Ok(())
    }

    /// Writes a whole file of the samples that wait for a full one, and keeps them: the next file
    /// takes its place. Before a checkpoint, so that a run which goes on from there has them.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        if self.pending.len() == self.flushed {
            return Ok(());
        }
        let path = self.path();
        if self.flushed == 0 {
            self.must_be_free(&path)?;
            self.written.push(path.clone());
        }
        document(&self.plan, &self.pending).write(&path, self.plan.format)?;
        self.flushed = self.pending.len();
        Ok(())
    }

    fn write(&mut self) -> Result<(), OutputError> {
        self.flush()?;
        self.pending.clear();
        self.flushed = 0;
        self.next += 1;
        Ok(())
    }
}

fn check_shape(
    name: &str,
    field: &Array2<f64>,
    nlat: usize,
    nlon: usize,
) -> Result<(), OutputError> {
    if field.dim() == (nlat, nlon) {
        return Ok(());
    }
    Err(OutputError::Shape(format!(
        "{name} has shape {:?}, not ({nlat}, {nlon})",
        field.dim()
    )))
}

/// The samples as a CF-1.11 file.
fn document<'a>(plan: &'a HistoryPlan, samples: &'a [Sample]) -> Document<'a> {
    let mut file = Document {
        records: Some(("time".into(), samples.len())),
        ..Document::default()
    };
    if plan.levels > 1 {
        file.dimensions.push(("level".into(), plan.levels));
    }
    file.dimensions.push(("lat".into(), plan.latitudes.len()));
    file.dimensions.push(("lon".into(), plan.longitudes.len()));
    file.attributes = vec![
        text("Conventions", "CF-1.11"),
        text("title", plan.title.as_str()),
        text("source", plan.source.as_str()),
        text("history", plan.history.as_str()),
        text("namelist", plan.namelist.as_str()),
    ];
    if samples.iter().any(|sample| sample.checksum.is_some()) {
        let sums = samples.iter().map(|sample| match sample.checksum {
            Some(sum) => format!("{sum:016x}"),
            None => "-".to_string(),
        });
        let sums: Vec<String> = sums.collect();
        file.attributes.push(text("checksum", sums.join(" ")));
    }
    coordinates(&mut file, plan, samples);
    let mut dimensions = vec!["time", "lat", "lon"];
    if plan.levels > 1 {
        dimensions.insert(1, "level");
    }
    for (name, part, units, standard, long) in FIELDS {
        let mut attributes = vec![text("units", units), text("long_name", long)];
        attributes.extend(standard.map(|value| text("standard_name", value)));
        file.variables.push(Variable {
            name: name.into(),
            dimensions: dimensions.iter().map(|d| (*d).to_string()).collect(),
            kind: Kind::Double,
            attributes,
            values: Box::new(move |record| {
                let levels = &samples[record].levels;
                Values::Doubles(match levels.as_slice() {
                    [one] => flat(part(one)),
                    several => Cow::Owned(
                        several
                            .iter()
                            .flat_map(|l| part(l).iter().copied())
                            .collect(),
                    ),
                })
            }),
        });
    }
    file
}

fn coordinates<'a>(file: &mut Document<'a>, plan: &'a HistoryPlan, samples: &'a [Sample]) {
    file.variables.push(Variable {
        name: "time".into(),
        dimensions: vec!["time".into()],
        kind: Kind::Double,
        attributes: vec![
            text("standard_name", "time"),
            text("long_name", "time since the start; the date is nominal"),
            text("units", "seconds since 2000-01-01 00:00:00"),
            text("calendar", "proleptic_gregorian"),
            text("axis", "T"),
        ],
        values: Box::new(|record| Values::Doubles(Cow::Owned(vec![samples[record].time]))),
    });
    if plan.levels > 1 {
        let numbers: Vec<i32> = (1..).take(plan.levels).collect();
        file.variables.push(Variable {
            name: "level".into(),
            dimensions: vec!["level".into()],
            kind: Kind::Int,
            attributes: vec![
                text("long_name", "independent copy of the problem"),
                ("units".to_string(), Value::Text("1".into())),
            ],
            values: Box::new(move |_| Values::Ints(Cow::Owned(numbers.clone()))),
        });
    }
    for (name, values, units, standard, axis) in [
        ("lat", &plan.latitudes, "degrees_north", "latitude", "Y"),
        ("lon", &plan.longitudes, "degrees_east", "longitude", "X"),
    ] {
        let attributes = [
            ("units", units),
            ("standard_name", standard),
            ("long_name", standard),
            ("axis", axis),
        ];
        file.doubles(name, &[name], &attributes, Cow::Borrowed(values));
    }
    let attributes = [
        ("units", "m"),
        ("standard_name", "surface_altitude"),
        ("long_name", "height of the surface under the fluid"),
    ];
    file.doubles("h_s", &["lat", "lon"], &attributes, flat(&plan.surface));
}

/// The values in row order, without a copy where memory is in that order.
fn flat(field: &Array2<f64>) -> Cow<'_, [f64]> {
    match field.as_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(field.iter().copied().collect()),
    }
}
