//! One figure: a measured value, what is allowed, and whether it passes.

use serde::{Deserialize, Serialize};

use crate::report::number::or_nan;

/// What is allowed of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// At most this.
    AtMost(f64),
    /// From the first to the second, both included.
    Between(f64, f64),
}

impl Allowed {
    /// `value` give or take `fraction` of it.
    pub fn within(value: f64, fraction: f64) -> Self {
        Self::around(value, (value * fraction).abs())
    }

    /// `value` give or take `tolerance`.
    pub fn around(value: f64, tolerance: f64) -> Self {
        Self::Between(value - tolerance, value + tolerance)
    }

    fn bounds(self) -> (Option<f64>, f64) {
        match self {
            Self::AtMost(high) => (None, high),
            Self::Between(low, high) => (Some(low), high),
        }
    }
}

/// A measured value with what is allowed and where that comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was checked: a case, or `transform`.
    pub case: String,
    /// Which run of it.
    pub run: String,
    /// What was measured.
    pub quantity: String,
    /// What came out.
    #[serde(deserialize_with = "or_nan")]
    pub value: f64,
    /// Least that passes; null: anything small does.
    pub low: Option<f64>,
    /// Most that passes.
    pub high: f64,
    /// Unit of the three; empty for pure numbers.
    pub unit: String,
    /// Whether the value is allowed.
    pub pass: bool,
    /// Where the bounds come from.
    pub source: String,
}

impl Figure {
    /// Judges a value; one that is not a number fails.
    pub fn new(
        (case, run): (&str, &str),
        quantity: impl Into<String>,
        (value, unit): (f64, &str),
        allowed: Allowed,
        source: &str,
    ) -> Self {
        let (low, high) = allowed.bounds();
        Self {
            case: case.to_owned(),
            run: run.to_owned(),
            quantity: quantity.into(),
            value,
            low,
            high,
            unit: unit.to_owned(),
            pass: low.is_none_or(|low| value >= low) && value <= high,
            source: source.to_owned(),
        }
    }

    /// What is allowed, in words.
    pub fn allowed(&self) -> String {
        match self.low {
            Some(low) => format!("{} .. {}", number(low), number(self.high)),
            None => format!("<= {}", number(self.high)),
        }
    }

    /// PASS or FAIL.
    pub fn verdict(&self) -> &'static str {
        if self.pass { "PASS" } else { "FAIL" }
    }

    /// The line that is printed.
    pub fn line(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        let name = format!("{}: {}", self.run, self.quantity);
        let value = format!("{}{unit}", number(self.value));
        format!(
            "{}  {name:<80} {value:<17} allowed {:<24} {}",
            self.verdict(),
            self.allowed(),
            self.source
        )
    }
}

/// Short where it loses nothing that matters: heights with millimetres, the rest with four digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.01..1e5).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(value: f64, allowed: Allowed) -> bool {
        Figure::new(("c", "r"), "q", (value, "m"), allowed, "s").pass
    }

    #[test]
    fn bounds_are_included_and_nan_fails() {
        assert!(judged(1.0, Allowed::AtMost(1.0)));
        assert!(!judged(1.1, Allowed::AtMost(1.0)));
        assert!(judged(0.0, Allowed::AtMost(0.0)));
        assert!(judged(-1.02, Allowed::within(-1.0, 0.02)));
        assert!(!judged(-1.03, Allowed::within(-1.0, 0.02)));
        assert!(!judged(0.9, Allowed::Between(1.0, 2.0)));
        for allowed in [Allowed::AtMost(1.0), Allowed::Between(0.0, 1.0)] {
            assert!(!judged(f64::NAN, allowed));
        }
    }

    #[test]
    fn the_chapter_on_results_defines_every_key() {
        let figure = Figure::new(("c", "r"), "q", (1.0, "m"), Allowed::AtMost(1.0), "s");
        let chapter = include_str!("../../docs/results.md");
        let (_, chapter) = chapter.split_once("## `results` of `validate`").unwrap();
        let value = serde_json::to_value(figure).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 9);
        for key in value.as_object().unwrap().keys() {
            assert!(chapter.contains(&format!("`{key}`")), "{key}");
        }
    }

    #[test]
    fn a_line_says_everything() {
        let figure = Figure::new(
            ("williamson-5", "T42"),
            "h",
            (5640.4684, "m"),
            Allowed::around(5640.468, 0.05),
            "reference run",
        );
        let line = figure.line();
        for part in [
            "PASS",
            "T42: h",
            "5640.4684 m",
            "5640.4180 .. 5640.5180",
            "reference run",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
}
