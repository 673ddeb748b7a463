//! How fast a stdio connection is: round trips to `cat`, which sends back every line.
//!
//! `cargo run --release --example bench -- <in flight> <round trips>`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program"
)]

use std::sync::Arc;
use std::time::Instant;

use mcp_transport::{Incoming, LocalSpawner, Outgoing, ServerCommand, StdioConnect, Transport};
use tokio::sync::Semaphore;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let in_flight = numbers.next().transpose()?.unwrap_or(64);
    let total = numbers.next().transpose()?.unwrap_or(500_000);
    let connect = StdioConnect::new(ServerCommand::new("cat"), Arc::new(LocalSpawner::new()));
    let transport = Arc::new(connect.start().await?);
    let window = Arc::new(Semaphore::new(0));
    let started = Instant::now();
    let receiver = tokio::spawn({
        let (transport, window) = (Arc::clone(&transport), Arc::clone(&window));
        async move {
            for _ in 0..total {
                let Incoming::Message { .. } = transport.recv().await else {
                    return false;
                };
                window.add_permits(1);
            }
            true
        }
    });
    window.add_permits(in_flight);
    let mut senders = Vec::new();
    for sender in 0..in_flight {
        let (transport, window) = (Arc::clone(&transport), Arc::clone(&window));
        let share = total / in_flight + usize::from(sender < total % in_flight);
        senders.push(tokio::spawn(async move {
            for number in 0..share {
                window.acquire().await.unwrap().forget();
                let id = (number * in_flight + sender) as i64;
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}}}}}}"#
                );
                transport.send(Outgoing::request(id.into(), "tools/call", body.into_bytes())).await.unwrap();
            }
        }));
    }
    for sender in senders {
        sender.await?;
    }
    assert!(receiver.await?);
    let seconds = started.elapsed().as_secs_f64();
    transport.close().await;
    println!(
        "{in_flight} in flight: {:.0} round trips a second, {:.2} µs each",
        total as f64 / seconds,
        seconds * 1e6 / total as f64
    );
    Ok(())
}
