//! `cargo xtask journeys [--postgres] [--profile P]`: the program as users build it, driven as a person would.

use std::path::Path;

use crate::browser;
use crate::install;
use crate::postgres::Server;
use crate::shell::{self, Outcome, cargo, command};

/// Builds the program with its default features in this profile, `release` by default, and plays
/// `switchboard/journeys` with it: in a pseudo-terminal and in Chromium, with real servers. Without
/// a browser, it prints that and goes on, unless `CI=true`. With `--postgres`, everything is kept in a
/// database of a server of its own.
pub(crate) fn run(args: &[String]) -> Outcome {
    let mut words: Vec<&str> = args.iter().map(String::as_str).collect();
    let profile = shell::option(&mut words, "--profile").unwrap_or("release");
    let on_postgres = match words.as_slice() {
        [] => false,
        ["--postgres"] => true,
        _ => return Err("usage: cargo xtask journeys [--postgres] [--profile P]".to_owned()),
    };
    if !cfg!(target_os = "linux") {
        return browser::skip("journeys look for processes in /proc, which only Linux has");
    }
    let Some(chromium) = browser::chromium()? else {
        return browser::skip(browser::MISSING);
    };
    let database = match on_postgres {
        true => Server::start()?,
        false => None,
    };
    if on_postgres && database.is_none() {
        return browser::skip("journeys on PostgreSQL, which is not installed");
    }
    let root = browser::root()?;
    let playwright = browser::playwright()?;
    let servers = install::npm(Path::new("xtask/interop"), Path::new("target/interop/node"))?;
    // Alone: beside other packages it would get the features that their tests ask for.
    let mut build = cargo(&["build", "--quiet", "--profile", profile]);
    build.args(["--package", "switchboard"]);
    if on_postgres {
        build.args(["--features", "postgres"]);
    }
    shell::run(build)?;
    // A copy: other checks build the program with other features, perhaps at the same time.
    let program = root.join("target/journeys/switchboard");
    let built = browser::program(shell::folder(profile))?;
    let copied = std::fs::create_dir_all(root.join("target/journeys"))
        .and_then(|()| std::fs::copy(built, &program));
    copied.map_err(|e| format!("{}: {e}", program.display()))?;
    let mut story = command("node", &["switchboard/journeys/journeys.mjs"]);
    story.env("CHROMIUM", chromium);
    if let Some(database) = &database {
        story.env("DATABASE", database.url());
    }
    story.env("PLAYWRIGHT", root.join(playwright).join("node_modules"));
    story.env("SERVERS", root.join(servers).join("node_modules"));
    story.env("SWITCHBOARD", program);
    story.env("SHOTS", browser::shots("target/journeys/shots")?);
    shell::run(story)
}
