//! The program under MPI's launcher: the same bits as on threads, and no end without a word.
//!
//! Built with `--features mpi` only. `MPIEXEC` names the launcher of the library that was built
//! with (default `mpiexec`); it must be there, and every start has a time limit.
#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used)]

mod common;

use std::process::{Command, Output, Stdio};

/// Ranks that a start may have: only Open MPI yields when there are more ranks than processors;
/// elsewhere every message would take milliseconds.
fn most_ranks() -> usize {
    if pstswm::transport::mpi::library().starts_with("Open MPI") {
        4
    } else {
        2
    }
}

/// Starts the program on `ranks` processes; tests run one at a time, two cores hold no more.
fn launch(ranks: usize, words: &str) -> Output {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let launcher = std::env::var("MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    Command::new("timeout")
        .args(["-k", "5", "120", &launcher, "-n", &ranks.to_string()])
        .arg(env!("CARGO_BIN_EXE_pstswm"))
        .args(words.split_whitespace())
        // As root, on fewer cores than ranks, two jobs side by side.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The checksum a run printed.
fn checksum(output: &Output) -> String {
    let text = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let line = text.lines().find(|line| line.starts_with("checksum"));
    line.unwrap_or_else(|| panic!("no checksum in:\n{text}"))
        .split_whitespace()
        .nth(1)
        .unwrap()
        .to_owned()
}

const RUN: &str = "run namelists/quickstart.toml --set problem.days=0.125 --set problem.levels=2 \
                   --set output.every-hours=0 --set output.samples-per-file=0 \
                   --set output.checkpoint-hours=0";

#[test]
fn the_same_bits_as_on_threads() {
    let threads = Command::new(env!("CARGO_BIN_EXE_pstswm"))
        .args(RUN.split_whitespace())
        .output()
        .unwrap();
    let expected = checksum(&threads);
    for (ranks, more) in [
        (2, ""),
        (
            2,
            "--set algorithm.mesh=[2,1] --set algorithm.fft=\"single-transpose\"",
        ),
        (
            2,
            "--set algorithm.protocol=\"ready\" --set algorithm.order=\"simple\"",
        ),
        (
            2,
            "--set algorithm.protocol=\"native\" --set algorithm.order=\"ordered\"",
        ),
        (
            2,
            "--set algorithm.protocol=\"nonblocking-synchronous\" --set algorithm.overlap=true",
        ),
        (2, "--set algorithm.engine=\"alltoallv\""),
        (2, "--set algorithm.engine=\"ialltoallv\""),
        (2, "--set algorithm.engine=\"alltoallw\""),
        (2, "--set algorithm.engine=\"neighbour\""),
        (2, "--set algorithm.engine=\"persistent\""),
        (2, "--set algorithm.engine=\"put-fence\""),
        (2, "--set algorithm.engine=\"put-pscw\""),
        (2, "--set algorithm.engine=\"shared-window\""),
        (
            4,
            "--set algorithm.mesh=[2,2] --set algorithm.transpose=\"send-recv\"",
        ),
        (
            4,
            "--set algorithm.mesh=[1,4] --set algorithm.transpose=\"logarithmic\"",
        ),
        (
            4,
            "--set algorithm.mesh=[2,2] --set algorithm.engine=\"shared-window\"",
        ),
    ] {
        if ranks > most_ranks() {
            eprintln!("not run on {ranks} ranks: {more}");
            continue;
        }
        let output = launch(ranks, &format!("{RUN} {more}"));
        assert!(output.status.success(), "{more}: {}", text(&output.stderr));
        assert_eq!(checksum(&output), expected, "{ranks} ranks {more}");
        // Rank 0 alone speaks.
        assert_eq!(text(&output.stdout).matches("VALID").count(), 1);
    }
}

#[test]
fn distributed_algorithms_have_the_bits_of_threads() {
    for (ranks, keys) in [
        (
            2,
            "mesh=[2,1] fft=\"distributed\" order=\"simple\" protocol=\"ready\"",
        ),
        (
            2,
            "mesh=[2,1] fft=\"distributed\" order=\"delayed\" protocol=3 overlap=true",
        ),
        (
            2,
            "mesh=[1,2] legendre=\"distributed\" sum=\"halving\" protocol=\"native\"",
        ),
        (
            2,
            "mesh=[1,2] legendre=\"distributed\" sum=\"ring\" order=\"delayed\" protocol=9",
        ),
        (
            2,
            "mesh=[1,2] legendre=\"distributed\" sum=\"exchange\" protocol=0",
        ),
        (
            4,
            "mesh=[2,2] fft=\"distributed\" legendre=\"distributed\" sum=\"exchange\"",
        ),
        (
            4,
            "mesh=[1,4] legendre=\"distributed\" sum=\"pipelined-ring\" order=\"simple\" protocol=5",
        ),
        (
            4,
            "mesh=[4,1] fft=\"distributed\" order=\"simple\" protocol=\"native\"",
        ),
    ] {
        if ranks > most_ranks() {
            eprintln!("not run on {ranks} ranks: {keys}");
            continue;
        }
        let sets = keys.split(' ').map(|key| format!("--set algorithm.{key}"));
        let words = format!("{RUN} {}", sets.collect::<Vec<_>>().join(" "));
        let threads = Command::new(env!("CARGO_BIN_EXE_pstswm"))
            .args(words.split_whitespace())
            .args(["--ranks", &ranks.to_string()])
            .output()
            .unwrap();
        let output = launch(ranks, &words);
        assert!(output.status.success(), "{keys}: {}", text(&output.stderr));
        assert_eq!(
            checksum(&output),
            checksum(&threads),
            "{ranks} ranks {keys}"
        );
    }
}

#[test]
fn a_search_over_the_library() {
    let folder = common::Folder::new("mpi-tune");
    let path = folder.0.join("r.json");
    let small = "namelists/quickstart.toml --set problem.truncation=21";
    for (more, name) in [
        (
            "--order ordered --protocol 2,3 --engine pairwise,alltoallv",
            "search",
        ),
        ("--for pio", "for pio"),
    ] {
        let words = format!("tune {small} {more} --json {}", path.display());
        let output = launch(2, &words);
        assert!(output.status.success(), "{more}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).matches("VALID").count(), 1);
        let record: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let results = &record["results"];
        assert_eq!(results["mode"], name);
        let found = if name == "search" {
            "ranking"
        } else {
            "settings"
        };
        assert!(!results[found].as_array().unwrap().is_empty());
        assert_eq!(results["wrong"], serde_json::json!([]));
    }
}

#[test]
fn windows_that_the_library_mixes_are_refused() {
    if !pstswm::transport::mpi::library().starts_with("Open MPI v4.") {
        return;
    }
    let words = "--set algorithm.mesh=[2,2] --set algorithm.engine=\"put-fence\"";
    let output = launch(4, &format!("{RUN} {words}"));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("--mca osc ^rdma") && said.contains("algorithm.engine"),
        "{said}"
    );
    assert_eq!(
        said.matches("pstswm:").count(),
        1,
        "rank 0 alone speaks: {said}"
    );
    let words = "swap --all-pairs --engine all --order simple --protocol 3 --volume 1024 \
                 --messages 1,2 --iterations 1 --repeat 6 --overlap no";
    let output = launch(4, words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("# no engine put-fence: Open MPI v4"),
        "{said}"
    );
    assert!(said.contains("shared-window 0-2"), "{said}");
}

#[test]
fn swap_times_the_library() {
    let folder = common::Folder::new("mpi-swap");
    let file = folder.0.join("r.json");
    let words = format!(
        "swap --volume 64KiB,1024 --messages 1,8 --iterations 1,3 --repeat 7 --engine all --json {}",
        file.display()
    );
    let output = launch(2, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert_eq!(said.matches("result         VALID").count(), 1, "{said}");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(record["provenance"]["transport"], "mpi");
    let cases = record["results"]["cases"].as_array().unwrap();
    // 29 legal pairs, 24 of them with overlap, at two volumes, with two numbers of iterations.
    let pairs = cases.iter().filter(|case| case["engine"] == "pairwise");
    assert_eq!(pairs.count(), 4 * (29 + 24));
    assert!(cases.iter().all(|case| case["verified"] == true));
}

#[test]
fn what_relies_on_buffering_is_announced_and_ends() {
    let words = "swap --order simple --protocol blocking --unsafe-order --volume 64KiB \
                 --messages 1 --iterations 1 --overlap no --watchdog 1";
    let output = launch(2, words);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for needed in [
        "simple/blocking; standard sends between ranks 0 and 1 were buffered up to",
        "expect a deadlock",
        "rank 0: waited 1 s in MPI_Send for rank 1 (simple/blocking, step 1, 65536 bytes)",
        "rank 1: waited 1 s in MPI_Send for rank 0 (simple/blocking, step 1, 65536 bytes)",
    ] {
        assert!(said.contains(needed), "{needed}:\n{said}");
    }
}

#[test]
fn files_and_a_restart_on_threads() {
    let folder = common::Folder::new("mpi-files");
    let set = |days: &str| {
        format!(
            "run namelists/quickstart.toml --set problem.days={days} --set output.every-hours=1 \
             --set output.checkpoint-hours=1 --set output.directory=\"{}\"",
            folder.0.join("out").display()
        )
    };
    let first = launch(2, &set("0.125"));
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert!(!folder.names("out").is_empty());
    let more = format!(
        "{} --ranks 3 --restart {}",
        set("0.25"),
        folder.0.join("out/checkpoint_000000000018.nc").display()
    );
    let more = Command::new(env!("CARGO_BIN_EXE_pstswm"))
        .args(more.split_whitespace())
        .output()
        .unwrap();
    let whole = Command::new(env!("CARGO_BIN_EXE_pstswm"))
        .args(
            RUN.replace("0.125", "0.25")
                .replace("levels=2", "levels=1")
                .split_whitespace(),
        )
        .output()
        .unwrap();
    assert_eq!(checksum(&more), checksum(&whole));
}

#[test]
fn no_end_without_a_word() {
    for (words, said) in [
        (format!("{RUN} --ranks 3"), "--ranks 3"),
        (
            format!("{RUN} --set problem.truncation=x"),
            "problem.truncation",
        ),
        (format!("{RUN} --set algorithm.mesh=[3,1]"), "needs 3 ranks"),
        (
            format!("{RUN} --set problem.days=20 --set time.dt=7200"),
            "blew up",
        ),
        (RUN.replace("quickstart", "nosuch"), "nosuch.toml"),
    ] {
        let output = launch(2, &words);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(!output.status.success(), "{words}");
        assert_ne!(output.status.code(), Some(124), "timed out: {words}");
        let lines = err.lines().filter(|line| line.starts_with("pstswm:"));
        assert_eq!(lines.count(), 1, "{words}: one rank speaks\n{err}");
        assert!(format!("{out}{err}").contains(said), "{words}: {err}");
    }
}

#[test]
fn env_names_library_and_eager_limit() {
    let folder = common::Folder::new("mpi-env");
    let path = folder.0.join("r.json");
    let output = launch(2, &format!("env --json {}", path.display()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    for line in ["transport", "ranks", "timers", "warnings"] {
        assert_eq!(out.lines().filter(|l| *l == line).count(), 1, "{out}");
    }
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let results = &record["results"];
    assert_eq!(
        results["mpi"]["library"],
        record["provenance"]["transport_library"]
    );
    assert!(results["mpi"]["standard"].as_str().unwrap() >= "2");
    assert_eq!(results["clocks"][1]["name"], "MPI_Wtime");
    // Every library buffers something, and none a megabyte between two ranks of a node.
    let limit = results["eager"]["buffered_bytes"].as_u64().unwrap();
    assert!((8..1 << 20).contains(&limit), "{limit}");
}

#[test]
fn ranks_that_have_nothing_to_do_wait_for_the_others() {
    if most_ranks() < 3 {
        return;
    }
    // Asked for as many rounds as it takes until the sweep lasts longer than the watchdog lets a
    // wait last: how many that is depends on the machine.
    let mut rounds = 3000;
    loop {
        let words = format!(
            "swap --ranks-of 0,1 --watchdog 1 --volume 8KiB --messages 1 --iterations 1 \
             --order simple --protocol 3 --overlap no --repeat {rounds} --max-seconds 0"
        );
        let begin = std::time::Instant::now();
        let output = launch(3, &words);
        let all = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{all}");
        assert!(all.contains("VALID"), "{all}");
        if begin.elapsed().as_secs_f64() > 3.0 {
            break;
        }
        rounds *= 4;
    }
}
