//! Options, launchers, pipes and the commands without a run.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use super::common::{Folder, program};
use super::{go, quick, refused, refused_in_a_line};

#[test]
fn bad_usage() {
    let folder = Folder::new("usage");
    quick(&folder, "");
    for (words, said) in [
        ("", "Usage"),
        ("walk", "walk"),
        ("run", "<FILE>"),
        ("run n.toml --ranks 0", "--ranks"),
        ("run n.toml --ranks 5000", "4096"),
        ("run n.toml --ranks -1", "-1"),
        ("run n.toml --ranks two", "--ranks"),
        ("run n.toml --rank 2", "--ranks"),
        ("run n.toml --transport pigeon", "threads"),
        ("run n.toml other.toml", "other.toml"),
        ("run n.toml --warmup -3", "-3"),
        ("env --ranks 0", "--ranks"),
        ("env --ranks many", "--ranks"),
        ("env n.toml", "n.toml"),
    ] {
        refused(&folder, words, &[said]);
    }
    refused_in_a_line(&folder, "run n.toml --transport mpi", &["--ranks N"]);
    refused_in_a_line(&folder, "env --transport mpi", &["--ranks N"]);
    refused_in_a_line(&folder, "env --json no/r.json", &["no/r.json", "folder"]);
    refused_in_a_line(&folder, "init williamson-8", &["williamson-8", "galewsky"]);
    refused_in_a_line(&folder, "init willamson-5", &["did you mean williamson-5?"]);
}

#[test]
fn help_and_version_are_results() {
    let folder = Folder::new("help");
    for words in [
        "--help",
        "run --help",
        "env --help",
        "--version",
        "list",
        "init williamson-2",
    ] {
        let outcome = go(&folder, words);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{words}");
        assert!(!outcome.stdout.is_empty(), "{words}");
    }
    assert!(
        go(&folder, "--version")
            .stdout
            .contains(env!("CARGO_PKG_VERSION"))
    );
    assert!(folder.names("").is_empty());
}

#[test]
fn launchers_of_lonely_ranks_are_refused() {
    let folder = Folder::new("launcher");
    quick(&folder, "samples-per-file = 0\ncheckpoint-hours = 0");
    let with = |name: &str, value: &str| {
        let mut command = program();
        command.args(["run", "n.toml"]).env(name, value);
        let output = command.current_dir(&folder.0).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (name, launcher) in [
        ("OMPI_COMM_WORLD_SIZE", "mpirun"),
        ("PMI_SIZE", "mpiexec"),
        ("SLURM_STEP_NUM_TASKS", "srun"),
    ] {
        let (code, message) = with(name, "4");
        assert_eq!(code, Some(2), "{message}");
        for word in [launcher, "4 ranks", "no MPI", "--ranks 4"] {
            assert!(message.contains(word), "{word}: {message}");
        }
        assert_eq!(with(name, "1").0, Some(0), "{name}=1");
    }
    assert_eq!(with("SLURM_NTASKS", "4").0, Some(0));
}

#[test]
fn every_init_namelist_runs() {
    let folder = Folder::new("init");
    for case in [
        "williamson-1",
        "williamson-2",
        "williamson-3",
        "williamson-4",
        "williamson-5",
        "williamson-6",
        "galewsky",
        "galewsky-balanced",
    ] {
        let printed = go(&folder, &format!("init {case}"));
        assert_eq!(printed.code, 0);
        folder.file("n.toml", &printed.stdout);
        let outcome = go(&folder, "run n.toml --ranks 2 --set problem.steps=2");
        assert_eq!(outcome.code, 0, "{case}: {}", outcome.stderr);
        assert!(
            outcome.stdout.contains("VALID"),
            "{case}: {}",
            outcome.stdout
        );
        assert!(
            !outcome.stdout.contains("INVALID"),
            "{case}: {}",
            outcome.stdout
        );
        std::fs::remove_dir_all(folder.0.join("out")).unwrap();
    }
    for case in ["williamson-7", "file"] {
        let printed = go(&folder, &format!("init {case}"));
        folder.file("n.toml", &printed.stdout);
        refused(
            &folder,
            "run n.toml --set problem.steps=2",
            &["problem.file"],
        );
    }
}

#[test]
fn rank_0_alone_speaks_and_only_of_results() {
    let folder = Folder::new("speaks");
    quick(&folder, "samples-per-file = 0\ncheckpoint-hours = 0");
    let outcome = go(&folder, "run n.toml --ranks 6");
    assert_eq!(outcome.code, 0);
    // No terminal: no progress.
    assert_eq!(outcome.stderr, "");
    let count = |word: &str| {
        outcome
            .stdout
            .lines()
            .filter(|l| l.starts_with(word))
            .count()
    };
    for word in ["PSTSWM", "case", "truncation", "ranks", "checksum"] {
        assert_eq!(count(word), 1, "{word}:\n{}", outcome.stdout);
    }
    // The table: one line at the start, one at the end.
    let rows = outcome.stdout.lines().filter(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first.parse::<f64>().is_ok()
    });
    assert_eq!(rows.count(), 2, "{}", outcome.stdout);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stdout.contains('\r'));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new("pipe");
    quick(
        &folder,
        "samples-per-file = 0\ncheckpoint-hours = 0\nevery-hours = 1.0",
    );
    for words in [
        "list",
        "init galewsky",
        "run n.toml --set problem.steps=300",
    ] {
        let mut child = program()
            .args(words.split(' '))
            .current_dir(&folder.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        drop(reader);
        let mut errors = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words}: {errors}");
        assert_eq!(errors, "", "{words}");
    }
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full here");
        return;
    };
    let folder = Folder::new("full-stdout");
    let output = program()
        .args(["list"])
        .current_dir(&folder.0)
        .stdout(full)
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("standard output"), "{errors}");
}

#[test]
fn progress_on_a_terminal_is_one_line_that_goes_away() {
    // util-linux's script gives the program a terminal.
    let folder = Folder::new("terminal");
    quick(&folder, "samples-per-file = 0\ncheckpoint-hours = 0");
    let command = format!(
        "'{}' run n.toml --ranks 2 --set problem.steps=3000 --set problem.truncation=21 \
         --set time.dt=300 2>&1 >/dev/null",
        env!("CARGO_BIN_EXE_pstswm")
    );
    let output = std::process::Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: no `script` here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["day ", "simulated days/day", "left"] {
        assert!(text.contains(word), "{word}: {text:?}");
    }
    // Nothing but redrawing: no line is ever ended before the last.
    assert!(text.trim_end().lines().count() <= 1, "{text:?}");
}
