//! Calls per second, latency, CPU time and memory of our client, the official SDKs', and of no
//! client at all, on one server in one run, taking turns.
//!
//! The TypeScript SDK is found in the folder `BENCH_NODE_MODULES`, the Python SDK by the
//! interpreter `BENCH_PYTHON`; without them their rows are left out.
//!
//! ```text
//! client [--seconds S] [--rounds N] [part of a row's title]
//! ```

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bench::echo_server::{Replies, Server};
use bench::table::{Table, median, number, ratio};
use serde_json::Value;

/// The entrant that the others are measured against.
const RMCP: usize = 1;
/// From here on entrants come in other languages. They start slowly, and one round tells enough.
const OTHERS: usize = 3;

/// Ends the title of the row in which our client busy-polls.
const BUSY_POLL: &str = "busy-poll";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&args[1]),
        _ => contest(&args),
    }
}

fn serve(how: &str) {
    let replies = match how {
        // The client may go in the middle of a reply.
        "stdio" => return drop(Server::default().stdio()),
        "sse" => Replies::Events,
        _ => Replies::Json,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Server::default().http(replies)).unwrap();
}

fn contest(args: &[String]) {
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<f64>().ok()
    };
    let seconds = option("--seconds").unwrap_or(0.5);
    let rounds = option("--rounds").unwrap_or(5.0) as usize;
    let wanted = args.iter().find(|arg| !arg.starts_with("--") && arg.parse::<f64>().is_err());
    for transport in ["stdio", "http", "sse"] {
        let server = (transport != "stdio").then(|| Running::start(transport));
        let place = server.as_ref().map_or("stdio", |server| server.url.as_str());
        for work in ["echo", "list", "big"] {
            for in_flight in ["1", "64"] {
                let title = format!("{transport} {work} {in_flight} in flight");
                if wanted.is_none_or(|part| title.contains(part.as_str())) {
                    row(&title, place, work, in_flight, seconds, rounds);
                }
            }
        }
    }
    let title = format!("stdio echo 1 in flight, {BUSY_POLL}");
    if wanted.is_none_or(|part| title.contains(part.as_str())) {
        row(&title, "stdio", "echo", "1", seconds, rounds);
    }
}

fn row(title: &str, place: &str, work: &str, in_flight: &str, seconds: f64, rounds: usize) {
    let time = ((seconds * 1000.0) as u64).to_string();
    let entrants = entrants();
    let mut scores: Vec<Vec<Value>> = vec![Vec::new(); entrants.len()];
    for round in 0..rounds {
        for turn in 0..entrants.len() {
            let at = (round + turn) % entrants.len();
            if round > 0 && at >= OTHERS {
                continue;
            }
            let (_, command) = &entrants[at];
            let output = Command::new(&command[0])
                .args(&command[1..])
                .args([place, work, in_flight, &time])
                .env("BENCH_SERVER", this_program())
                .env("BENCH_BUSY_POLL", if title.ends_with(BUSY_POLL) { "1" } else { "0" })
                .stderr(Stdio::inherit())
                .output()
                .unwrap();
            match serde_json::from_slice(&output.stdout) {
                Ok(score) => scores[at].push(score),
                Err(_) => eprintln!("{} has not finished {title}", entrants[at].0),
            }
        }
    }
    let rounds = |at: usize, key: &str| -> Vec<f64> {
        let values = scores[at].iter().map(|score| &score[key]);
        values.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let columns = ["calls/s × rmcp", "CPU a call × rmcp", "calls/s", "p50 µs", "p99 µs", "CPU µs a call", "peak KiB", "of it own"];
    let mut table = Table::new(title, &columns);
    for (at, (name, _)) in entrants.iter().enumerate() {
        if scores[at].is_empty() {
            continue;
        }
        let ratios = ["per_second", "cpu"].map(|key| ratio(&rounds(at, key), &rounds(RMCP, key)));
        let keys = ["per_second", "p50", "p99", "cpu", "memory", "own"];
        let values = keys.map(|key| number(median(&rounds(at, key))));
        table.row(name, ratios.into_iter().chain(values));
    }
    table.print();
}

/// Who takes part, and how to start it.
fn entrants() -> Vec<(&'static str, Vec<String>)> {
    let mut entrants = ["ours", "rmcp", "raw"].map(|who| (who, vec![program(who)])).to_vec();
    let script = |name: &str| format!("{}/peers/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BENCH_NODE_MODULES").is_some() {
        entrants.push(("TypeScript SDK", vec!["node".to_owned(), script("client.mjs")]));
    }
    if let Ok(python) = std::env::var("BENCH_PYTHON") {
        entrants.push(("Python SDK", vec![python, script("client.py")]));
    }
    entrants
}

/// An HTTP server in a process of its own.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(how: &str) -> Self {
        let mut child = Command::new(this_program())
            .args(["serve", how])
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

fn this_program() -> String {
    std::env::current_exe().unwrap().to_string_lossy().into_owned()
}

/// The program of one of our entrants: each has its own, so that none takes memory for another.
fn program(who: &str) -> String {
    let name = format!("drive_{who}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name).to_string_lossy().into_owned()
}
