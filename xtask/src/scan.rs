//! `cargo xtask scan`: how good the scanner of tools is, measured on the definitions of real servers.

mod ask;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::install;
use crate::shell::{self, Outcome, cargo};

/// Fewer servers and tools measure nothing.
const MIN_SERVERS: usize = 60;
const MIN_TOOLS: usize = 1000;
const PINS: &str = "xtask/scan/servers.json";

/// Installs the servers that are pinned, each by itself, asks each for its tools, and measures the
/// scanner on them and on the poisoned definitions that were held out.
pub(crate) fn run(args: &[String]) -> Outcome {
    if !args.is_empty() {
        return Err("usage: cargo xtask scan".to_owned());
    }
    let text = fs::read_to_string(PINS).map_err(|e| format!("{PINS}: {e}"))?;
    let pins: Vec<Value> = serde_json::from_str(&text).map_err(|e| format!("{PINS}: {e}"))?;
    let (mut lines, mut tools, mut servers) = (String::new(), 0, 0);
    for pin in &pins {
        match definitions(pin) {
            Ok(server) => {
                tools += server["tools"].as_array().map_or(0, Vec::len);
                servers += 1;
                lines.push_str(&server.to_string());
                lines.push('\n');
            }
            Err(error) => println!("left out: {}: {error}", pin["package"]),
        }
    }
    println!("{servers} of {} servers, {tools} tools", pins.len());
    if servers < MIN_SERVERS || tools < MIN_TOOLS {
        return Err(format!(
            "too few to measure with: {MIN_SERVERS} servers with {MIN_TOOLS} tools are needed"
        ));
    }
    let file = root()?.join("target/scan/tools.jsonl");
    fs::write(&file, lines).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut test = cargo(&["test", "--quiet", "--release", "-p", "tool-policy"]);
    test.args([
        "--test",
        "it",
        "scan_measured",
        "--",
        "--ignored",
        "--nocapture",
    ]);
    test.env("SCAN_TOOLS", file);
    shell::run(test)
}

/// What a server says of itself and of its tools, unmodified.
fn definitions(pin: &Value) -> Result<Value, String> {
    let text = |member: &str| {
        let value = pin[member].as_str();
        value.ok_or_else(|| format!("its pin has no {member}"))
    };
    let (package, version) = (text("package")?, text("version")?);
    let name = format!("{}@{version}", package.replace('/', "__"));
    let target = Path::new("target/scan").join(text("registry")?).join(name);
    let program = match text("registry")? {
        "npm" => {
            install::npm_package(package, version, &target)?;
            node_program(pin, package, &target)?
        }
        _ => {
            install::pip_package(package, version, &target)?;
            let program = pin["program"].as_str().unwrap_or(package);
            vec![root()?.join(&target).join("bin").join(program)]
        }
    };
    let asked = ask::ask(&program, pin, &root()?.join(&target))?;
    Ok(json!({
        "package": package,
        "version": version,
        "instructions": asked.instructions,
        "tools": asked.tools,
    }))
}

/// `node` with the script that the package calls its program.
fn node_program(pin: &Value, package: &str, target: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root()?.join(target).join("node_modules").join(package);
    let manifest = folder.join("package.json");
    let text = fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
    let manifest: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let short = package.rsplit('/').next().unwrap_or(package);
    let wanted = pin["program"].as_str().unwrap_or(short);
    let programs = &manifest["bin"];
    let first = programs.as_object().and_then(|all| all.values().next());
    let script = programs
        .as_str()
        .or_else(|| programs[wanted].as_str())
        .or_else(|| first.and_then(Value::as_str));
    let script = script.ok_or("its package has no program")?;
    Ok(vec!["node".into(), folder.join(script)])
}

fn root() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|e| format!("current folder: {e}"))
}
