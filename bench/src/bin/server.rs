//! Calls per second, CPU time and memory of our server and the official SDKs', under one load client (ours) in
//! one run, taking turns. Every measurement starts its server anew.
//!
//! The TypeScript SDK is found in the folder `BENCH_SERVER_MODULES`; without it its rows are left out.
//!
//! ```text
//! server [--seconds S] [--rounds N] [part of a row's title]
//! ```

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bench::table::{Table, median, number, ratio};
use bench::usage::memory_of;
use serde_json::{Value, json};

/// The entrant that the others are measured against.
const RMCP: usize = 1;
/// HTTP sessions that are opened and then left alone.
const SESSIONS: usize = 10_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<f64>().ok()
    };
    let seconds = option("--seconds").unwrap_or(1.0);
    let rounds = option("--rounds").unwrap_or(5.0) as usize;
    let wanted = args.iter().find(|arg| !arg.starts_with("--") && arg.parse::<f64>().is_err());
    let is_wanted = |title: &str| wanted.is_none_or(|part| title.contains(part.as_str()));
    for transport in ["stdio", "http"] {
        for (work, in_flight) in [("echo", "1"), ("echo", "64"), ("list", "1")] {
            let title = format!("{transport} {work} {in_flight} in flight");
            if is_wanted(&title) {
                calls(&title, transport, work, in_flight, seconds, rounds);
            }
        }
    }
    let title = format!("{SESSIONS} idle HTTP sessions");
    if is_wanted(&title) {
        idle_sessions(&title, rounds.min(3));
    }
}

/// Has every entrant measured in every round; each round starts with another one.
fn contest(rounds: usize, mut measure: impl FnMut(&str, &[String]) -> Option<Value>) -> Vec<(&'static str, Vec<Value>)> {
    let entrants = entrants();
    let mut scores: Vec<_> = entrants.iter().map(|(name, _)| (*name, Vec::new())).collect();
    for round in 0..rounds {
        for turn in 0..entrants.len() {
            let at = (round + turn) % entrants.len();
            let (name, command) = &entrants[at];
            scores[at].1.extend(measure(name, command));
        }
    }
    scores
}

fn print(title: &str, scores: &[(&str, Vec<Value>)], ratios: &[(&str, &str)], figures: &[(&str, &str)]) {
    let columns: Vec<&str> = ratios.iter().chain(figures).map(|(column, _)| *column).collect();
    let mut table = Table::new(title, &columns);
    let rounds = |at: usize, key: &str| -> Vec<f64> {
        let values = scores[at].1.iter().map(|score| &score[key]);
        values.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    };
    for (at, (name, rows)) in scores.iter().enumerate() {
        if rows.is_empty() {
            continue;
        }
        let ratios = ratios.iter().map(|(_, key)| ratio(&rounds(at, key), &rounds(RMCP, key)));
        let figures = figures.iter().map(|(_, key)| number(median(&rounds(at, key))));
        table.row(name, ratios.chain(figures).collect::<Vec<_>>());
    }
    table.print();
}

fn calls(title: &str, transport: &str, work: &str, in_flight: &str, seconds: f64, rounds: usize) {
    let time = ((seconds * 1000.0) as u64).to_string();
    let scores = contest(rounds, |name, command| {
        let server = (transport == "http").then(|| Running::start(command));
        let mut load = Command::new(program("drive_ours"));
        match &server {
            Some(server) => load.arg(&server.url).env("BENCH_SERVER_PID", server.child.id().to_string()),
            None => load.arg("stdio").env("BENCH_SERVER", command.join("\n")),
        };
        let output = load.args([work, in_flight, &time]).stderr(Stdio::inherit()).output().unwrap();
        let score = serde_json::from_slice(&output.stdout).ok();
        if score.is_none() {
            eprintln!("{name} has not finished {title}");
        }
        score
    });
    let ratios = [
        ("calls/s × rmcp", "per_second"),
        ("CPU a call × rmcp", "server_cpu"),
        ("peak memory × rmcp", "server_memory"),
    ];
    let figures = [
        ("calls/s", "per_second"),
        ("p50 µs", "p50"),
        ("p99 µs", "p99"),
        ("CPU µs a call", "server_cpu"),
        ("peak KiB", "server_memory"),
        ("load client's CPU µs a call", "cpu"),
    ];
    print(title, &scores, &ratios, &figures);
}

/// Opens sessions, as a client without a stream does, and looks at the memory that the server has then.
fn idle_sessions(title: &str, rounds: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let scores = contest(rounds, |name, command| {
        let server = Running::start(command);
        let pid = server.child.id();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        // What the first requests bring up belongs to no session.
        runtime.block_on(open(&client, &server.url, 64));
        let before = memory_of(pid, "VmRSS:");
        let opened = runtime.block_on(open(&client, &server.url, SESSIONS));
        if opened < SESSIONS {
            eprintln!("{name} has opened {opened} sessions only");
            return None;
        }
        let after = memory_of(pid, "VmRSS:");
        let bytes = after.saturating_sub(before) as f64 * 1024.0 / SESSIONS as f64;
        Some(json!({"session": bytes, "total": after}))
    });
    let ratios = [("memory a session × rmcp", "session")];
    let figures = [("bytes a session", "session"), ("resident KiB", "total")];
    print(title, &scores, &ratios, &figures);
}

/// Opens that many sessions, sixteen at a time; returns how many there are.
async fn open(client: &reqwest::Client, url: &str, count: usize) -> usize {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (client, url) = (client.clone(), url.to_owned());
        tasks.spawn(async move {
            let mut opened = 0;
            for _ in 0..count.div_ceil(16) {
                opened += usize::from(handshake(&client, &url).await.is_some());
            }
            opened
        });
    }
    tasks.join_all().await.into_iter().sum()
}

async fn handshake(client: &reqwest::Client, url: &str) -> Option<()> {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
    }});
    let post = |body: Value| {
        let request = client.post(url).header("content-type", "application/json").body(body.to_string());
        request.header("accept", "application/json, text/event-stream").timeout(Duration::from_secs(30))
    };
    let response = post(initialize).send().await.ok()?.error_for_status().ok()?;
    let session = response.headers().get("mcp-session-id")?.clone();
    response.bytes().await.ok()?;
    let initialized = post(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let response = initialized.header("mcp-session-id", session).send().await.ok()?;
    response.error_for_status().ok()?.bytes().await.ok()?;
    Some(())
}

/// Who takes part, and how to start it.
fn entrants() -> Vec<(&'static str, Vec<String>)> {
    let mut entrants = vec![("ours", vec![program("serve_ours")]), ("rmcp", vec![program("serve_rmcp")])];
    if std::env::var_os("BENCH_SERVER_MODULES").is_some() {
        let script = format!("{}/peers/server.mjs", env!("CARGO_MANIFEST_DIR"));
        entrants.push(("TypeScript SDK", vec!["node".to_owned(), script]));
    }
    entrants
}

/// An HTTP server in a process of its own.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(command: &[String]) -> Self {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .args(["serve", "http"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program of this package.
fn program(name: &str) -> String {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name).to_string_lossy().into_owned()
}
