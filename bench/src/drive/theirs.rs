//! The official Rust SDK.

use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::json;

use super::{Place, Work, keep_going};

type Client = RunningService<RoleClient, ()>;

/// Connects and works.
pub async fn drive(place: Place, work: Work, in_flight: usize, time: Duration) -> String {
    let client = match place {
        Place::Program(words) => {
            let mut command = tokio::process::Command::new(&words[0]);
            command.args(&words[1..]);
            ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
        }
        Place::Url(url) => {
            let _ = rustls::crypto::ring::default_provider().install_default();
            ().serve(StreamableHttpClientTransport::from_uri(url)).await.unwrap()
        }
    };
    match work {
        Work::Echo => keep_going(in_flight, time, client, echo).await,
        Work::List => keep_going(in_flight, time, client, list).await,
        Work::Big => keep_going(in_flight, time, client, big).await,
    }
}

async fn echo(client: &'static Client) {
    let arguments = json!({"text": "hello"}).as_object().unwrap().clone();
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap();
    assert_eq!(result.content[0].as_text().map(|text| text.text.as_str()), Some("hello"));
}

async fn list(client: &'static Client) {
    assert_eq!(client.list_all_tools().await.unwrap().len(), 1000);
}

async fn big(client: &'static Client) {
    let result = client.call_tool(CallToolRequestParams::new("big")).await.unwrap();
    assert!(result.content[0].as_text().unwrap().text.len() > 1_000_000);
}
