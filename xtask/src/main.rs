//! The workspace's own commands: `cargo xtask <verb>`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]
#![allow(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed, and a missing one is null"
)]

mod bench;
mod chaos;
mod ci;
mod conformance;
mod install;
mod interop;
mod metadata;
mod oracles;
mod publish_check;
mod shell;
mod soak;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <verb>

  ci              everything below that gates a change, as continuous integration runs it
  tidy            dependency arrows, file sizes, metadata, markers, links
  publish-check   package every published crate, build the packages, count dependencies
  conformance [PATTERN]   the official suites, every client scenario at every revision
  interop         real servers, installed by package name, over every transport
  oracles [--rounds N] [--seed S]   the model wires against the vendors' own SDKs
  chaos [PATTERN] misbehaving servers: outcome, time, memory, processes left
  soak [--minutes N]   the manager and the loop under load: memory, tasks, no call lost or doubled
  bench [TOPIC [WORD…]]   measure against peers (needs the registry once); reports, never gates
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match args.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let result = shell::enter_root().and_then(|()| match verb {
        "ci" => ci::run(),
        "tidy" => tidy::run(),
        "publish-check" => publish_check::run(),
        "conformance" => conformance::run(rest),
        "interop" => interop::run(),
        "oracles" => oracles::run(rest),
        "chaos" => chaos::run(rest),
        "soak" => soak::run(rest),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("unknown verb '{other}'\n\n{USAGE}")),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
