//! `list`: everything that can be chosen, and what is unavailable here and why.

use std::fmt::Write;

use super::launch;
use crate::namelist::choices::{
    CASES, Choice, ENGINES, FFTS, FORMATS, LEGENDRES, MOUNTAINS, ORDERS, SCHEMES, SUMS, TRANSPOSES,
    legal_orders, protocol_about,
};
use crate::swap::protocol::Protocol;
use crate::transport::threads::ThreadTransport;
use crate::transport::{EngineKind, Transport};

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
    let groups: [(&str, &[Choice]); 8] = [
        ("Cases (problem.case)", CASES),
        ("Surfaces (problem.mountain)", MOUNTAINS),
        ("Time schemes (time.scheme)", SCHEMES),
        ("FFT (algorithm.fft)", FFTS),
        ("Legendre transform (algorithm.legendre)", LEGENDRES),
        ("Transposes (algorithm.transpose)", TRANSPOSES),
        (
            "Vector sums (algorithm.sum; for legendre = \"distributed\")",
            SUMS,
        ),
        ("Orders (algorithm.order)", ORDERS),
    ];
    let mut text = String::new();
    for (title, choices) in groups {
        push(&mut text, title, choices);
    }
    text += &engines();
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

/// Every engine with a column for each transport, and the reasons where it cannot be had.
fn engines() -> String {
    type Lacks = fn(EngineKind) -> Option<String>;
    let transports: [(&str, Lacks); 2] = [
        ("threads", ThreadTransport::lacks),
        ("mpi", launch::lacks_over_mpi),
    ];
    let [(first, _), (second, _)] = transports;
    let mut text = format!(
        "\nEngines (algorithm.engine)\n  {:<18} {first:<9}{second}\n",
        ""
    );
    // Messages between pairs are on every transport that there is.
    let pairwise = |mpi: bool| !mpi || cfg!(feature = "mpi");
    let mut reasons: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for choice in ENGINES {
        let _ = write!(text, "  {:<18} ", choice.name);
        for (transport, lacks) in transports {
            let reason = match EngineKind::from_name(choice.name) {
                Some(engine) => lacks(engine),
                None if pairwise(transport == "mpi") => None,
                None => lacks(EngineKind::Alltoallv),
            };
            let _ = write!(text, "{:<9}", if reason.is_none() { "yes" } else { "no" });
            let Some(reason) = reason else {
                continue;
            };
            let same =
                |known: &&mut (&str, String, Vec<&str>)| known.0 == transport && known.1 == reason;
            match reasons.iter_mut().find(same) {
                Some((_, _, names)) => names.push(choice.name),
                None => reasons.push((transport, reason, vec![choice.name])),
            }
        }
        let _ = writeln!(text, "{}", choice.about);
    }
    for (transport, reason, names) in reasons {
        let names = if names.len() == ENGINES.len() {
            "no engine".to_owned()
        } else {
            format!("without {}", names.join(", "))
        };
        let _ = writeln!(text, "  ({transport}: {names}: {reason})");
    }
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
        assert_eq!(
            text.contains("(unavailable in this build: "),
            cfg!(not(all(feature = "mpi", feature = "netcdf4")))
        );
    }

    #[test]
    fn engines_have_a_column_for_each_transport() {
        let text = engines();
        for choice in ENGINES {
            let line = text
                .lines()
                .find(|line| line.split_whitespace().next() == Some(choice.name))
                .unwrap();
            let mut words = line.split_whitespace().skip(1);
            let threads = EngineKind::from_name(choice.name).and_then(ThreadTransport::lacks);
            let yes = |reason: Option<String>| if reason.is_none() { "yes" } else { "no" };
            assert_eq!(words.next(), Some(yes(threads)), "{line}");
            if let Some(engine) = EngineKind::from_name(choice.name) {
                assert_eq!(
                    words.next(),
                    Some(yes(launch::lacks_over_mpi(engine))),
                    "{line}"
                );
            }
        }
        if cfg!(not(feature = "mpi")) {
            assert!(
                text.contains("(mpi: no engine: this build has no MPI"),
                "{text}"
            );
        }
    }
}
