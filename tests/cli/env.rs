//! `env`: every block is printed, and the result is a record.

use pstswm::report::env::EnvResults;
use pstswm::report::json;
use pstswm::report::record::Kind;
use pstswm::transport::threads::ThreadOptions;

use super::common::Folder;
use super::go;

#[test]
fn every_block_and_the_record() {
    let folder = Folder::new("env");
    let outcome = go(&folder, "env --ranks 3 --json r.json");
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
    for title in [
        "program",
        "transport",
        "engines",
        "ranks",
        "timers",
        "warnings",
    ] {
        let blocks = outcome.stdout.lines().filter(|line| *line == title);
        assert_eq!(blocks.count(), 1, "{title}:\n{}", outcome.stdout);
    }
    for word in [
        "PSTSWM",
        "machine (of rank 0)",
        "FMA peak",
        "Gflop/s",
        "GB/s",
        "alltoallv",
    ] {
        assert!(outcome.stdout.contains(word), "{word}:\n{}", outcome.stdout);
    }
    let record = json::read::<EnvResults, serde_json::Value>(&folder.0.join("r.json")).unwrap();
    assert_eq!(record.kind, Kind::Env);
    assert_eq!(record.provenance.ranks, 3);
    let results = record.results;
    let eager = results.eager.unwrap();
    let limit = ThreadOptions::default().eager_limit as u64;
    assert_eq!((eager.between, eager.buffered_bytes), ([0, 1], limit));
    assert_eq!(
        results
            .ranks
            .iter()
            .map(|r| r.last + 1 - r.first)
            .sum::<usize>(),
        3
    );
    assert_eq!(results.clocks.len(), 1);
    assert!(results.clocks[0].resolution > 0.0);
    assert!(results.peak_flops.median > 0.0 && results.peak_flops.count > 6);
    assert_eq!(results.copy.len(), 2);
    assert!(
        results
            .copy
            .iter()
            .all(|copy| copy.bytes_per_second.min > 0.0)
    );
    assert!(results.copy[0].buffer_bytes < results.copy[1].buffer_bytes);
}

#[test]
fn one_rank_has_no_eager_limit() {
    let folder = Folder::new("env-one");
    let outcome = go(&folder, "env");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        !outcome.stdout.contains("eager limit"),
        "{}",
        outcome.stdout
    );
    assert!(folder.names("").is_empty());
}
