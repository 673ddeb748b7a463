//! `switchboard demo-server`.

use clap::{Args, ValueEnum};
use mcp_testkit::{Running, Server};
use serde_json::json;

use crate::demo::demo_server;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// Serves the demo tools until the client, Ctrl-C or the tool `crash` ends it.
#[derive(Args, Debug)]
pub(crate) struct DemoServer {
    #[command(flatten)]
    transport: Transport,
    /// With --http or --sse: listen on this port of 127.0.0.1 instead of a free one
    #[arg(long, value_name = "PORT", conflicts_with = "stdio")]
    port: Option<u16>,
    /// Fix the clock at this time, in milliseconds since 1970
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    clock: Option<i64>,
    /// Speak one era of the protocol only
    #[arg(long, value_enum)]
    era: Option<Era>,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct Transport {
    /// Serve on standard input and output (the default)
    #[arg(long)]
    stdio: bool,
    /// Serve Streamable HTTP
    #[arg(long)]
    http: bool,
    /// Serve HTTP+SSE, of 2024
    #[arg(long)]
    sse: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Era {
    /// 2024-11-05 to 2025-11-25
    Legacy,
    /// 2026-07-28
    Modern,
}

impl DemoServer {
    pub(crate) async fn run(self, out: &Out) -> Result<Exit, Failure> {
        let mut script = demo_server(self.clock);
        match self.era {
            Some(Era::Legacy) => script = script.only(mcp_testkit::Era::Legacy),
            Some(Era::Modern) => script = script.only(mcp_testkit::Era::Modern),
            None => {}
        }
        if self.port.is_some() && !self.transport.http && !self.transport.sse {
            let failure = Failure::new(Exit::Other, "--port is for --http and --sse");
            return Err(failure.with_hint("A server on standard input and output has no port."));
        }
        let server = Server::new(script).with_port(self.port.unwrap_or(0));
        let failed =
            |error| Failure::new(Exit::Other, "the demo server did not start").caused_by(error);
        let running = if self.transport.http {
            server.start_http().await.map_err(failed)?
        } else if self.transport.sse {
            server.start_sse().await.map_err(failed)?
        } else {
            return server.serve_stdio().await.map_err(failed).map(status);
        };
        out.result(&json!({"url": running.url()}), running.url());
        Ok(wait(&running).await)
    }
}

/// Until the tool `crash` or Ctrl-C ends it.
async fn wait(running: &Running) -> Exit {
    tokio::select! {
        code = running.exited() => status(code),
        _ = tokio::signal::ctrl_c() => Exit::Cancelled,
    }
}

fn status(code: i32) -> Exit {
    match code {
        0 => Exit::Done,
        _ => Exit::Other,
    }
}
