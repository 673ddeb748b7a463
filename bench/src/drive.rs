//! Clients doing the same work against the same server.

pub mod ours;
pub mod raw;
pub mod theirs;

use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::usage::{peak_memory, process_cpu_time};

/// What every call does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// A tool that says what it is told.
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

/// What a client achieved, as one line of JSON.
pub fn report(mut latencies: Vec<Duration>, time: Duration, cpu: Duration) -> String {
    latencies.sort_unstable();
    let at = |share: f64| {
        let index = (latencies.len() as f64 * share) as usize;
        latencies.get(index.min(latencies.len().saturating_sub(1))).map_or(0.0, |l| l.as_secs_f64() * 1e6)
    };
    let calls = latencies.len().max(1) as f64;
    json!({
        "per_second": calls / time.as_secs_f64(),
        "p50": at(0.5),
        "p99": at(0.99),
        "cpu": cpu.as_secs_f64() * 1e6 / calls,
        "memory": peak_memory(),
    })
    .to_string()
}

/// Keeps `in_flight` calls going for a while, after a warm-up, and reports.
pub async fn keep_going<C, F>(in_flight: usize, time: Duration, client: C, call: fn(C) -> F) -> String
where
    C: Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    run(in_flight, time / 4, &client, call).await;
    let (start, cpu) = (Instant::now(), process_cpu_time());
    let latencies = run(in_flight, time, &client, call).await;
    report(latencies, start.elapsed(), process_cpu_time() - cpu)
}

async fn run<C, F>(in_flight: usize, time: Duration, client: &C, call: fn(C) -> F) -> Vec<Duration>
where
    C: Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let until = Instant::now() + time;
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                let mut now = Instant::now();
                while now < until {
                    call(client.clone()).await;
                    let then = std::mem::replace(&mut now, Instant::now());
                    latencies.push(now - then);
                }
                latencies
            })
        })
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.unwrap_or_default());
    }
    all
}
