//! Texts made from the table of keys: commented namelists and the reference page.

use super::choices::{CASES, Choice, documented, legal_orders, protocol_about};
use super::keys::{KEYS, Key, Kind, MUST, STAGES, TABLES};
use crate::problem::definition::CaseName;
use crate::spectral::truncation::Truncation;
use crate::swap::protocol::Protocol;

/// What a case's namelist sets, where that is not the default. The steps and coefficients are
/// those of the published runs (NCAR/TN-388 and the sample decks of STSWM; Galewsky et al. 2004).
fn presets(case: CaseName) -> Vec<(&'static str, &'static str)> {
    const POINT: (&str, &str) = ("output.points", "[[40.46365, 255.9375]]");
    let own: &[(&str, &str)] = match case {
        CaseName::Williamson1 => &[("problem.days", "12.0"), ("time.dt", "1200.0")],
        CaseName::Williamson2 | CaseName::Williamson3 => &[("time.dt", "1200.0")],
        CaseName::Williamson4 => &[("time.dt", "600.0")],
        CaseName::Williamson5 => &[("problem.days", "15.0"), ("time.dt", "600.0"), POINT],
        CaseName::Williamson6 => &[
            ("problem.days", "14.0"),
            ("time.dt", "600.0"),
            ("time.diffusion", "5.0e15"),
            POINT,
        ],
        CaseName::Williamson7 => &[
            ("problem.days", "1.0"),
            ("problem.file.path", "\"analysis.nc\""),
            ("time.dt", "1200.0"),
            ("time.diffusion", "5.0e15"),
        ],
        CaseName::Galewsky => &[
            ("problem.truncation", "85"),
            ("problem.days", "6.0"),
            ("time.dt", "300.0"),
            ("time.laplacian", "1.0e5"),
        ],
        CaseName::GalewskyBalanced => &[("problem.truncation", "85"), ("time.dt", "300.0")],
        CaseName::File => &[
            ("problem.file.path", "\"analysis.nc\""),
            ("time.dt", "600.0"),
        ],
    };
    let mut presets = own.to_vec();
    if case == CaseName::Williamson5 {
        presets.push(("problem.mountain", "\"cone\""));
    } else {
        presets.push(("problem.mountain", "\"none\""));
    }
    let scheme = match case {
        CaseName::Williamson1 => "\"explicit\"",
        _ => "\"semi-implicit\"",
    };
    presets.push(("time.scheme", scheme));
    presets
}

/// What stands in a commented-out line.
const EXAMPLES: &[(&str, &str)] = &[
    ("problem.steps", "100"),
    ("problem.phibar", "1.0e5"),
    ("problem.mountain-file", "\"mountain.nc\""),
    ("problem.mountain-variable", "\"orog\""),
    ("problem.file.names.h", "\"z\""),
    ("problem.file.names.u", "\"u\""),
    ("problem.file.names.v", "\"v\""),
    ("problem.file.names.zeta", "\"vo\""),
    ("problem.file.names.delta", "\"d\""),
    ("problem.file.names.lat", "\"lat\""),
    ("problem.file.names.lon", "\"lon\""),
    ("problem.reference.path", "\"reference.nc\""),
    ("problem.reference.time-index", "1"),
];

/// A commented namelist of a case with every key it has, ready to run (williamson-7 and `file`
/// once `path` names a file).
pub fn template(case: CaseName) -> String {
    let presets = presets(case);
    let value = |path: &str| {
        let preset = presets.iter().find(|(key, _)| *key == path);
        preset.map(|(_, value)| (*value).to_owned())
    };
    let about = CASES
        .iter()
        .find(|choice| choice.name == case.name())
        .map_or("", |choice| choice.about);
    let mut text = format!(
        "# {}: {about}.\n# Every key this case has; those that are commented out have no fixed \
         default.\n",
        case.name()
    );
    if case == CaseName::Williamson7 {
        text.push_str(
            "# The public data of this case hold the states at 0 h and 24 h; the published run \
             is 5 days.\n",
        );
    }
    for (table, about) in TABLES.iter() {
        let keys: Vec<&Key> = KEYS
            .iter()
            .filter(|key| key.table == *table && key.applies_to(case))
            .collect();
        if STAGES.iter().any(|(stage, _)| stage == table) {
            if *table == STAGES[0].0 {
                text.push_str(&stages());
            }
            continue;
        }
        if keys.is_empty() {
            continue;
        }
        // A table whose keys are all optional stays empty: harmless, and easy to fill.
        text.push_str(&format!("\n# {about}\n[{table}]\n"));
        for key in keys {
            let path = key.path();
            let own = match key.name {
                "case" => Some(format!("\"{}\"", case.name())),
                _ => value(&path).or((!key.default.is_empty()).then(|| key.default.to_owned())),
            };
            text.push_str(&comment(&explained(key)));
            match own {
                Some(own) => text.push_str(&format!("{} = {own}\n", key.name)),
                None => {
                    let example = example(&path, value("problem.truncation"));
                    text.push_str(&format!("# {} = {example}\n", key.name));
                }
            }
        }
    }
    text
}

fn example(path: &str, truncation: Option<String>) -> String {
    let largest = truncation.and_then(|n| n.parse().ok()).unwrap_or(42);
    let (nlat, nlon) = Truncation::triangular(largest).alias_free_grid();
    match path {
        "problem.nlat" => nlat.to_string(),
        "problem.nlon" => nlon.to_string(),
        _ => EXAMPLES
            .iter()
            .find(|(key, _)| *key == path)
            .map_or(String::new(), |(_, value)| (*value).to_owned()),
    }
}

fn stages() -> String {
    let keys: Vec<&str> = KEYS
        .iter()
        .filter(|key| key.table == STAGES[0].0)
        .map(|key| key.name)
        .collect();
    let mut text = "\n".to_owned();
    text.push_str(&comment(&format!(
        "A stage may have its own {}, in a table of its own:",
        keys.join(", ")
    )));
    for (stage, about) in STAGES {
        text.push_str(&format!("# [{stage}]  {about}\n"));
    }
    text
}

/// Meaning, unit and what is allowed.
fn explained(key: &Key) -> String {
    let mut text = key.about.to_owned();
    if !key.unit.is_empty() {
        text.push_str(&format!(" Unit: {}.", key.unit));
    }
    match key.kind {
        Kind::Text | Kind::Path => {}
        Kind::Name(choices) => text.push_str(&format!(" Allowed: {}.", documented(choices))),
        kind => text.push_str(&format!(" Allowed: {}.", kind.allowed())),
    }
    match (key.default, key.otherwise) {
        ("", MUST) => text.push_str(" Must be given."),
        ("", words) => text.push_str(&format!(" Default: {words}.")),
        _ => {}
    }
    text
}

/// Words as comment lines.
fn comment(words: &str) -> String {
    const WIDTH: usize = 98;
    let mut text = String::new();
    let mut line = "#".to_owned();
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = "#".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    format!("{text}{line}\n")
}

/// The reference page, `docs/namelist.md`.
pub fn reference_markdown() -> String {
    let mut text = "# Namelist reference\n\n\
        A namelist is a TOML file. This page is made from the table of keys that the program \
        checks\nnamelists with; `pstswm init CASE` prints a commented one, `pstswm list` the \
        names that can be chosen.\n\n\
        - Unknown tables and keys are errors. All problems of a namelist are reported at once, \
        each with\n  file, line, column, key, value and what is allowed; nothing is run then \
        (exit code 2).\n\
        - `--set table.key=value` (repeatable) overrides a key; the value is TOML, or a word \
        without\n  quotes. Overriding `problem.steps` replaces the file's `problem.days`, and the \
        other way round.\n\
        - Paths of input files are relative to the folder of the namelist, `output.directory` to \
        where the\n  program is started.\n\
        - The resolved namelist, with every key at its final value, goes into every output \
        file.\n\
        - Only `problem.case` must be given; above T42 `time.dt` too.\n"
        .to_owned();
    for (table, about) in TABLES.iter() {
        if STAGES.iter().any(|(stage, _)| stage == table) {
            if *table == STAGES[0].0 {
                text.push_str(&stage_tables());
            }
            continue;
        }
        text.push_str(&format!("\n## `[{table}]`\n\n{about}\n\n"));
        text.push_str("| key | type | unit | default | allowed | meaning |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for key in KEYS.iter().filter(|key| key.table == *table) {
            text.push_str(&row(key));
        }
    }
    text.push_str("\n## Names\n");
    for key in KEYS.iter() {
        if let Kind::Name(choices) = key.kind
            && !STAGES.iter().any(|(stage, _)| *stage == key.table)
        {
            text.push_str(&format!("\n### `{}.{}`\n\n", key.table, key.name));
            choices
                .iter()
                .for_each(|choice| text.push_str(&named(choice)));
        }
    }
    text.push_str("\n### `algorithm.protocol`\n\n| number | name | calls | legal orders |\n");
    text.push_str("|---|---|---|---|\n");
    for protocol in Protocol::all() {
        text.push_str(&format!(
            "| {} | `{}` | {} | {} |\n",
            protocol.row().number,
            protocol.name(),
            protocol_about(protocol),
            legal_orders(protocol)
        ));
    }
    text
}

fn row(key: &Key) -> String {
    let default = match (key.default, key.otherwise) {
        ("", words) => words.to_owned(),
        (value, _) => format!("`{value}`"),
    };
    let mut about = key.about.to_owned();
    if !key.only.is_empty() {
        let only: Vec<&str> = key.only.iter().map(|case| case.name()).collect();
        about.push_str(&format!(" Only for {}.", only.join(", ")));
    }
    let allowed = match key.kind {
        Kind::Name(choices) => {
            let names: Vec<String> = choices
                .iter()
                .map(|choice| format!("`{}`", choice.name))
                .collect();
            names.join(", ")
        }
        kind => kind.allowed(),
    };
    let (name, kind, unit) = (key.name, key.kind.type_name(), key.unit);
    format!("| `{name}` | {kind} | {unit} | {default} | {allowed} | {about} |\n")
}

fn named(choice: &Choice) -> String {
    // A feature of the build is no fact of the page, which is the same for every build.
    let mark = match (choice.name, choice.unavailable) {
        ("netcdf4", _) => " (needs the cargo feature `netcdf4`)".to_owned(),
        (_, Some(why)) => format!(" ({why})"),
        (_, None) => String::new(),
    };
    format!("- `{}`: {}{mark}\n", choice.name, choice.about)
}

fn stage_tables() -> String {
    let keys: Vec<String> = KEYS
        .iter()
        .filter(|key| key.table == STAGES[0].0)
        .map(|key| format!("`{}`", key.name))
        .collect();
    let mut text = format!(
        "\n## Tables of the stages\n\nEach may hold {}; what it does not hold is as in \
         `[algorithm]`.\n\n",
        keys.join(", ")
    );
    for (stage, about) in STAGES {
        text.push_str(&format!("- `[{stage}]`: {about}\n"));
    }
    text
}
