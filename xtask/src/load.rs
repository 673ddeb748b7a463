//! `cargo xtask load [--profile P] [--team [CONVERSATIONS… [readers=NUMBER]]]`: many conversations at once
//! with `switchboard serve`, many readers of its events, a very long conversation, a long reply in small
//! pieces, and a server that floods its log; with `--team`, SQLite, PostgreSQL and three replicas side by side.

use crate::postgres;
use crate::shell::{self, Outcome, cargo, command};

/// Builds the program and the load in this profile, `dist` by default, and runs the load.
pub(crate) fn run(args: &[String]) -> Outcome {
    let mut words: Vec<&str> = args.iter().map(String::as_str).collect();
    let profile = shell::option(&mut words, "--profile").unwrap_or("dist");
    let numbers = match words.as_slice() {
        [] => None,
        ["--team", numbers @ ..] => Some(numbers),
        _ => {
            let usage =
                "usage: cargo xtask load [--profile P] [--team [CONVERSATIONS… [readers=NUMBER]]]";
            return Err(usage.to_owned());
        }
    };
    let mut build = cargo(&["build", "--quiet", "--package", "switchboard"]);
    build.args(["--bin", "switchboard", "--example", "load"]);
    // The example compares with PostgreSQL.
    build.args(["--features", "postgres", "--profile", profile]);
    shell::run(build)?;
    let folder = shell::folder(profile);
    let mut load = command(&format!("target/{folder}/examples/load"), &[]);
    let Some(numbers) = numbers else {
        return shell::run(load);
    };
    load.arg("team").args(numbers);
    let database = postgres::Server::start_durable()?;
    if let Some(database) = &database {
        load.env(postgres::VARIABLE, database.url());
    }
    shell::run(load)
}
