//! From a file to the plain data of the layers.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::finding::{Findings, NamelistError, Place};
use super::settings::{Settings, rules, settle, whole_steps};
use super::source;
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::decomp::mesh::{Mesh, MeshChoice, RankOrder};
use crate::error::Error;
use crate::exchange::choice::{ExchangeChoice, SwapChoice, TransposeAlgorithm};
use crate::exchange::sum::{SumAlgorithm, SumChoice};
use crate::pencil::choice::AlgorithmChoice;
use crate::problem::definition::{
    CaseName, HeightFrom, HistoryFormat, MeasurePlan, Mountain, OutputPlan, Problem, ReferenceFile,
    Scheme, StateFile, TimeStepping, VariableNames,
};
use crate::problem::planet::{DAY, Planet};
use crate::swap::method::Method;
use crate::transport::EngineKind;

/// Bytes of the largest file taken for a namelist.
const LARGEST: u64 = 1 << 24;

/// A namelist that holds together.
#[derive(Clone, Debug)]
pub struct Namelist {
    /// What is integrated.
    pub problem: Problem,
    /// Time stepping and damping.
    pub time: TimeStepping,
    /// The parallel algorithm.
    pub algorithm: AlgorithmChoice,
    /// What is written, and when.
    pub output: OutputPlan,
    /// How the run is timed.
    pub measure: MeasurePlan,
    /// The namelist with every key at its final value, as TOML: parsed in the same folder it
    /// gives the same run.
    pub resolved: String,
    origins: BTreeMap<String, String>,
    name: String,
}

impl Namelist {
    /// Whether a key was set, in the file or by an override.
    pub fn sets(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    /// Where a key was set, for later messages about it: `t42.toml:5:9: problem.levels`,
    /// `--set problem.levels=4: problem.levels`, or `t42.toml: problem.levels (default)`.
    pub fn at(&self, key: &str) -> String {
        match self.origins.get(key) {
            Some(place) => format!("{place}: {key}"),
            None => format!("{}: {key} (default)", self.name),
        }
    }
}

/// Reads and checks a namelist; `sets` are overrides `table.key=value`, of which the last wins.
/// Paths of input files are relative to the folder of the namelist.
///
/// # Errors
/// Everything that is wrong with the file, at once.
pub fn load(path: &Path, sets: &[String]) -> Result<Namelist, NamelistError> {
    let name = path.display().to_string();
    let refuse = |message: String| {
        let mut findings = Findings::new(&name, "");
        findings.add(&Place::Nowhere, "", "", message);
        Err(findings.into_error())
    };
    if path.is_dir() {
        return refuse("is a folder; a namelist is a TOML file".to_owned());
    }
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    match read {
        Ok(size) if size as u64 > LARGEST => {
            return refuse(format!("is larger than {LARGEST} bytes: not a namelist"));
        }
        Ok(_) => {}
        Err(error) => return refuse(format!("cannot read the namelist: {error}")),
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            return refuse(format!(
                "line {line}: not UTF-8 text; a namelist is a TOML file in UTF-8"
            ));
        }
    };
    parse(text, &name, path.parent().unwrap_or(Path::new("")), sets)
}

/// Checks the text of a namelist; `name` stands for it in messages, `folder` is what paths of
/// input files are relative to.
///
/// # Errors
/// Everything that is wrong with the text, at once.
pub fn parse(
    text: &str,
    name: &str,
    folder: &Path,
    sets: &[String],
) -> Result<Namelist, NamelistError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut findings = Findings::new(name, text);
    let Some(entries) = source::read(text, sets, &mut findings) else {
        return Err(findings.into_error());
    };
    let settings = settle(&entries, folder, &mut findings);
    rules(&settings, &mut findings);
    if findings.is_empty() {
        if let Some(namelist) = build(&settings, name, folder, &findings) {
            return Ok(namelist);
        }
        let message = "the namelist cannot be resolved: a fault of the program".to_owned();
        findings.add(&Place::Nowhere, "", "", message);
    }
    Err(findings.into_error())
}

/// The mesh of a namelist for a number of ranks; `None`: it is to be chosen.
///
/// # Errors
/// When PX * PY is not the number of ranks; the message lists the meshes that would fit.
pub fn check_ranks(namelist: &Namelist, ranks: usize) -> Result<Option<Mesh>, Error> {
    let MeshChoice::Given(px, py) = namelist.algorithm.mesh else {
        return Ok(None);
    };
    if px.checked_mul(py) == Some(ranks) {
        let order = namelist.algorithm.rank_order;
        return Ok(Some(Mesh { px, py, order }));
    }
    let meshes: Vec<String> = (1..=ranks)
        .filter(|&px| ranks.is_multiple_of(px))
        .map(|px| format!("[{px}, {}]", ranks / px))
        .collect();
    Err(Error::Input(format!(
        "{} = [{px}, {py}]: needs {} ranks, this run has {ranks}; what fits: {} or \"auto\"",
        namelist.at("algorithm.mesh"),
        px.saturating_mul(py),
        meshes.join(", "),
    )))
}

fn build(
    settings: &Settings,
    name: &str,
    folder: &Path,
    findings: &Findings<'_>,
) -> Option<Namelist> {
    let time = time(settings)?;
    Some(Namelist {
        problem: problem(settings, folder, time.dt)?,
        time,
        algorithm: algorithm(settings)?,
        output: output(settings, time.dt)?,
        measure: MeasurePlan {
            warmup: settings.count("measure.warmup")?,
            repeat: settings.count("measure.repeat")?,
            max_seconds: settings.number("measure.max-seconds")?,
            seed: settings.count("measure.seed")?,
        },
        resolved: settings.to_toml(),
        origins: settings
            .iter()
            .filter(|(_, setting)| setting.place != Place::Nowhere)
            .map(|(key, setting)| (key.clone(), findings.locate(&setting.place)))
            .collect(),
        name: name.to_owned(),
    })
}

fn problem(settings: &Settings, folder: &Path, dt: f64) -> Option<Problem> {
    let case = settings.case()?;
    let path = |key: &str| settings.text(key).map(|path| folder.join(path));
    let steps = match settings.number("problem.days") {
        Some(days) => whole_steps(days * DAY, dt)?,
        None => settings.count("problem.steps")?,
    };
    let mountain = match settings.name("problem.mountain") {
        Some("cone") => Mountain::Cone,
        Some("smooth") => Mountain::Smooth,
        Some("file") => Mountain::File {
            path: path("problem.mountain-file")?,
            variable: settings.text("problem.mountain-variable"),
        },
        _ => Mountain::Flat,
    };
    let given = |name: &str| settings.text(&format!("problem.file.names.{name}"));
    let file = path("problem.file.path").and_then(|path| {
        Some(StateFile {
            path,
            time_index: settings.size("problem.file.time-index")?,
            height: match settings.name("problem.file.height")? {
                "balanced" => HeightFrom::Balanced,
                _ => HeightFrom::Given,
            },
            names: VariableNames {
                h: given("h"),
                u: given("u"),
                v: given("v"),
                zeta: given("zeta"),
                delta: given("delta"),
                lat: given("lat"),
                lon: given("lon"),
            },
        })
    });
    let index = settings.size("problem.reference.time-index");
    let own_file = || index.and(path("problem.file.path"));
    let reference = path("problem.reference.path")
        .or_else(|| own_file().filter(|_| case == CaseName::Williamson7))
        .map(|path| ReferenceFile {
            path,
            time_index: index,
        });
    Some(Problem {
        case,
        alpha: settings.number("problem.alpha").unwrap_or(0.0),
        u0: settings.number("problem.u0").unwrap_or(0.0),
        truncation: settings.truncation()?,
        nlat: settings.size("problem.nlat")?,
        nlon: settings.size("problem.nlon")?,
        levels: settings.size("problem.levels")?,
        steps,
        phibar: settings.number("problem.phibar"),
        mountain,
        planet: Planet {
            radius: settings.number("problem.planet.radius")?,
            omega: settings.number("problem.planet.omega")?,
            gravity: settings.number("problem.planet.gravity")?,
        },
        file,
        reference,
    })
}

fn time(settings: &Settings) -> Option<TimeStepping> {
    Some(TimeStepping {
        dt: settings.number("time.dt")?,
        scheme: Scheme::from_name(settings.name("time.scheme")?)?,
        asselin: settings.number("time.asselin")?,
        williams: settings.number("time.williams")?,
        diffusion: settings.number("time.diffusion")?,
        diffusion_order: settings.count("time.diffusion-order")?.try_into().ok()?,
        laplacian: settings.number("time.laplacian")?,
    })
}

fn algorithm(settings: &Settings) -> Option<AlgorithmChoice> {
    Some(AlgorithmChoice {
        mesh: settings.mesh()?,
        rank_order: match settings.name("algorithm.rank-order")? {
            "column" => RankOrder::Column,
            _ => RankOrder::Row,
        },
        fft: named(
            FftAlgorithm::ALL,
            FftAlgorithm::name,
            settings.name("algorithm.fft")?,
        )?,
        legendre: named(
            LegendreAlgorithm::ALL,
            LegendreAlgorithm::name,
            settings.name("algorithm.legendre")?,
        )?,
        fft_transpose: exchange(settings, "algorithm.fft-transpose")?,
        fft_butterfly: SwapChoice {
            method: exchange(settings, "algorithm.fft-butterfly")?.method(),
            barrier: settings.flag("algorithm.barrier")?,
        },
        legendre_transpose: exchange(settings, "algorithm.legendre-transpose")?,
        legendre_sum: sum(settings)?,
        gather: gather(settings)?,
        eager_limit: settings.size("algorithm.eager-limit")?,
        watchdog_seconds: settings.number("algorithm.watchdog-seconds")?,
    })
}

fn sum(settings: &Settings) -> Option<SumChoice> {
    const TABLE: &str = "algorithm.legendre-sum";
    let key = |name: &str| format!("{TABLE}.{name}");
    Some(SumChoice {
        algorithm: SumAlgorithm::from_name(settings.name(&key("sum"))?)?,
        order: settings.order(TABLE)?,
        protocol: settings.protocol(TABLE)?,
        handshake: settings.flag(&key("handshake"))?,
        barrier: settings.flag("algorithm.barrier")?,
    })
}

fn gather(settings: &Settings) -> Option<Method> {
    Some(Method {
        order: settings.order("algorithm.gather")?,
        protocol: settings.protocol("algorithm.gather")?,
        handshake: settings.flag("algorithm.gather.handshake")?,
        max_requests: settings.size("algorithm.gather.max-requests")?,
        overlap: settings.flag("algorithm.gather.overlap")?,
    })
}

fn exchange(settings: &Settings, table: &str) -> Option<ExchangeChoice> {
    let key = |name: &str| format!("{table}.{name}");
    let engine = EngineKind::from_name(settings.name(&key("engine"))?);
    let transpose = settings.name(&key("transpose"))?;
    let transpose = named(TransposeAlgorithm::ALL, TransposeAlgorithm::name, transpose);
    Some(ExchangeChoice {
        // An engine has no use for the steps between pairs.
        transpose: transpose.or_else(|| engine.map(|_| TransposeAlgorithm::Swap))?,
        engine,
        order: settings.order(table)?,
        protocol: settings.protocol(table)?,
        handshake: settings.flag(&key("handshake"))?,
        max_requests: settings.size(&key("max-requests"))?,
        overlap: settings.flag(&key("overlap"))?,
        barrier: settings.flag("algorithm.barrier")?,
    })
}

fn output(settings: &Settings, dt: f64) -> Option<OutputPlan> {
    let steps = |key: &str| match settings.number(key)? {
        0.0 => Some(0),
        hours => whole_steps(hours * 3600.0, dt),
    };
    Some(OutputPlan {
        directory: settings.text("output.directory")?.into(),
        every_steps: steps("output.every-hours")?,
        samples_per_file: settings.size("output.samples-per-file")?,
        format: match settings.name("output.format")? {
            "netcdf4" => HistoryFormat::NetCdf4,
            _ => HistoryFormat::Classic,
        },
        checkpoint_steps: steps("output.checkpoint-hours")?,
        points: settings.points()?,
    })
}

/// The variant with this name.
fn named<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    wanted: &str,
) -> Option<T> {
    all.into_iter().find(|&one| name(one) == wanted)
}
