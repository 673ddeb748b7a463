//! Verbs about any number of servers: each is looked at, and what was seen is printed.

use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::{AdHoc, ConnectedServer, Connection};

/// The servers of a verb.
#[derive(Args, Debug)]
pub(crate) struct About {
    /// A server: its name, its URL, or `demo`; all enabled servers by default
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl About {
    /// Connects to the servers and prints what `look` returns for each: its JSON, and its part of
    /// the text. Reports what is wrong with the others.
    pub(crate) async fn print<T>(
        &self,
        global: &Global,
        out: &Out,
        look: impl Fn(&Connection, &ConnectedServer) -> (Value, T),
        text: impl FnOnce(Vec<T>) -> String,
    ) -> Result<Exit, Failure> {
        let work = async |connection: &Connection| {
            if connection.findings.is_empty() {
                connection.only()?;
            }
            let seen = connection
                .servers
                .iter()
                .map(|server| look(connection, server));
            let (values, parts): (Vec<Value>, Vec<T>) = seen.unzip();
            if !values.is_empty() || out.is_json() {
                out.result(&json!({ "servers": values }), text(parts));
            }
            Ok(connection.tell(out))
        };
        let server = self.server.as_deref();
        Connection::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}
