//! From entries to settings: each key's own check, then defaults.

use std::collections::BTreeMap;
use std::path::Path;

use super::choices::legal_orders;
use super::finding::{Findings, Place};
use super::keys::{self, KEYS, Key, STAGES, TABLES};
use super::source::{Entries, Raw};
use super::value::{Value, check};
use crate::decomp::mesh::MeshChoice;
use crate::problem::definition::{CaseName, Scheme};
use crate::problem::planet::DAY;
use crate::spectral::truncation::Truncation;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;

/// A checked value and where it came from.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: Value,
    pub(super) shown: String,
    pub(super) place: Place,
}

impl Setting {
    fn is_given(&self) -> bool {
        self.place != Place::Nowhere
    }
}

/// Settings by `table.key`; what is wrong with its value is absent, and so is what the case lacks.
#[derive(Debug, Default)]
pub(super) struct Settings {
    map: BTreeMap<String, Setting>,
    /// Keys whose value was refused.
    refused: Vec<String>,
}

impl Settings {
    pub(super) fn get(&self, path: &str) -> Option<&Setting> {
        self.map.get(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Setting)> {
        self.map.iter()
    }

    fn value(&self, path: &str) -> Option<&Value> {
        self.map.get(path).map(|setting| &setting.value)
    }

    /// Whether the key was written, rightly or wrongly.
    pub(super) fn mentioned(&self, path: &str) -> bool {
        self.map.get(path).is_some_and(Setting::is_given)
            || self.refused.iter().any(|refused| refused == path)
    }

    pub(super) fn number(&self, path: &str) -> Option<f64> {
        match self.value(path)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn count(&self, path: &str) -> Option<u64> {
        match self.value(path)? {
            Value::Whole(whole) => u64::try_from(*whole).ok(),
            _ => None,
        }
    }

    pub(super) fn size(&self, path: &str) -> Option<usize> {
        self.count(path)?.try_into().ok()
    }

    pub(super) fn flag(&self, path: &str) -> Option<bool> {
        match self.value(path)? {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn name(&self, path: &str) -> Option<&'static str> {
        match self.value(path)? {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        match self.value(path)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn case(&self) -> Option<CaseName> {
        CaseName::from_name(self.name("problem.case")?)
    }

    pub(super) fn truncation(&self) -> Option<Truncation> {
        match self.value("problem.truncation")? {
            Value::Truncation(truncation) => Some(*truncation),
            _ => None,
        }
    }

    pub(super) fn mesh(&self) -> Option<MeshChoice> {
        match self.value("algorithm.mesh")? {
            Value::Mesh(mesh) => Some(*mesh),
            _ => None,
        }
    }

    pub(super) fn points(&self) -> Option<Vec<(f64, f64)>> {
        match self.value("output.points")? {
            Value::Points(points) => Some(points.clone()),
            _ => None,
        }
    }

    pub(super) fn order(&self, table: &str) -> Option<Order> {
        Order::from_name(self.name(&format!("{table}.order"))?)
    }

    pub(super) fn protocol(&self, table: &str) -> Option<Protocol> {
        match self.value(&format!("{table}.protocol"))? {
            Value::Protocol(protocol) => Some(*protocol),
            _ => None,
        }
    }

    /// Sets what follows from other keys, unless the key was given or refused.
    fn derive(&mut self, path: &str, value: Option<Value>) {
        if let Some(value) = value.filter(|_| !self.mentioned(path)) {
            let setting = Setting {
                value,
                shown: String::new(),
                place: Place::Nowhere,
            };
            self.map.insert(path.to_owned(), setting);
        }
    }

    /// Notes a problem at a key's place.
    pub(super) fn complain(&self, findings: &mut Findings<'_>, path: &str, message: String) {
        match self.map.get(path) {
            Some(setting) => findings.add(&setting.place, path, &self.written(setting), message),
            None => findings.add(&Place::Nowhere, path, "", message),
        }
    }

    fn written(&self, setting: &Setting) -> String {
        match setting.is_given() {
            true => setting.shown.clone(),
            false => format!("{} (default)", setting.value.to_toml()),
        }
    }

    /// The resolved namelist.
    pub(super) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (table, _) in TABLES.iter() {
            let lines: Vec<String> = KEYS
                .iter()
                .filter(|key| key.table == *table)
                .filter_map(|key| {
                    let value = self.value(&key.path())?;
                    Some(format!("{} = {}\n", key.name, value.to_toml()))
                })
                .collect();
            if !lines.is_empty() {
                let gap = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{gap}[{table}]\n{}", lines.concat()));
            }
        }
        text
    }
}

/// Checks each entry by itself and fills in the defaults.
pub(super) fn settle(entries: &Entries, folder: &Path, findings: &mut Findings<'_>) -> Settings {
    let mut settings = Settings::default();
    let case = entries
        .get("problem.case")
        .and_then(|entry| match &entry.raw {
            Raw::Text(text) => CaseName::from_name(text),
            _ => None,
        });
    for (path, entry) in entries {
        let key = entry.key;
        let checked = if case.is_none_or(|case| key.applies_to(case)) {
            check(key, &entry.raw, folder)
        } else {
            foreign(key, &entry.raw, folder, case)
        };
        match checked {
            Ok(value) => {
                let setting = Setting {
                    value,
                    shown: entry.shown.clone(),
                    place: entry.place.clone(),
                };
                settings.map.insert(path.clone(), setting);
            }
            Err(message) => {
                findings.add(&entry.place, path, &entry.shown, message);
                settings.refused.push(path.clone());
            }
        }
    }
    let Some(case) = case else {
        if !entries.contains_key("problem.case") {
            let all = keys::find("problem", "case").map(|key| key.kind.allowed());
            let empty = if entries.is_empty() {
                "nothing is set; "
            } else {
                "missing; "
            };
            let message = format!(
                "{empty}a namelist needs at least [problem] with case = one of {}",
                all.unwrap_or_default()
            );
            findings.add(&Place::Nowhere, "problem.case", "", message);
        }
        defaults(&mut settings, folder, None);
        return settings;
    };
    for key in KEYS.iter().filter(|key| !key.applies_to(case)) {
        settings.map.remove(&key.path());
    }
    defaults(&mut settings, folder, Some(case));
    settings
}

/// A key that the case lacks may only say that there is nothing: no angle, no mountain.
fn foreign(key: &Key, raw: &Raw, folder: &Path, case: Option<CaseName>) -> Result<Value, String> {
    if let Ok(nothing @ (Value::Number(0.0) | Value::Name("none"))) = check(key, raw, folder) {
        return Ok(nothing);
    }
    let only: Vec<&str> = key.only.iter().map(|case| case.name()).collect();
    let case = case.map_or("this case", CaseName::name);
    Err(format!(
        "{case} has no such key; it is for {}",
        only.join(", ")
    ))
}

fn defaults(settings: &mut Settings, folder: &Path, case: Option<CaseName>) {
    let length_given = settings.mentioned("problem.steps");
    let applies = |key: &&Key| case.is_none_or(|case| key.applies_to(case));
    for key in KEYS.iter().filter(applies) {
        if key.name == "days" && length_given {
            continue;
        }
        let value = Raw::parse(key.default).and_then(|raw| check(key, &raw, folder).ok());
        settings.derive(&key.path(), value);
    }
    if let Some(case) = case {
        let scheme = match case {
            CaseName::Williamson1 => Scheme::Explicit,
            _ => Scheme::SemiImplicit,
        };
        settings.derive("time.scheme", Some(Value::Name(scheme.name())));
        if keys::find("problem", "mountain").is_some_and(|key| key.applies_to(case)) {
            let mountain = match case {
                CaseName::Williamson5 => "cone",
                _ => "none",
            };
            settings.derive("problem.mountain", Some(Value::Name(mountain)));
        }
    }
    if let Some(truncation) = settings.truncation() {
        let (nlat, nlon) = truncation.alias_free_grid();
        settings.derive("problem.nlat", i64::try_from(nlat).ok().map(Value::Whole));
        settings.derive("problem.nlon", i64::try_from(nlon).ok().map(Value::Whole));
        if truncation.k_max() <= 42 {
            settings.derive("time.dt", Some(Value::Number(1200.0)));
        }
    }
    if let Some(dt) = settings.number("time.dt") {
        let rounded = (DAY / dt).ceil() * dt / 3600.0;
        if whole_steps(DAY, dt).is_none() && rounded.is_finite() {
            for key in ["output.every-hours", "output.checkpoint-hours"] {
                settings.derive(key, Some(Value::Number(rounded)));
            }
        }
    }
    for (stage, _) in STAGES {
        for key in KEYS.iter().filter(|key| key.table == stage) {
            let general = settings.value(&format!("algorithm.{}", key.name)).cloned();
            settings.derive(&key.path(), general);
        }
    }
}

/// Checks what several keys say together.
pub(super) fn rules(settings: &Settings, findings: &mut Findings<'_>) {
    let mut complain = |path: &str, message: String| settings.complain(findings, path, message);
    let case = settings.case();
    let is = |wanted: CaseName| case == Some(wanted);

    if is(CaseName::Williamson1) && settings.name("time.scheme") == Some("semi-implicit") {
        let message = "williamson-1 keeps its wind, so there is nothing implicit: must be \
                       \"explicit\" or \"rk4\"";
        complain("time.scheme", message.to_owned());
    }
    if is(CaseName::Williamson4) && settings.number("problem.planet.omega") == Some(0.0) {
        complain(
            "problem.planet.omega",
            "williamson-4 needs rotation: not 0".to_owned(),
        );
    }

    let mountain = settings.name("problem.mountain");
    if is(CaseName::Williamson5) && mountain == Some("none") {
        let message = "williamson-5 has a mountain: must be one of \"cone\", \"smooth\", \"file\"";
        complain("problem.mountain", message.to_owned());
    }
    if mountain == Some("file") && !settings.mentioned("problem.mountain-file") {
        let message = "missing: mountain = \"file\" needs the path of a NetCDF file";
        complain("problem.mountain-file", message.to_owned());
    }
    for key in ["problem.mountain-file", "problem.mountain-variable"] {
        if mountain.is_some_and(|name| name != "file") && settings.get(key).is_some() {
            complain(key, "goes with mountain = \"file\" only".to_owned());
        }
    }
    if case.is_some_and(|case| keys::FROM_FILE.contains(&case))
        && !settings.mentioned("problem.file.path")
    {
        let name = case.map_or("", CaseName::name);
        let message = format!("missing: {name} starts from a file; give path in [problem.file]");
        complain("problem.file.path", message);
    }
    if settings.get("problem.reference.time-index").is_some()
        && !settings.mentioned("problem.reference.path")
        && !is(CaseName::Williamson7)
    {
        let message = "missing: a reference needs its file; give path in [problem.reference]";
        complain("problem.reference.path", message.to_owned());
    }

    grid(settings, &mut complain);
    length(settings, &mut complain);

    for table in ["algorithm"]
        .into_iter()
        .chain(STAGES.map(|(stage, _)| stage))
        .chain(["algorithm.gather"])
    {
        engine(settings, table, &mut complain);
        let keys = [format!("{table}.protocol"), format!("{table}.order")];
        let inherited = !keys.iter().any(|key| settings.mentioned(key));
        let (Some(order), Some(protocol)) = (settings.order(table), settings.protocol(table))
        else {
            continue;
        };
        // What a stage inherits is reported once, at the general keys.
        let reported = inherited && STAGES.iter().any(|(stage, _)| *stage == table);
        if !protocol.legal_with(order) && !reported {
            let key = if settings.mentioned(&keys[0]) {
                &keys[0]
            } else {
                &keys[1]
            };
            let message = format!(
                "protocol \"{}\" with order \"{}\" ends only where messages are buffered; legal \
                 orders of this protocol: {}",
                protocol.name(),
                order.name(),
                legal_orders(protocol)
            );
            complain(key, message);
        }
    }
}

/// A transpose is made of steps between pairs of ranks, or an engine does it in one go.
fn engine(settings: &Settings, table: &str, complain: &mut impl FnMut(&str, String)) {
    let keys = [format!("{table}.transpose"), format!("{table}.engine")];
    let [Some(transpose), Some(engine)] = keys.each_ref().map(|key| settings.name(key)) else {
        return;
    };
    let given = keys.each_ref().map(|key| settings.mentioned(key));
    let asked = given[1] || settings.mentioned("algorithm.engine");
    match (transpose == "collective", engine == "pairwise") {
        (true, true) if given[0] || given[1] => complain(
            &keys[usize::from(!given[0])],
            "transpose = \"collective\" is done by an engine: engine must be other than \
             \"pairwise\", for example \"alltoallv\""
                .to_owned(),
        ),
        (false, false) if given[0] && asked => complain(
            &keys[0],
            format!(
                "transpose = \"{transpose}\" is made of messages between pairs of ranks, \
                 engine = \"{engine}\" moves all in one go: leave one of the two out, or \
                 transpose = \"collective\""
            ),
        ),
        _ => {}
    }
}

fn grid(settings: &Settings, complain: &mut impl FnMut(&str, String)) {
    let Some(truncation) = settings.truncation() else {
        return;
    };
    let (nlat, nlon) = truncation.alias_free_grid();
    if let Some(given) = settings.size("problem.nlat") {
        let least = truncation.least_nlat();
        if given < least {
            let message = format!("{truncation} aliases; at least {least} (usual: {nlat})");
            complain("problem.nlat", message);
        } else if !given.is_multiple_of(2) {
            let message = format!("must be even, such as {} (usual: {nlat})", given + 1);
            complain("problem.nlat", message);
        }
    }
    if let Some(given) = settings.size("problem.nlon") {
        let least = truncation.least_nlon();
        let smooth = crate::spectral::truncation::is_smooth;
        if given < least {
            let message = format!("{truncation} aliases; at least {least} (usual: {nlon})");
            complain("problem.nlon", message);
        } else if !smooth(given) {
            let next = (given..).find(|&n| smooth(n)).unwrap_or(nlon);
            let message =
                format!("must be a product of 2, 3 and 5, such as {next} (usual: {nlon})");
            complain("problem.nlon", message);
        }
    }
}

/// The length of a run and the intervals of output, all in whole steps.
fn length(settings: &Settings, complain: &mut impl FnMut(&str, String)) {
    if settings.mentioned("problem.days") && settings.mentioned("problem.steps") {
        let message = "the length is given twice: either days or steps";
        complain("problem.steps", message.to_owned());
    }
    let Some(dt) = settings.number("time.dt") else {
        if settings.truncation().is_some() && !settings.mentioned("time.dt") {
            let message = "missing: must be given in s above T42; usual: 900 at T63, 600 at T85 \
                           and T106, 450 at T170, 360 at T213";
            complain("time.dt", message.to_owned());
        }
        return;
    };
    for (key, unit, seconds, may_be_zero) in INTERVALS {
        let Some(length) = settings.number(key) else {
            continue;
        };
        if (may_be_zero && length == 0.0) || whole_steps(length * seconds, dt).is_some() {
            continue;
        }
        let unit = if length == 1.0 {
            unit.trim_end_matches('s')
        } else {
            unit
        };
        let total = length * seconds;
        let few = (total / dt).floor();
        let mut nearest = format!("{} s ({} steps)", total / (few + 1.0), few + 1.0);
        if few >= 1.0 {
            nearest = format!("{} s ({few} steps) or {nearest}", total / few);
        }
        let message = if total / dt > MAX_STEPS {
            format!("{length} {unit} in steps of {dt} s are too many steps")
        } else {
            format!("{length} {unit} is no whole number of steps of {dt} s; nearest dt: {nearest}")
        };
        let at = if settings.mentioned(key) {
            key
        } else {
            "time.dt"
        };
        complain(at, message);
    }
}

const MAX_STEPS: f64 = 1e12;

/// Key, unit, seconds in the unit, whether 0 has a meaning.
const INTERVALS: [(&str, &str, f64, bool); 3] = [
    ("problem.days", "days", DAY, false),
    ("output.every-hours", "hours", 3600.0, true),
    ("output.checkpoint-hours", "hours", 3600.0, true),
];

/// How many steps make an interval; `None`: no whole number.
pub(super) fn whole_steps(seconds: f64, dt: f64) -> Option<u64> {
    let ratio = seconds / dt;
    let steps = ratio.round();
    let whole = (ratio - steps).abs() <= 1e-9 * steps;
    (whole && (1.0..=MAX_STEPS).contains(&steps)).then_some(steps as u64)
}
