//! `switchboard`: the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::cli::main(std::env::args_os())
}
