//! A test program that starts itself under MPI's launcher: as a test it launches, as a rank it
//! plays one part. `MPIEXEC` names the launcher of the library that was built with.

#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What makes the program a rank: the name of the part.
const PART: &str = "PSTSWM_TEST_PART";

/// The part to play; `None`: this is the test itself.
pub(crate) fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// How a part ended.
pub(crate) struct Ended {
    pub(crate) part: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Ended {
    /// Everything, for a report.
    pub(crate) fn all(&self) -> String {
        let Self {
            part,
            code,
            stdout,
            stderr,
            took,
        } = self;
        format!("{part} ended with {code:?} after {took:?}\n{stdout}\n{stderr}")
    }
}

/// Plays a part on `ranks` processes, for two minutes at most.
pub(crate) fn launch(part: &str, ranks: usize) -> Ended {
    launch_with(part, ranks, &[])
}

/// [`launch`] with variables in the environment.
pub(crate) fn launch_with(part: &str, ranks: usize, variables: &[(&str, &str)]) -> Ended {
    let launcher = std::env::var("MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let begin = Instant::now();
    let output: Output = Command::new("timeout")
        .args(["-k", "5", "120", &launcher, "-n", &ranks.to_string()])
        .arg(std::env::current_exe().unwrap())
        .env(PART, part)
        // As root, on fewer cores than ranks, two jobs side by side.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        part: part.to_owned(),
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: begin.elapsed(),
    }
}

/// What a check finds: nothing, or the reason for its failure.
pub(crate) type Check<'a> = &'a dyn Fn() -> Result<(), String>;

/// Runs checks one after the other, as the harness of tests would print them.
pub(crate) fn run(checks: &[(&str, Check<'_>)]) {
    println!("\nrunning {} tests", checks.len());
    let mut failures = Vec::new();
    for (name, check) in checks {
        let result = check();
        println!(
            "test {name} ... {}",
            if result.is_ok() { "ok" } else { "FAILED" }
        );
        if let Err(reason) = result {
            failures.push(format!("---- {name} ----\n{reason}"));
        }
    }
    let (failed, passed) = (failures.len(), checks.len() - failures.len());
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("\n{}", failures.join("\n"));
    println!("test result: {word}. {passed} passed; {failed} failed; 0 ignored");
    if failed > 0 {
        std::process::exit(101);
    }
}
