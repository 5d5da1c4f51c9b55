//! The envelope every result shares: schema, kind, verdict, provenance, input, results.

use serde::{Deserialize, Serialize};

use super::provenance::Provenance;

/// Name and version of the format of results.
pub const SCHEMA: &str = "pstswm/1";

/// Which command made a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Integration of a case.
    Run,
    /// What build and machine are.
    Env,
    /// Swap test.
    Swap,
    /// Classic communication suite.
    Comm,
    /// Search for the best algorithms.
    Tune,
    /// Standard cases against references.
    Validate,
    /// One problem over several rank counts.
    Scaling,
    /// Communication on a modelled machine.
    Simulate,
}

/// Whether a result may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Every check passed.
    Valid,
    /// A check failed.
    Invalid,
}

impl Status {
    /// `VALID` or `INVALID`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Invalid => "INVALID",
        }
    }
}

/// The verdict on a result; INVALID exactly when there are reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// VALID or INVALID.
    pub status: Status,
    /// Why it is INVALID.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// VALID, until a check fails.
    pub fn valid() -> Self {
        Self::from_reasons(Vec::new())
    }

    /// INVALID if there are reasons.
    pub fn from_reasons(reasons: Vec<String>) -> Self {
        let status = if reasons.is_empty() {
            Status::Valid
        } else {
            Status::Invalid
        };
        Self { status, reasons }
    }

    /// Makes the verdict INVALID for this reason.
    pub fn fail(&mut self, reason: impl Into<String>) {
        self.status = Status::Invalid;
        self.reasons.push(reason.into());
    }

    /// Whether every check passed.
    pub fn is_valid(&self) -> bool {
        self.status == Status::Valid
    }
}

/// A result: what was asked (`I`), what came out (`R`), and what produced it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record<R, I = serde_json::Value> {
    /// [`SCHEMA`].
    pub schema: String,
    /// The command.
    pub kind: Kind,
    /// VALID or INVALID.
    pub verdict: Verdict,
    /// What produced the result.
    pub provenance: Provenance,
    /// The resolved namelist, or the resolved options.
    pub input: I,
    /// What came out, by kind.
    pub results: R,
}

impl<R, I> Record<R, I> {
    /// A record of the present schema.
    pub fn new(kind: Kind, verdict: Verdict, provenance: Provenance, input: I, results: R) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            kind,
            verdict,
            provenance,
            input,
            results,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_makes_a_verdict_invalid() {
        let mut verdict = Verdict::valid();
        assert!(verdict.is_valid());
        verdict.fail("mass drifted by 1e-3, at most 1e-12 is allowed");
        assert!(!verdict.is_valid());
        let text = serde_json::to_string(&verdict).unwrap();
        assert!(
            text.starts_with(r#"{"status":"INVALID","reasons":["mass"#),
            "{text}"
        );
        assert_eq!(serde_json::to_string(&Kind::Run).unwrap(), r#""run""#);
    }
}
