//! Compiles MCP tools for a provider, or restores a model's arguments.
//!
//! ```text
//! compile TARGET < tools.json   [tool]                → [{name, schema, strict, not_strict, losses, quarantined}]
//! restore TARGET < calls.json   [{tool, arguments}]   → [{arguments} or {error}]
//! ```
//!
//! A tool is an MCP tool object. `compile openai < tools.json` works as well as
//! `cargo run --example compile -- compile openai < tools.json`.

use std::{
    io::{Read, Write},
    process::ExitCode,
};

use serde_json::{Value, json, value::RawValue};
use tool_schema::{Target, Tool, Validator, compile, compile_tools};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let _ = writeln!(std::io::stderr(), "compile: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.len() == 1 {
        words.insert(0, "compile".to_owned());
    }
    let [verb, target] = words.as_slice() else {
        return Err(usage());
    };
    let target =
        Target::named(target).ok_or_else(|| format!("no target `{target}`; {}", usage()))?;
    let mut input = String::new();
    std::io::stdin()
        .read_to_string(&mut input)
        .map_err(|error| format!("cannot read the input: {error}"))?;
    // Entries are parsed one by one: one that nests too deep affects only itself.
    let entries: Vec<&RawValue> = serde_json::from_str(&input)
        .map_err(|error| format!("the input is no JSON array: {error}"))?;
    let entries: Vec<Result<Value, String>> = entries
        .into_iter()
        .map(|entry| serde_json::from_str(entry.get()).map_err(|error| error.to_string()))
        .collect();
    let output = match verb.as_str() {
        "compile" => {
            let tools: Vec<_> = entries.into_iter().map(|entry| tool(entry?)).collect();
            compile_all(&tools, &target)
        }
        "restore" => entries.iter().map(|call| restore(call, &target)).collect(),
        _ => return Err(usage()),
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &output)
        .map_err(|error| format!("cannot write: {error}"))?;
    writeln!(out).map_err(|error| format!("cannot write: {error}"))
}

fn usage() -> String {
    let names: Vec<&str> = Target::ALL.iter().map(Target::name).collect();
    format!(
        "usage: compile|restore TARGET, where TARGET is one of {}",
        names.join(" ")
    )
}

/// A callable tool has a name.
fn tool(entry: Value) -> Result<Value, String> {
    match entry.get("name") {
        Some(Value::String(_)) => Ok(entry),
        _ => Err("it is no object with a name".to_owned()),
    }
}

fn compile_all(entries: &[Result<Value, String>], target: &Target) -> Vec<Value> {
    let text = |entry: &'_ Value, key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let sound: Vec<(String, String, &Value)> = entries
        .iter()
        .filter_map(|entry| entry.as_ref().ok())
        .map(|entry| {
            (
                text(entry, "name"),
                text(entry, "description"),
                entry.get("inputSchema").unwrap_or(&Value::Null),
            )
        })
        .collect();
    let tools: Vec<Tool<'_>> = sound
        .iter()
        .map(|(name, description, schema)| Tool {
            server: "",
            name,
            description,
            schema,
        })
        .collect();
    let list = compile_tools(&tools, target);
    let mut listed = list.tools().iter();
    let outcome = |entry: &Result<Value, String>| match entry {
        Err(reason) => quarantined("", &format!("this is no tool: {reason}")),
        Ok(_) => match listed.next() {
            Some(tool) => match &tool.outcome {
                Ok(compiled) => json!({
                    "name": tool.name,
                    "schema": compiled.schema,
                    "strict": compiled.strict,
                    "not_strict": compiled.why_not_strict().iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "losses": compiled.losses.iter().map(|loss| json!({
                        "pointer": loss.pointer,
                        "keyword": loss.keyword,
                        "action": loss.action.as_str(),
                        "lossy": loss.lossy,
                    })).collect::<Vec<_>>(),
                    "quarantined": null,
                }),
                Err(reason) => quarantined(&tool.name, &reason.to_string()),
            },
            None => quarantined("", "the tool got lost"),
        },
    };
    entries.iter().map(outcome).collect()
}

fn quarantined(name: &str, reason: &str) -> Value {
    json!({"name": name, "schema": null, "strict": false, "not_strict": [], "losses": [], "quarantined": reason})
}

fn restore(call: &Result<Value, String>, target: &Target) -> Value {
    let outcome = || {
        let call = call
            .as_ref()
            .map_err(|reason| format!("the call is no sound JSON: {reason}"))?;
        let tool = call
            .get("tool")
            .filter(|tool| tool.is_object())
            .ok_or("`tool` must be an MCP tool object")?;
        let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
        let compiled = compile(schema, target).map_err(|reason| reason.to_string())?;
        let arguments = match call.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(arguments) => arguments.clone(),
        };
        let arguments = compiled.restore.apply(arguments);
        // If the schema cannot be used for validation, the server validates.
        if schema.is_object()
            && let Ok(validator) = Validator::new(schema)
        {
            validator
                .check(&arguments)
                .map_err(|mismatch| mismatch.seen_through(&compiled.restore).to_string())?;
        }
        Ok::<_, String>(arguments)
    };
    match outcome() {
        Ok(arguments) => json!({"arguments": arguments}),
        Err(error) => json!({"error": error}),
    }
}
