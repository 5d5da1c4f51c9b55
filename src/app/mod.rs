//! The command line: one file per subcommand.

pub mod init;
pub mod list;

use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
