//! The files of a run hold the same numbers however they were gathered.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, run};
use pstswm::problem::input::Source;
use pstswm::report::netcdf::read_checkpoint;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;

const HISTORY: &str = "history_0001.nc";
const CHECKPOINT: &str = "checkpoint_000000000002.nc";

/// The bits of every number in a history and a checkpoint, by name.
type Written = Vec<(String, Vec<u64>)>;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Runs two steps and reads back what they wrote.
fn written(folder: &Folder, out: &str, ranks: usize, sets: &[String]) -> Written {
    let mut arguments = ["run", "n.toml", "--ranks", &ranks.to_string()]
        .map(str::to_owned)
        .to_vec();
    let directory = format!("output.directory=\"{out}\"");
    for set in [directory].iter().chain(sets) {
        arguments.extend(["--set".to_owned(), set.clone()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = run(&folder.0, &arguments);
    assert_eq!(outcome.code, 0, "{sets:?}: {}", outcome.stderr);
    assert_eq!(folder.names(out), [CHECKPOINT, HISTORY]);
    let mut history = Source::open(&folder.0.join(out).join(HISTORY)).unwrap();
    let names: Vec<String> = history
        .variables()
        .iter()
        .map(|variable| variable.name.clone())
        .collect();
    let mut all: Written = names
        .into_iter()
        .map(|name| (name.clone(), bits(&history.read(&name).unwrap())))
        .collect();
    let checkpoint = read_checkpoint(&folder.0.join(out).join(CHECKPOINT)).unwrap();
    all.extend(
        checkpoint
            .fields
            .iter()
            .map(|(name, values)| (format!("checkpoint {name}"), bits(values))),
    );
    all
}

#[test]
fn files_are_the_same_however_gathered() {
    let folder = Folder::new("gather-output");
    folder.file(
        "n.toml",
        "[problem]\ncase = \"williamson-6\"\ntruncation = 13\nlevels = 2\nsteps = 2\n\
         [time]\ndt = 900.0\n[output]\nevery-hours = 0.25\nsamples-per-file = 3\n\
         checkpoint-hours = 0.5\n[algorithm]\nwatchdog-seconds = 30\n",
    );
    let expected = written(&folder, "alone", 1, &[]);
    let large = expected.iter().filter(|(_, bits)| bits.len() > 100).count();
    assert!(large >= 5 + 2, "{large} fields");
    let mut number = 0;
    for protocol in Protocol::all() {
        for order in Order::ALL {
            if !protocol.legal_with(order) {
                continue;
            }
            // Five rows share groups of latitudes unevenly; 17 ranks leave some with nothing.
            let (ranks, mesh) = [(5, "[1, 5]"), (6, "[3, 2]"), (17, "[17, 1]")][number % 3];
            let cap = [0, 1, 2, 5][number % 4];
            let eager = [0, 4096][number % 2];
            let sets = [
                format!("algorithm.mesh={mesh}"),
                format!("algorithm.eager-limit={eager}"),
                format!("algorithm.gather.order=\"{}\"", order.name()),
                format!("algorithm.gather.protocol=\"{}\"", protocol.name()),
                format!("algorithm.gather.max-requests={cap}"),
                format!("algorithm.gather.handshake={}", number % 5 < 3),
                format!("algorithm.gather.overlap={}", number % 7 < 5),
            ];
            let found = written(&folder, &format!("out{number}"), ranks, &sets);
            for ((name, found), (expected_name, expected)) in found.iter().zip(&expected) {
                assert_eq!(name, expected_name);
                assert!(found == expected, "{name} on {ranks} ranks, {sets:?}");
            }
            assert_eq!(found.len(), expected.len());
            number += 1;
        }
    }
    assert_eq!(number, 11 + 2 * 9);
}
