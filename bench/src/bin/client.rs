//! Calls per second, latency, CPU time and memory of our client, the official SDKs', and of no
//! client at all, on one server in one run, taking turns.
//!
//! The TypeScript SDK is found in the folder `BENCH_NODE_MODULES`, the Python SDK by the
//! interpreter `BENCH_PYTHON`; without them their rows are left out.
//!
//! ```text
//! client [--seconds S] [--rounds N] [part of a row's title]
//! ```

use std::process::Command;

use bench::echo_server::{Replies, Server};
use bench::rounds::{Options, Running, Scores, load, program};

/// The entrant that the others are measured against.
const RMCP: usize = 1;

/// Ends the title of the row in which our client busy-polls.
const BUSY_POLL: &str = "busy-poll";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&args[1]),
        _ => contest(&Options::read(0.5, 5)),
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

fn contest(options: &Options) {
    for transport in ["stdio", "http", "sse"] {
        let server = (transport != "stdio").then(|| {
            let mut server = Command::new(program("client"));
            server.args(["serve", transport]);
            Running::start(server)
        });
        let place = server.as_ref().map_or("stdio", |server| server.url.as_str());
        for work in ["echo", "list", "big"] {
            for in_flight in ["1", "64"] {
                let title = format!("{transport} {work} {in_flight} in flight");
                if options.is_wanted(&title) {
                    row(&title, [place, work, in_flight], options);
                }
            }
        }
    }
    let title = format!("stdio echo 1 in flight, {BUSY_POLL}");
    if options.is_wanted(&title) {
        row(&title, ["stdio", "echo", "1"], options);
    }
}

fn row(title: &str, work: [&str; 3], options: &Options) {
    let scores = Scores::take(options.rounds, &entrants(), |round, name, command| {
        // Entrants in other languages start slowly, and one round tells enough.
        if round > 0 && name.ends_with("SDK") {
            return None;
        }
        let mut client = Command::new(&command[0]);
        client.args(&command[1..]).args(work).arg(options.milliseconds());
        client.env("BENCH_SERVER", program("client"));
        client.env("BENCH_BUSY_POLL", if title.ends_with(BUSY_POLL) { "1" } else { "0" });
        load(client, name, title)
    });
    let ratios = [("calls/s × rmcp", "per_second"), ("CPU a call × rmcp", "cpu")];
    let figures = [
        ("calls/s", "per_second"),
        ("p50 µs", "p50"),
        ("p99 µs", "p99"),
        ("CPU µs a call", "cpu"),
        ("peak KiB", "memory"),
        ("of it own", "own"),
    ];
    scores.print(title, RMCP, &ratios, &figures);
}

/// Who takes part, and how to start it.
fn entrants() -> Vec<(&'static str, Vec<String>)> {
    let mut entrants = ["ours", "rmcp", "raw"].map(|who| (who, vec![program(&format!("drive_{who}"))])).to_vec();
    let script = |name: &str| format!("{}/peers/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BENCH_NODE_MODULES").is_some() {
        entrants.push(("TypeScript SDK", vec!["node".to_owned(), script("client.mjs")]));
    }
    if let Ok(python) = std::env::var("BENCH_PYTHON") {
        entrants.push(("Python SDK", vec![python, script("client.py")]));
    }
    entrants
}
