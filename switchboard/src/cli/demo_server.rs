//! `switchboard demo-server`.

use clap::{Args, ValueEnum};
use mcp_server::Eras;
use mcp_server::http::HttpService;
use serde_json::json;
use tokio::net::TcpListener;

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
        let eras = match self.era {
            Some(Era::Legacy) => Eras::Legacy,
            Some(Era::Modern) => Eras::Modern,
            None => Eras::Both,
        };
        let (http, sse) = (self.transport.http, self.transport.sse);
        if self.port.is_some() && !http && !sse {
            let failure = Failure::new(Exit::Other, "--port is for --http and --sse");
            return Err(failure.with_hint("A server on standard input and output has no port."));
        }
        let server = demo_server(self.clock, eras);
        let service = server.service().clone();
        if !http && !sse {
            return Ok(tokio::select! {
                () = service.serve_stdio() => Exit::Done,
                () = server.crashed() => Exit::Other,
            });
        }
        let failed =
            |error| Failure::new(Exit::Other, "the demo server did not start").caused_by(error);
        let listener = TcpListener::bind(("127.0.0.1", self.port.unwrap_or(0)))
            .await
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut endpoint = HttpService::new(&service);
        if sse {
            endpoint = endpoint.legacy_sse();
        }
        let path = if sse { "sse" } else { "mcp" };
        let url = format!("http://{address}/{path}");
        out.result(&json!({"url": url}), &url);
        Ok(tokio::select! {
            _ = mcp_server::http::serve(listener, endpoint) => Exit::Other,
            () = server.crashed() => Exit::Other,
            _ = tokio::signal::ctrl_c() => Exit::Cancelled,
        })
    }
}
