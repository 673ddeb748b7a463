//! `cargo xtask cluster [--short] [--profile P]`: replicas of `switchboard serve` on one PostgreSQL database, which
//! are killed, paused, cut off and ended while users have calls made.

use crate::postgres::{self, Server};
use crate::shell::{self, Outcome, cargo_as_tested, command, in_ci};

/// Ten thousand calls; takes hours in a debug build.
const LONG: &[&str] = &[
    "calls=10000",
    "kills=200",
    "pauses=20",
    "restarts=20",
    "cuts=5",
    "drains=20",
    "lease=5",
];
/// A minute's worth of all kinds of disturbances.
const SHORT: &[&str] = &[
    "calls=60",
    "kills=4",
    "pauses=1",
    "restarts=1",
    "cuts=1",
    "drains=1",
    "lease=3",
];

/// Builds the program and the judge, and runs it on a database server of its own.
pub(crate) fn run(args: &[String]) -> Outcome {
    let mut words: Vec<&str> = args.iter().map(String::as_str).collect();
    let profile = shell::option(&mut words, "--profile");
    let plan: &[&str] = match words.as_slice() {
        [] => LONG,
        ["--short"] => SHORT,
        numbers if numbers.iter().all(|number| number.contains('=')) => numbers,
        _ => {
            let usage = "usage: cargo xtask cluster [--short | NAME=NUMBER…] [--profile P]";
            return Err(usage.to_owned());
        }
    };
    let Some(server) = Server::start()? else {
        return match in_ci() && cfg!(target_os = "linux") {
            true => Err("no PostgreSQL. With CI=true nothing is skipped.".to_owned()),
            false => {
                println!("SKIPPED: replicas on one PostgreSQL, which is not installed");
                Ok(())
            }
        };
    };
    let mut targets = vec!["--bin", "switchboard", "--example", "cluster"];
    if let Some(profile) = profile {
        targets.extend(["--profile", profile]);
    }
    shell::run(cargo_as_tested("build", &targets))?;
    let folder = shell::folder(profile.unwrap_or("dev"));
    let mut judge = command(&format!("target/{folder}/examples/cluster"), plan);
    judge.env(postgres::VARIABLE, server.url());
    judge.env("SWITCHBOARD_RESTART_POSTGRES", server.restart_command());
    shell::run(judge)
}
