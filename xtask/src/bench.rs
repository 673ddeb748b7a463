//! `cargo xtask bench [TOPIC]`: measurements against peers, from the workspace in `bench/`.

use std::fs;

use crate::shell::{self, Outcome, cargo};

/// Runs the named topics, or every one that `bench/src/bin` holds.
pub(crate) fn run(topics: &[String]) -> Outcome {
    let known = known_topics()?;
    let chosen = if topics.is_empty() { &known } else { topics };
    for topic in chosen {
        if !known.contains(topic) {
            return Err(format!(
                "no topic '{topic}'; there are: {}",
                known.join(", ")
            ));
        }
        let mut run = cargo(&["run", "--release", "--quiet"]);
        run.args(["--manifest-path", "bench/Cargo.toml", "--bin", topic]);
        if topic == "codecs" {
            // Its peers are many crates, and ask for a newer compiler than they need.
            run.args(["--features", "codecs", "--ignore-rust-version"]);
        }
        shell::run(run)?;
    }
    Ok(())
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
