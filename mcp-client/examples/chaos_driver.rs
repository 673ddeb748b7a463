//! The client under test of the chaos suite: it gets the address of a server and a plan, and reports the outcome on one
//! line of JSON. The library does all protocol work.
//!
//! ```text
//! chaos_driver <stdio|http|sse> <case> -- <server command…|url>
//! ```
//!
//! `HOSTILE_PLAN` is the plan, `HOSTILE_TIMEOUT_MS` the time limit for connecting and for each request,
//! `HOSTILE_BEARER` and `HOSTILE_API_KEY` are the secrets to send over HTTP. The case's name is for people; the driver
//! ignores it.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{CallOptions, Client, ClientBuilder, ClientLimits, Interests};
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use mcp_transport::{
    Connect, HttpConfig, LocalSpawner, ServerCommand, StaticTokenAuth, StdioConnect,
};
use serde_json::{Value, json};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let plan = env("HOSTILE_PLAN").unwrap_or_else(|| "basic".to_owned());
    let timeout = env("HOSTILE_TIMEOUT_MS")
        .and_then(|ms| ms.parse().ok())
        .unwrap_or(5000);
    let timeout = Duration::from_millis(timeout);
    let (line, client) = match open(&args, timeout).await {
        Ok(client) => (report(carry_out(&client, &plan).await), Some(client)),
        Err(error) => (report(Err(error)), None),
    };
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}")?;
    stdout.flush()?;
    if let Some(client) = client {
        client.close().await;
    }
    Ok(())
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

async fn open(args: &[String], timeout: Duration) -> Result<Client, Failure> {
    let Some((kind, target)) = args.first().zip(args.get(3..)) else {
        return Err("usage: chaos_driver <stdio|http|sse> <case> -- <command…|url>".into());
    };
    let limits = ClientLimits::default()
        .with_connect_timeout(timeout)
        .with_call_idle_timeout(timeout)
        .with_call_deadline(timeout.saturating_mul(2));
    let client = ClientBuilder::new(connector(kind, target)?)
        .name("chaos")
        .limits(limits);
    Ok(client.connect().await?)
}

fn connector(kind: &str, target: &[String]) -> Result<Arc<dyn Connect>, Failure> {
    let (first, rest) = target.split_first().ok_or("no server given")?;
    if kind == "stdio" {
        let command = ServerCommand::new(first).with_args(rest.to_vec());
        return Ok(Arc::new(StdioConnect::new(
            command,
            Arc::new(LocalSpawner::new()),
        )));
    }
    let mut config = HttpConfig::new(first)?;
    if let Some(token) = env("HOSTILE_BEARER") {
        config = config.with_auth(Arc::new(StaticTokenAuth::new(token)));
    }
    if let Some(key) = env("HOSTILE_API_KEY") {
        config = config.with_header("X-Api-Key", &key)?;
    }
    let config = if kind == "sse" {
        config.sse_only()
    } else {
        config.streamable_only()
    };
    Ok(config.into_connect()?)
}

/// The outcome of a plan.
struct Outcome {
    text: String,
    first: Option<String>,
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self { text, first: None }
    }
}

async fn carry_out(client: &Client, plan: &str) -> Result<Outcome, Failure> {
    let (plan, number) = plan.split_once(':').unwrap_or((plan, "0"));
    let number: usize = number.parse()?;
    match plan {
        "basic" | "listall" => {
            client.list_tools().await?;
            Ok(echo(client, "hello").await?.into())
        }
        "twice" | "pause" => {
            client.list_tools().await?;
            let hello = echo(client, "hello").await?;
            if plan == "pause" {
                tokio::time::sleep(Duration::from_millis(1200)).await;
            }
            Ok(format!("{hello}|{}", echo(client, "again").await?).into())
        }
        "subscribe" => {
            let _changes = client.subscribe(Interests::default().with_tools()).await?;
            Ok(echo(client, "hello").await?.into())
        }
        "second" => second(client).await,
        "concurrent" => concurrent(client, number).await,
        "cancel" => cancel(client).await,
        "big" => Ok(echo(client, &"x".repeat(number)).await?.into()),
        other => Err(format!("unknown plan {other}").into()),
    }
}

/// The first call may fail; the second must not.
async fn second(client: &Client) -> Result<Outcome, Failure> {
    let first = match echo(client, "hello").await {
        Ok(_) => "ok".to_owned(),
        Err(error) => {
            tokio::time::sleep(Duration::from_millis(1200)).await;
            describe(error.as_ref())
        }
    };
    Ok(Outcome {
        text: echo(client, "again").await?,
        first: Some(first),
    })
}

async fn concurrent(client: &Client, number: usize) -> Result<Outcome, Failure> {
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..number {
        let client = client.clone();
        calls.spawn(async move {
            let want = format!("hello-{n}");
            let got = echo(&client, &want).await?;
            if got == want {
                Ok(())
            } else {
                Err(Failure::from(format!("{got} for {want}")))
            }
        });
    }
    while let Some(call) = calls.join_next().await {
        call??;
    }
    Ok(number.to_string().into())
}

/// Drops a call in flight, which cancels it.
async fn cancel(client: &Client) -> Result<Outcome, Failure> {
    let slow = client.with(CallOptions::default().with_progress(|_| {}));
    let slow = slow.call_tool("slow", json!({"text": "slow"}));
    if let Ok(done) = tokio::time::timeout(Duration::from_millis(300), slow).await {
        done?;
    }
    Ok(echo(client, "hello").await?.into())
}

async fn echo(client: &Client, text: &str) -> Result<String, Failure> {
    let result = client.call_tool("echo", json!({"text": text})).await?;
    let said = said(&result);
    if result.failed() {
        Err(format!("the tool failed: {said}").into())
    } else {
        Ok(said)
    }
}

fn said(result: &CallToolResult) -> String {
    result
        .content
        .iter()
        .filter_map(ContentBlock::as_text)
        .collect()
}

fn report(outcome: Result<Outcome, Failure>) -> Value {
    match outcome {
        Ok(Outcome { text, first }) => {
            let length = text.chars().count();
            let kept = if length > 1000 { 64 } else { 1000 };
            let text: String = text.chars().take(kept).collect();
            json!({"ok": true, "text": text, "len": length, "first": first})
        }
        Err(error) => json!({"ok": false, "error": describe(error.as_ref())}),
    }
}

/// An error with its causes.
fn describe(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
