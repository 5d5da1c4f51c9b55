//! What is wrong with a namelist, and how it is shown: all of it at once, each with its place.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Bytes of the file's text.
    Text(Range<usize>),
    /// An override on the command line, as given.
    Set(String),
    /// Nowhere: absent, a default, or the file as a whole.
    Nowhere,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `table.key`; empty when it is about the file as a whole.
    pub key: String,
    /// The value as written; empty when there is none.
    pub value: String,
    /// What is wrong and what is allowed.
    pub message: String,
    /// `file:line:column`, `--set table.key=value`, or the file.
    pub at: String,
    /// The source line with a caret under the value; empty when there is none.
    pub excerpt: String,
    order: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.at)?;
        if !self.key.is_empty() {
            write!(out, "{}", self.key)?;
            if !self.value.is_empty() {
                write!(out, " = {}", self.value)?;
            }
            write!(out, ": ")?;
        }
        write!(out, "{}", self.message)?;
        if !self.excerpt.is_empty() {
            write!(out, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a namelist.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", report(.findings))]
pub struct NamelistError {
    findings: Vec<Finding>,
}

fn report(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.join("\n")
}

impl NamelistError {
    /// Each problem, in the order of the file.
    pub fn problems(&self) -> &[Finding] {
        &self.findings
    }
}

/// The text of a namelist and what was found in it so far.
pub(super) struct Findings<'a> {
    name: &'a str,
    text: &'a str,
    list: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        let list = Vec::new();
        Self { name, text, list }
    }

    /// Notes a problem with the value of a key.
    pub(super) fn add(&mut self, place: &Place, key: &str, value: &str, message: String) {
        let finding = Finding {
            key: key.to_owned(),
            value: shortened(value),
            message,
            at: self.locate(place),
            excerpt: match place {
                Place::Text(span) => self.excerpt(span),
                _ => String::new(),
            },
            order: match place {
                Place::Text(span) => span.start,
                Place::Set(_) => usize::MAX - 1,
                Place::Nowhere => usize::MAX,
            },
        };
        if !self.list.contains(&finding) {
            self.list.push(finding);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_error(mut self) -> NamelistError {
        self.list.sort_by_key(|finding| finding.order);
        NamelistError {
            findings: self.list,
        }
    }

    /// `file:line:column` of a place.
    pub(super) fn locate(&self, place: &Place) -> String {
        match place {
            Place::Text(span) => {
                let (line, column, _) = self.line(span.start);
                format!("{}:{line}:{column}", self.name)
            }
            Place::Set(option) => format!("--set {option}"),
            Place::Nowhere => self.name.to_owned(),
        }
    }

    /// Line and column (from 1, in characters) of a byte, and where its line starts.
    fn line(&self, byte: usize) -> (usize, usize, usize) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = self.text[start..byte].chars().count() + 1;
        (line, column, start)
    }

    /// The line of a value, cut to a window when long, with carets under the value.
    fn excerpt(&self, span: &Range<usize>) -> String {
        const WINDOW: usize = 100;
        let (line, column, start) = self.line(span.start);
        let source = self.text[start..].lines().next().unwrap_or("");
        let value = self.text.get(span.clone()).unwrap_or("");
        let value = value.lines().next().unwrap_or("");
        let skip = if column > WINDOW - 20 { column - 20 } else { 0 };
        let shown: String = source
            .chars()
            .skip(skip)
            .take(WINDOW)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let room = (skip + WINDOW).saturating_sub(column - 1).max(1);
        let carets = "^".repeat(value.chars().count().clamp(1, room));
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let padding = " ".repeat(column - 1 - skip);
        let shown = shown.trim_end();
        format!("  {number} | {shown}\n  {margin} | {padding}{carets}")
    }
}

/// A value on one line, cut when long.
fn shortened(value: &str) -> String {
    const LONGEST: usize = 60;
    let line: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST + 1)
        .collect();
    match line.char_indices().nth(LONGEST) {
        Some((byte, _)) => format!("{}...", &line[..byte]),
        None => line,
    }
}
