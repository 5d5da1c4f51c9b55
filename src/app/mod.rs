//! The command line: one file per subcommand.

pub mod cli;
pub mod env;
pub mod explain;
pub mod init;
pub mod launch;
pub mod list;
mod result_files;
pub mod run;
pub mod session;
pub mod swap;
pub mod tune;
pub mod validate;
mod words;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::error::{Error, Result};
use cli::{Cli, Command};
use launch::Job;

/// Runs the program and turns its error into one message and an exit code.
pub fn main() -> ExitCode {
    // A panic in a rank is reported as a failure of that rank, not as a backtrace.
    std::panic::set_hook(Box::new(|_| {}));
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let job = match Job::start(cli.transport.as_deref()) {
        Ok(job) => job,
        Err(error) => return failed(&error),
    };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dispatch(cli, &job)));
    match result.unwrap_or_else(|panic| Err(internal(panic.as_ref()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if job.is_root() => {
            let code = failed(&error);
            job.end_all(error.exit_code());
            code
        }
        // Rank 0 meets the same error, speaks, and ends the job.
        Err(error) => ExitCode::from(error.exit_code()),
    }
}

/// The command line. A negative number is a value, so that it is told what is allowed.
fn parse() -> std::result::Result<Cli, clap::Error> {
    let numbers = |arg: clap::Arg| {
        let takes = arg.get_action().takes_values();
        arg.allow_negative_numbers(takes)
    };
    let command = Cli::command()
        .mut_args(numbers)
        .mut_subcommands(|command| command.mut_args(numbers));
    let matches = command.try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// A panic outside the ranks, in one line.
fn internal(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Error::Failed(format!("internal error, a fault of the program: {message}"))
}

fn failed(error: &Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "pstswm: {error}");
    ExitCode::from(error.exit_code())
}

fn dispatch(cli: Cli, job: &Job) -> Result<()> {
    match cli.command {
        Command::Run(options) => run::run(&options, job),
        Command::Env(options) => env::run(&options, job),
        Command::Swap(options) => swap::run(&options, job),
        Command::Tune(options) => tune::run(&options, job),
        // The rest is done by one process; the others of a job have nothing to do.
        _ if !job.is_root() => Ok(()),
        Command::Validate(options) => validate::run(&options),
        Command::Init { case } => print(&init::namelist(&case)?),
        Command::Explain(options) => print(&explain::text(&options)?),
        Command::List => print(&list::text()),
    }
}

/// Results go to stdout; a closed pipe (`| head`) is the reader's choice, not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Failed(
            format!("cannot write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}
