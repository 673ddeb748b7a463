//! Measures connections: round trips to `cat`, which echoes every line, and to an in-memory echo.
//!
//! `cargo run --profile dist --example bench -- <in flight> <round trips>`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a measuring program"
)]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use mcp_transport::{
    Connect, Incoming, LocalSpawner, Outgoing, ServerCommand, StdioConnect, Transport, memory,
};
use tokio::sync::Semaphore;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let in_flight = numbers.next().transpose()?.unwrap_or(64);
    let total = numbers.next().transpose()?.unwrap_or(500_000);
    let connect = StdioConnect::new(ServerCommand::new("cat"), Arc::new(LocalSpawner::new()));
    measure("stdio", connect.connect().await?, in_flight, total).await?;
    let (client, server) = memory::pair();
    tokio::spawn(async move {
        while let Incoming::Message { body, .. } = server.recv().await {
            let echo = Outgoing::request(0.into(), "echo", body);
            server.send(echo).await.unwrap();
        }
    });
    measure("memory", Arc::new(client), in_flight, total).await
}

async fn measure(
    name: &str,
    transport: Arc<dyn Transport>,
    in_flight: usize,
    total: usize,
) -> Result<(), Box<dyn Error>> {
    let window = Arc::new(Semaphore::new(in_flight));
    let started = Instant::now();
    let mut senders = Vec::new();
    for sender in 0..in_flight {
        let (transport, window) = (Arc::clone(&transport), Arc::clone(&window));
        let share = total / in_flight + usize::from(sender < total % in_flight);
        senders.push(tokio::spawn(async move {
            for number in 0..share {
                window.acquire().await.unwrap().forget();
                let id = i64::try_from(number * in_flight + sender).unwrap();
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo"}}}}"#
                );
                let request = Outgoing::request(id.into(), "tools/call", body.into_bytes());
                transport.send(request).await.unwrap();
            }
        }));
    }
    for _ in 0..total {
        match transport.recv().await {
            Incoming::Message { .. } => window.add_permits(1),
            other => panic!("{other:?}"),
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    for sender in senders {
        sender.await?;
    }
    transport.close().await;
    let (rate, each) = (total as f64 / seconds, seconds * 1e6 / total as f64);
    println!("{name}, {in_flight} in flight: {rate:.0} round trips a second, {each:.2} µs each");
    Ok(())
}
