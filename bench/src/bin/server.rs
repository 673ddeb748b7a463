//! Calls per second, CPU time and memory of our server and the official SDKs', under one load client (ours) in
//! one run, taking turns. Every measurement starts its server anew.
//!
//! The TypeScript SDK is found in the folder `BENCH_SERVER_MODULES`; without it its rows are left out.
//!
//! ```text
//! server [--seconds S] [--rounds N] [part of a row's title]
//! ```

use std::process::Command;
use std::time::Duration;

use bench::rounds::{Options, Running, Scores, load, program};
use bench::usage::memory_of;
use serde_json::{Value, json};

/// The entrant that the others are measured against.
const RMCP: usize = 1;
/// HTTP sessions that are opened and then left alone.
const SESSIONS: usize = 10_000;

fn main() {
    let options = Options::read(1.0, 5);
    for transport in ["stdio", "http"] {
        for (work, in_flight) in [("echo", "1"), ("echo", "64"), ("list", "1")] {
            let title = format!("{transport} {work} {in_flight} in flight");
            if options.is_wanted(&title) {
                calls(&title, transport, [work, in_flight], &options);
            }
        }
    }
    let title = format!("{SESSIONS} idle HTTP sessions");
    if options.is_wanted(&title) {
        idle_sessions(&title, options.rounds.min(3));
    }
}

fn calls(title: &str, transport: &str, work: [&str; 2], options: &Options) {
    let scores = Scores::take(options.rounds, &entrants(), |_, name, command| {
        let server = (transport == "http").then(|| serve(command));
        let mut client = Command::new(program("drive_ours"));
        match &server {
            Some(server) => client.arg(&server.url).env("BENCH_SERVER_PID", server.child.id().to_string()),
            None => client.arg("stdio").env("BENCH_SERVER", command.join("\n")),
        };
        client.args(work).arg(options.milliseconds());
        load(client, name, title)
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
    scores.print(title, RMCP, &ratios, &figures);
}

/// Opens sessions, as a client without a stream does, and looks at the memory that the server has then.
fn idle_sessions(title: &str, rounds: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let scores = Scores::take(rounds, &entrants(), |_, name, command| {
        let server = serve(command);
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
    scores.print(title, RMCP, &ratios, &figures);
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

/// Starts an entrant's HTTP server.
fn serve(command: &[String]) -> Running {
    let mut server = Command::new(&command[0]);
    server.args(&command[1..]).args(["serve", "http"]);
    Running::start(server)
}
