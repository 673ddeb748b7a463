//! What the fuzzer starts from: our own tests' fixtures.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A file, or a folder of files, of inputs.
pub(crate) enum Seed {
    /// Each file is an input.
    Files(&'static str),
    /// Each member of a JSON list or object is one, or the `schema` in it.
    Members(&'static str),
}

use Seed::{Files, Members};

/// Every target, and its seeds.
pub(crate) const TARGETS: &[(&str, &[Seed])] = &[
    (
        "decode",
        &[Members(
            "mcp-jsonrpc/tests/it/spec/2026-07-28-examples.json",
        )],
    ),
    (
        "line",
        &[
            Files("mcp-config/tests/it/inputs"),
            Files("provider-adapters/tests/it/golden"),
        ],
    ),
    (
        "sse",
        &[
            Files("provider-adapters/tests/it/golden"),
            Files("provider-adapters/tests/it/fixtures/anthropic"),
        ],
    ),
    ("challenge", &[Files("xtask/fuzz/seeds/challenge")]),
    (
        "schema",
        &[
            Members("tool-schema/tests/it/inputs/rules"),
            Members("tool-schema/tests/it/inputs/hard.json"),
        ],
    ),
    (
        "openai_chat",
        &[
            Files("provider-adapters/tests/it/fixtures/openai-chat"),
            Files("provider-adapters/tests/it/fixtures/openai-chat-compat"),
        ],
    ),
    (
        "openai_responses",
        &[Files(
            "provider-adapters/tests/it/fixtures/openai-responses",
        )],
    ),
    (
        "anthropic",
        &[Files("provider-adapters/tests/it/fixtures/anthropic")],
    ),
    (
        "gemini",
        &[
            Files("provider-adapters/tests/it/fixtures/gemini"),
            Files("provider-adapters/tests/it/fixtures/vertex"),
        ],
    ),
    ("prompt", &[Files("xtask/fuzz/seeds/prompt")]),
    ("config", &[Files("mcp-config/tests/it/inputs")]),
    ("server", &[Files("xtask/fuzz/seeds/server")]),
];

/// Copies a target's seeds into its corpus, beside what earlier runs learned; tells how many.
pub(crate) fn plant(target: &str, corpus: &Path) -> Result<usize, String> {
    fs::create_dir_all(corpus).map_err(|e| format!("{}: {e}", corpus.display()))?;
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    let mut inputs = Vec::new();
    for seed in known.map(|(_, seeds)| *seeds).unwrap_or_default() {
        match seed {
            Files(path) => inputs.extend(contents(Path::new(path))?),
            Members(path) => {
                for text in contents(Path::new(path))? {
                    inputs.extend(members(&text).map_err(|e| format!("{path}: {e}"))?);
                }
            }
        }
    }
    for (number, input) in inputs.iter().enumerate() {
        let file = corpus.join(format!("seed-{number:04}"));
        fs::write(&file, input).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(inputs.len())
}

/// What a file holds, or all files of a folder.
fn contents(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let fault = |e: std::io::Error| format!("{}: {e}", path.display());
    if path.is_file() {
        return Ok(vec![fs::read(path).map_err(fault)?]);
    }
    let mut files: Vec<_> = fs::read_dir(path)
        .map_err(fault)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read(file).map_err(|e| format!("{}: {e}", file.display())))
        .collect()
}

fn members(text: &[u8]) -> Result<Vec<Vec<u8>>, serde_json::Error> {
    let members: Vec<Value> = match serde_json::from_slice(text)? {
        Value::Array(members) => members,
        Value::Object(members) => members.into_iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    let inputs = members
        .into_iter()
        .map(|member| match member.get("schema") {
            Some(schema) => schema.to_string().into_bytes(),
            None => member.to_string().into_bytes(),
        });
    Ok(inputs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_inputs_and_a_schema_stands_for_its_row() {
        let inputs = members(br#"{"a": {"schema": {"type": "object"}, "name": "t"}, "b": [1]}"#);
        assert_eq!(inputs.unwrap(), [&br#"{"type":"object"}"#[..], b"[1]"]);
    }
}
