//! `cargo xtask journeys [--profile P]`: the program as users build it, driven as a person would.

use std::path::Path;

use crate::browser;
use crate::install;
use crate::shell::{self, Outcome, cargo, command};

/// Builds the program with its default features in this profile, `release` by default, and plays
/// `switchboard/journeys` with it: in a pseudo-terminal and in Chromium, with real servers. Without
/// a browser, it prints that and goes on, unless `CI=true`.
pub(crate) fn run(args: &[String]) -> Outcome {
    let (profile, folder) = match args {
        [] => ("release", "release"),
        [flag, profile] if flag == "--profile" && profile == "dev" => ("dev", "debug"),
        [flag, profile] if flag == "--profile" => (profile.as_str(), profile.as_str()),
        _ => return Err("usage: cargo xtask journeys [--profile P]".to_owned()),
    };
    if !cfg!(target_os = "linux") {
        return browser::skip("journeys look for processes in /proc, which only Linux has");
    }
    let Some(chromium) = browser::chromium()? else {
        return browser::skip(browser::MISSING);
    };
    let root = browser::root()?;
    let playwright = browser::playwright()?;
    let servers = install::npm(Path::new("xtask/interop"), Path::new("target/interop/node"))?;
    // Alone: beside other packages it would get the features that their tests ask for.
    shell::run(cargo(&[
        "build",
        "--quiet",
        "--profile",
        profile,
        "--package",
        "switchboard",
    ]))?;
    // A copy: other checks build the program with other features, perhaps at the same time.
    let program = root.join("target/journeys/switchboard");
    let built = browser::program(folder)?;
    let copied = std::fs::create_dir_all(root.join("target/journeys"))
        .and_then(|()| std::fs::copy(built, &program));
    copied.map_err(|e| format!("{}: {e}", program.display()))?;
    let mut story = command("node", &["switchboard/journeys/journeys.mjs"]);
    story.env("CHROMIUM", chromium);
    story.env("PLAYWRIGHT", root.join(playwright).join("node_modules"));
    story.env("SERVERS", root.join(servers).join("node_modules"));
    story.env("SWITCHBOARD", program);
    story.env("SHOTS", browser::shots("target/journeys/shots")?);
    shell::run(story)
}
