//! `list`: everything that can be chosen, and what is unavailable here and why.

use crate::namelist::choices::{
    CASES, Choice, ENGINES, FFTS, FORMATS, LEGENDRES, MOUNTAINS, ORDERS, SCHEMES, SUMS, TRANSPOSES,
    legal_orders, protocol_about,
};
use crate::swap::protocol::Protocol;

/// Transports are no key of the namelist.
const TRANSPORTS: &[Choice] = &[
    Choice {
        name: "threads",
        about: "ranks as threads of one process (--ranks N)",
        unavailable: None,
    },
    Choice {
        name: "mpi",
        about: "ranks as MPI processes (mpirun -n N)",
        unavailable: if cfg!(feature = "mpi") {
            None
        } else {
            Some("unavailable in this build: needs cargo build --features mpi")
        },
    },
];

/// Every case, scheme, algorithm, order, protocol, engine, transport and format, a line each.
pub fn text() -> String {
    let groups: [(&str, &[Choice]); 9] = [
        ("Cases (problem.case)", CASES),
        ("Surfaces (problem.mountain)", MOUNTAINS),
        ("Time schemes (time.scheme)", SCHEMES),
        ("FFT (algorithm.fft)", FFTS),
        ("Legendre transform (algorithm.legendre)", LEGENDRES),
        ("Transposes (algorithm.transpose)", TRANSPOSES),
        (
            "Vector sums (algorithm.sum; only for legendre = \"distributed\": no effect in this version)",
            SUMS,
        ),
        ("Orders (algorithm.order)", ORDERS),
        ("Engines (algorithm.engine)", ENGINES),
    ];
    let mut text = String::new();
    for (title, choices) in groups {
        push(&mut text, title, choices);
    }
    text.push_str("\nProtocols (algorithm.protocol, by name or number): calls; legal orders\n");
    for protocol in Protocol::all() {
        text.push_str(&format!(
            "  {:>2} {:<29} {}; {}\n",
            protocol.row().number,
            protocol.name(),
            protocol_about(protocol),
            legal_orders(protocol)
        ));
    }
    push(&mut text, "Transports (--transport)", TRANSPORTS);
    push(&mut text, "History formats (output.format)", FORMATS);
    text
}

fn push(text: &mut String, title: &str, choices: &[Choice]) {
    let gap = if text.is_empty() { "" } else { "\n" };
    text.push_str(&format!("{gap}{title}\n"));
    for choice in choices {
        text.push_str(&format!("  {:<18} {}\n", choice.name, choice.about));
        if let Some(why) = choice.unavailable {
            text.push_str(&format!("  {:<18} ({why})\n", ""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_missing() {
        let text = text();
        for needed in [
            "williamson-7",
            "rk4",
            "blocking-synchronous",
            "shared-window",
        ] {
            assert!(text.contains(needed), "{needed}");
        }
        assert!(text.contains("(unavailable in this version)"));
    }
}
