//! `cargo xtask bench [TOPIC]`: measurements against peers, from the workspace in `bench/`.

use std::fs;

use crate::shell::{self, Outcome, cargo};

/// Runs a topic, handing it the words that follow, or every one that `bench/src/bin` holds.
pub(crate) fn run(args: &[String]) -> Outcome {
    let known = known_topics()?;
    match args.split_first() {
        None => known.iter().try_for_each(|topic| measure(topic, &[])),
        Some((topic, words)) if known.contains(topic) => measure(topic, words),
        Some((topic, _)) => Err(format!(
            "no topic '{topic}'; there are: {}",
            known.join(", ")
        )),
    }
}

fn measure(topic: &str, words: &[String]) -> Outcome {
    let mut run = cargo(&["run", "--release", "--quiet"]);
    run.args(["--manifest-path", "bench/Cargo.toml", "--bin", topic]);
    if matches!(topic, "agent" | "codecs") {
        // Their peers are many crates, and ask for a newer compiler than they need.
        run.args(["--features", topic, "--ignore-rust-version"]);
    }
    run.arg("--").args(words);
    shell::run(run)
}

fn known_topics() -> Result<Vec<String>, String> {
    let entries = fs::read_dir("bench/src/bin").map_err(|e| format!("bench/src/bin: {e}"))?;
    let mut topics: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some(path.file_stem()?.to_str()?.to_owned())
        })
        .collect();
    topics.sort();
    Ok(topics)
}
