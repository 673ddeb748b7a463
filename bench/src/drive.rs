//! Clients doing the same work against the same server.

pub mod ours;
pub mod raw;
pub mod theirs;

use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::latency::Latencies;
use crate::usage::{child_process, cpu_time_of, memory_of, peak_memory, peak_own_memory, process_cpu_time};

/// What every call does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// A tool that echoes its argument.
    Echo,
    /// A list of a thousand tools.
    List,
    /// A tool that says a mebibyte.
    Big,
}

impl Work {
    /// By its name on the command line.
    pub fn named(name: &str) -> Self {
        match name {
            "list" => Self::List,
            "big" => Self::Big,
            _ => Self::Echo,
        }
    }
}

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Place {
    /// To be started: a program and its arguments.
    Program(Vec<String>),
    /// Running: its URL.
    Url(String),
}

/// The program of a client: `drive_<who> <place> <work> <in flight> <milliseconds>`, where a place
/// is a URL, or `stdio` for the server `BENCH_SERVER`: a program and its arguments, a line each.
pub fn main<F: Future<Output = String>>(drive: fn(Place, Work, usize, Duration) -> F) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let place = match args[0].as_str() {
        "stdio" => {
            let server = std::env::var("BENCH_SERVER").unwrap();
            let words = server.lines().chain(["serve", "stdio"]);
            Place::Program(words.map(str::to_owned).collect())
        }
        url => Place::Url(url.to_owned()),
    };
    let work = Work::named(&args[1]);
    let in_flight = args[2].parse().unwrap();
    let time = Duration::from_millis(args[3].parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("{}", runtime.block_on(drive(place, work, in_flight, time)));
    // Whatever still runs is not measured, and not waited for.
    std::process::exit(0);
}

/// What a client achieved, as one line of JSON.
pub fn report(latencies: &Latencies, time: Duration, cpu: Duration, server: Duration) -> String {
    let calls = latencies.count().max(1) as f64;
    let pid = server_process();
    json!({
        "per_second": calls / time.as_secs_f64(),
        "p50": latencies.at(0.5),
        "p99": latencies.at(0.99),
        "cpu": cpu.as_secs_f64() * 1e6 / calls,
        "memory": peak_memory(),
        "own": peak_own_memory(),
        "server_cpu": server.as_secs_f64() * 1e6 / calls,
        "server_memory": pid.map(|pid| memory_of(pid, "VmHWM:")),
    })
    .to_string()
}

/// Keeps `in_flight` calls going for a while, after a warm-up, and reports.
pub async fn keep_going<C, F>(in_flight: usize, time: Duration, client: C, call: fn(&'static C) -> F) -> String
where
    C: Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    // For the rest of the process: a count of its users would be part of the result.
    let client = Box::leak(Box::new(client));
    run(in_flight, time / 4, client, call).await;
    let (start, cpu, server) = (Instant::now(), process_cpu_time(), server_cpu_time());
    let latencies = run(in_flight, time, client, call).await;
    let (time, cpu, server) = (start.elapsed(), process_cpu_time() - cpu, server_cpu_time() - server);
    report(&latencies, time, cpu, server)
}

/// The server's process: the one that `BENCH_SERVER_PID` names, or else this one's child.
fn server_process() -> Option<u32> {
    match std::env::var("BENCH_SERVER_PID") {
        Ok(pid) => pid.parse().ok(),
        Err(_) => child_process(),
    }
}

/// The CPU time of the server so far; none where it is not known.
pub fn server_cpu_time() -> Duration {
    server_process().map_or(Duration::ZERO, cpu_time_of)
}

async fn run<C, F>(in_flight: usize, time: Duration, client: &'static C, call: fn(&'static C) -> F) -> Latencies
where
    C: Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let until = Instant::now() + time;
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            tokio::spawn(async move {
                let mut latencies = Latencies::default();
                let mut now = Instant::now();
                while now < until {
                    call(client).await;
                    let then = std::mem::replace(&mut now, Instant::now());
                    latencies.add(now - then, 1);
                }
                latencies
            })
        })
        .collect();
    let mut all = Latencies::default();
    for caller in callers {
        all.merge(&caller.await.unwrap());
    }
    all
}
