//! Our client.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, ClientBuilder, EraMode};
use mcp_transport::{Connect, HttpConfig, LocalSpawner, ServerCommand, StaticTokenAuth, StdioConnect, StdioLimits};
use serde_json::json;

use super::{Place, Work, keep_going};

/// Connects and works.
pub async fn drive(place: Place, work: Work, in_flight: usize, time: Duration) -> String {
    let connect: Arc<dyn Connect> = match place {
        Place::Program(words) => {
            let command = ServerCommand::new(&words[0]).with_args(words[1..].to_vec());
            let limits = match std::env::var("BENCH_BUSY_POLL").as_deref() {
                Ok("1") => StdioLimits::default().with_busy_poll(Duration::from_micros(150)),
                _ => StdioLimits::default(),
            };
            Arc::new(StdioConnect::new(command, Arc::new(LocalSpawner::new())).with_limits(limits))
        }
        Place::Url(url) => {
            let mut config = HttpConfig::new(&url).unwrap().streamable_only();
            if let Ok(token) = std::env::var("BENCH_TOKEN") {
                config = config.with_auth(Arc::new(StaticTokenAuth::new(token)));
            }
            config.into_connect().unwrap()
        }
    };
    let era = match std::env::var("BENCH_ERA").as_deref() {
        Ok("modern") => EraMode::PreferModern,
        _ => EraMode::Legacy,
    };
    let client = ClientBuilder::new(connect).era(era).connect().await.unwrap();
    let report = match work {
        Work::Echo => keep_going(in_flight, time, client.clone(), echo).await,
        Work::List => keep_going(in_flight, time, client.clone(), list).await,
        Work::Big => keep_going(in_flight, time, client.clone(), big).await,
    };
    client.close().await;
    report
}

async fn echo(client: &'static Client) {
    let result = client.call_tool("echo", json!({"text": "hello"})).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("hello"));
}

async fn list(client: &'static Client) {
    assert_eq!(client.list_tools().await.unwrap().items.len(), 1000);
}

async fn big(client: &'static Client) {
    let result = client.call_tool("big", json!({})).await.unwrap();
    assert!(result.content[0].as_text().unwrap().len() > 1_000_000);
}
