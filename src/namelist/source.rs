//! From text and overrides to entries: each known key with its value and its place.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::choices::nearest;
use super::finding::{Findings, Place};
use super::keys::{self, KEYS, Key, TABLES};

/// A value as TOML has it.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(String),
    /// `None`: beyond 64 bits.
    Whole(Option<i64>),
    Number(f64),
    Flag(bool),
    List(Vec<Raw>),
    Other(&'static str),
}

impl Raw {
    /// The type, for a message.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Whole(_) => "a whole number",
            Self::Number(_) => "a number with a fraction or an exponent",
            Self::Flag(_) => "true/false",
            Self::List(_) => "a list",
            Self::Other(name) => name,
        }
    }

    fn new(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(whole) => {
                Self::Whole(i64::from_str_radix(whole.as_str(), whole.radix()).ok())
            }
            DeValue::Float(number) => Self::Number(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Self::Flag(*flag),
            DeValue::Datetime(_) => Self::Other("a date or time"),
            DeValue::Array(items) => {
                Self::List(items.iter().map(|item| Self::new(item.get_ref())).collect())
            }
            DeValue::Table(_) => Self::Other("a table"),
        }
    }

    /// A value written in TOML; `None`: it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        DeValue::parse(text)
            .ok()
            .map(|value| Self::new(value.get_ref()))
    }
}

/// Places shown where a text is no TOML.
const SYNTAX_ERRORS: usize = 5;

/// A key that was given.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: &'static Key,
    pub(super) raw: Raw,
    /// The value as written.
    pub(super) shown: String,
    pub(super) place: Place,
}

/// Entries by `table.key`.
pub(super) type Entries = BTreeMap<String, Entry>;

/// Reads the text and the overrides. `None`: the text is no TOML, and nothing more can be said.
pub(super) fn read(text: &str, sets: &[String], findings: &mut Findings<'_>) -> Option<Entries> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // After the first few, errors follow from each other: the file is something else.
        let further = errors.len().saturating_sub(SYNTAX_ERRORS);
        for error in errors.into_iter().take(SYNTAX_ERRORS) {
            let place = error.span().map_or(Place::Nowhere, Place::Text);
            let words = error.message().trim().replace('\n', "; ");
            findings.add(&place, "", "", format!("this is no TOML: {words}"));
        }
        if further > 0 {
            let message = format!("{further} further places that are no TOML; is this a namelist?");
            findings.add(&Place::Nowhere, "", "", message);
        }
        return None;
    }
    let mut entries = Entries::new();
    let mut reader = Reader {
        text,
        set: None,
        entries: &mut entries,
        findings,
    };
    reader.table("", document.get_ref());
    for set in sets {
        reader.set = Some(set);
        reader.one_set(set);
    }
    Some(entries)
}

struct Reader<'r, 'f> {
    text: &'r str,
    /// The override being read; `None`: the file is.
    set: Option<&'r str>,
    entries: &'r mut Entries,
    findings: &'r mut Findings<'f>,
}

impl Reader<'_, '_> {
    fn one_set(&mut self, set: &str) {
        let Some((path, value)) = set.split_once('=') else {
            return self.malformed(set);
        };
        let Some((table, name)) = path.trim().rsplit_once('.') else {
            return self.malformed(set);
        };
        let value = value.trim();
        let parsed = DeValue::parse(value).map_or_else(
            |_| DeValue::String(value.to_owned().into()),
            Spanned::into_inner,
        );
        let path = path.trim();
        if !self.one_of_the_two(path, "problem.days", "problem.steps") {
            self.one_of_the_two(path, "problem.steps", "problem.days");
        }
        self.item(table, name, 0..0, &parsed, 0..0, value);
    }

    /// Overriding one length of the run replaces the file's other.
    fn one_of_the_two(&mut self, path: &str, given: &str, other: &str) -> bool {
        let replaces = path == given
            && self
                .entries
                .get(other)
                .is_some_and(|entry| matches!(entry.place, Place::Text(_)));
        if replaces {
            self.entries.remove(other);
        }
        replaces
    }

    fn malformed(&mut self, set: &str) {
        let message = "an override is written table.key=value, such as problem.levels=4";
        let place = Place::Set(set.to_owned());
        self.findings.add(&place, "", "", message.to_owned());
    }

    fn place(&self, span: Range<usize>) -> Place {
        self.set
            .map_or(Place::Text(span), |set| Place::Set(set.to_owned()))
    }

    fn table(&mut self, name: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let shown = match self.set {
                Some(set) => set.split_once('=').map_or("", |(_, value)| value.trim()),
                None => self.text.get(value.span()).unwrap_or(""),
            };
            let shown = shown.to_owned();
            self.item(
                name,
                key.get_ref(),
                key.span(),
                value.get_ref(),
                value.span(),
                &shown,
            );
        }
    }

    fn item(
        &mut self,
        table: &str,
        name: &str,
        name_span: Range<usize>,
        value: &DeValue<'_>,
        value_span: Range<usize>,
        shown: &str,
    ) {
        let path = if table.is_empty() {
            name.to_owned()
        } else {
            format!("{table}.{name}")
        };
        if let Some(key) = keys::find(table, name) {
            let entry = Entry {
                key,
                raw: Raw::new(value),
                shown: shown.to_owned(),
                place: self.place(value_span),
            };
            self.entries.insert(path, entry);
        } else if keys::is_table(&path) {
            match value {
                DeValue::Table(inner) => self.table(&path, inner),
                _ => {
                    let place = self.place(value_span);
                    let message = format!("this is a table: write [{path}] and its keys below");
                    self.findings.add(&place, &path, shown, message);
                }
            }
        } else {
            let what = if matches!(value, DeValue::Table(_)) {
                unknown_table(&path)
            } else {
                unknown_key(table, name)
            };
            self.findings.add(&self.place(name_span), &path, "", what);
        }
    }
}

fn unknown_table(path: &str) -> String {
    let suggestion = nearest(path, TABLES.iter().map(|(table, _)| *table));
    match suggestion {
        Some(table) => format!("unknown table; did you mean [{table}]?"),
        None => {
            let tables: Vec<String> = TABLES.iter().map(|(name, _)| format!("[{name}]")).collect();
            format!("unknown table; there are {}", tables.join(", "))
        }
    }
}

fn unknown_key(table: &str, name: &str) -> String {
    let here: Vec<&str> = KEYS
        .iter()
        .filter(|key| key.table == table)
        .map(|key| key.name)
        .collect();
    if let Some(key) = nearest(name, here.iter().copied()) {
        return format!("unknown key; did you mean `{key}`?");
    }
    // A key that the table's parent has does not belong there: it is what this table does without.
    let parents_own = |key: &Key| table.starts_with(&format!("{}.", key.table));
    let elsewhere = KEYS.iter().find(|key| key.name == name);
    if let Some(key) = elsewhere.filter(|key| !parents_own(key)) {
        return format!("unknown key here; `{name}` belongs in [{}]", key.table);
    }
    let everywhere = nearest(name, KEYS.iter().map(|key| key.name));
    let likely = everywhere.and_then(|name| KEYS.iter().find(|key| key.name == name));
    if let Some(key) = likely.filter(|key| !parents_own(key)) {
        return format!(
            "unknown key; did you mean `{}` of [{}]?",
            key.name, key.table
        );
    }
    if here.is_empty() {
        return unknown_table(table);
    }
    format!("unknown key; [{table}] has {}", here.join(", "))
}
