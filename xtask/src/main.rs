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
mod book;
mod browser;
mod chaos;
mod ci;
mod cluster;
mod conformance;
mod coverage;
mod deny;
mod deploy;
mod features;
mod fuzz;
mod install;
mod interop;
mod journeys;
mod laws;
mod load;
mod metadata;
mod oracles;
mod postgres;
mod public_api;
mod publish_check;
mod scan;
mod shell;
mod soak;
mod tidy;

use std::process::ExitCode;

/// Verbs whose output is a report.
const REPORTS: [&str; 10] = [
    "bench",
    "chaos",
    "ci",
    "cluster",
    "conformance",
    "coverage",
    "fuzz",
    "laws",
    "load",
    "soak",
];

const USAGE: &str = "\
usage: cargo xtask <verb>

what gates a change
  ci              format, lints, tests, docs and all of this block
  tidy            dependency arrows, file sizes, metadata, markers, links, requirements
  publish-check   package every published crate, count dependencies, build it (not in ci)
  conformance [PATTERN]   the official suites, every scenario of clients and servers; --gateway: servers
                          directly and through the gateway
  interop [--rmcp]   real servers, installed by package name, over every transport; official clients on ours
  oracles [--rounds N] [--seed S]   the model wires against the vendors' own SDKs
  deploy          the Dockerfile and the compose file, as the linters of their formats read them
  chaos [PATTERN] misbehaving servers: outcome, time, memory, processes left
  cluster [--short] [--profile P]
                      replicas on one PostgreSQL, killed, paused and cut off (in ci: --short)
  browser [CASE…] the web page in a real Chromium; pictures in target/browser/shots. `speed` measures it
  journeys [--postgres] [--profile P]
                      the program as users build it, in a terminal and in Chromium, with real servers

before a release; each installs its tool once, which takes minutes
  public-api [--update]   what the libraries offer, against each public-api.txt
  deny [advisories]   licences, banned crates and sources of all dependencies; known vulnerabilities
  book            the website, in target/book/book: its pages and their links
  features        each published crate by itself: no features, the default ones, each one alone
  coverage [CRATE…]   lines that each crate's own tests reach
  fuzz [--minutes N] [TARGET…]   laws of all that reads foreign bytes (needs a nightly compiler)
  load [--team] [--profile P]
                       200 conversations at once; 1, 64 and 256 readers; 10,000 messages; a long reply;
                       --team: 200 and 2,000 on SQLite, on PostgreSQL, at three replicas; 1,000 readers
  laws [--minutes N] [--seed S] [PATTERN]   every property test, on fresh seeds
  soak [--minutes N]   the manager and the loop under load: memory, tasks, no call lost or doubled
  scan            precision, recall and false alarms of the scanner, on the tools of real servers
  bench [TOPIC [WORD…]]   measure against peers (needs the registry once); reports, never gates
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match args.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let result = shell::enter_root().and_then(|()| {
        if REPORTS.contains(&verb) {
            println!("{}", shell::stamp());
        }
        run(verb, rest)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: &str, rest: &[String]) -> shell::Outcome {
    match verb {
        "ci" => ci::run(),
        "tidy" => tidy::run(),
        "publish-check" => publish_check::run(),
        "conformance" => conformance::run(rest),
        "interop" => interop::run(rest),
        "oracles" => oracles::run(rest),
        "deploy" => deploy::run(),
        "chaos" => chaos::run(rest),
        "cluster" => cluster::run(rest),
        "load" => load::run(rest),
        "laws" => laws::run(rest),
        "soak" => soak::run(rest),
        "scan" => scan::run(rest),
        "bench" => bench::run(rest),
        "browser" => browser::run(rest),
        "journeys" => journeys::run(rest),
        "fuzz" => fuzz::run(rest),
        "coverage" => coverage::run(rest),
        "book" => book::run(),
        "features" => features::run(),
        "public-api" => public_api::run(rest),
        "deny" => deny::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("unknown verb '{other}'\n\n{USAGE}")),
    }
}
