//! The command `pstswm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pstswm::app::main()
}
