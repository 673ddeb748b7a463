//! Schemas of real servers: all compile for all targets, the checker finds
//! nothing to refuse, and the laws hold.
//!
//! `inputs/hard.json` and `inputs/spread.json` hold tools of public MCP servers,
//! as those packages served them; each names its registry, package and version.
//! Prose is replaced by filler, names and structure are not.

use serde_json::Value;
use tool_schema::{Target, Tool, compile_tools};

use crate::{
    checker,
    laws::{Original, check_laws},
};

pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

pub(crate) fn hard() -> Vec<Entry> {
    entries(include_str!("inputs/hard.json"))
}

pub(crate) fn spread() -> Vec<Entry> {
    entries(include_str!("inputs/spread.json"))
}

/// More tools to look at: `TOOL_SCHEMA_CORPUS` names a file with a JSON array of MCP tools.
fn more() -> Vec<Entry> {
    let Some(path) = std::env::var_os("TOOL_SCHEMA_CORPUS") else {
        return Vec::new();
    };
    let tools: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    tools
        .into_iter()
        .map(|mut tool| Entry {
            name: tool["name"].as_str().unwrap().to_owned(),
            schema: tool["inputSchema"].take(),
        })
        .collect()
}

fn entries(text: &str) -> Vec<Entry> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap();
    rows.into_iter()
        .map(|row| Entry {
            name: row["name"].as_str().unwrap().to_owned(),
            schema: row["schema"].clone(),
        })
        .collect()
}

#[test]
fn every_real_tool_compiles_for_every_target_into_what_it_accepts() {
    let entries: Vec<Entry> = hard().into_iter().chain(spread()).chain(more()).collect();
    let tools: Vec<Tool<'_>> = entries
        .iter()
        .map(|entry| Tool {
            server: "corpus",
            name: &entry.name,
            description: "",
            schema: &entry.schema,
        })
        .collect();
    let mut complaints = Vec::new();
    println!(
        "{:18} {:>5} {:>5} {:>5} {:>11} {:>6}",
        "target", "tools", "clean", "lossy", "quarantined", "strict"
    );
    for target in Target::ALL {
        let list = compile_tools(&tools, target);
        let (mut clean, mut lossy, mut quarantined, mut strict) = (0, 0, 0, 0);
        let mut request = Vec::new();
        for tool in list.tools() {
            match &tool.outcome {
                Ok(compiled) => {
                    let kind = if compiled.is_lossy() {
                        &mut lossy
                    } else {
                        &mut clean
                    };
                    *kind += 1;
                    strict += usize::from(compiled.strict);
                    let found = checker::check(
                        target.name(),
                        compiled.strict,
                        &tool.name,
                        compiled.schema.as_ref(),
                    );
                    complaints.extend(
                        found
                            .into_iter()
                            .map(|what| format!("{} {}: {what}", target.name(), tool.name)),
                    );
                    request.push((compiled.strict, compiled.schema.as_ref()));
                }
                Err(reason) => {
                    quarantined += 1;
                    println!("{} {}: {reason}", target.name(), tool.name);
                }
            }
        }
        complaints.extend(checker::check_request(target.name(), &request));
        println!(
            "{:18} {:>5} {clean:>5} {lossy:>5} {quarantined:>11} {strict:>6}",
            target.name(),
            tools.len()
        );
        assert_eq!(quarantined, 0, "{} quarantines real tools", target.name());
    }
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn the_laws_hold_for_hard_schemas() {
    for (index, entry) in hard().iter().enumerate() {
        let original = Original::new(&entry.schema);
        for target in Target::ALL {
            if let Err(failure) = check_laws(&original, target, index as u64, 2) {
                panic!("{}: {failure}", entry.name);
            }
        }
    }
}

#[test]
fn the_laws_hold_for_a_spread_of_schemas() {
    // Every schema meets three of the targets, every target a quarter of the schemas.
    for (index, entry) in spread().iter().enumerate() {
        let original = Original::new(&entry.schema);
        for target in Target::ALL.iter().skip(index % 4).step_by(4) {
            if let Err(failure) = check_laws(&original, target, index as u64, 3) {
                panic!("{}: {failure}", entry.name);
            }
        }
    }
}
