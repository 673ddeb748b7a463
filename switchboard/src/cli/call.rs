//! `switchboard call`: one call of one tool.

use std::io::Read as _;
use std::time::Duration;

use clap::Args;
use mcp_manager::{CallOptions, flatten};
use serde_json::{Map, Value, json};

use crate::cli::Global;
use crate::cli::arguments::{self, Validation};
use crate::cli::asker::Asker;
use crate::cli::tool::{entry, split};
use crate::cli::tools::schema;
use crate::conversation::Decided;
use crate::display::out::Out;
use crate::display::signature::signature;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::servers::{AdHoc, ConnectedServer, Connection, ToolPolicy};

/// Maximum size of arguments read from a file.
const MAX_ARGUMENT_BYTES: u64 = 16 << 20;

/// Calls a tool and prints its result. The exit code is 5 if the tool failed.
#[derive(Args, Debug)]
pub(crate) struct Call {
    /// SERVER TOOL [NAME=VALUE | NAME:=JSON]…; without SERVER if a command follows
    #[arg(required = true, value_name = "SERVER TOOL ARGUMENTS")]
    words: Vec<String>,
    /// All arguments as one JSON object; @FILE reads a file, - standard input
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Deadline of the call in seconds, regardless of progress
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Skip validation against the tool's schema
    #[arg(long)]
    no_validate: bool,
    /// Idle timeout of the call in seconds, reset by progress reports
    #[arg(long, value_name = "SECONDS")]
    idle_timeout: Option<u64>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Call {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (server, rest) = split(&self.words, &self.ad_hoc)?;
        let Some((tool, words)) = rest.split_first() else {
            return Err(Failure::new(Exit::Other, "a tool is needed"));
        };
        let mut arguments = match &self.args {
            Some(text) => object(text)?,
            None => Map::new(),
        };
        let work = async |connection: &Connection| {
            let server = connection.only()?;
            let entry = entry(connection, tool)?;
            refuse_denied(connection, server, tool).await?;
            let (schema, name) = (schema(&entry), server.name.as_str());
            let validation = match self.no_validate {
                true => Validation::None,
                false => Validation::Schema,
            };
            let read = arguments::read(words, &schema, validation, &mut arguments);
            read.map_err(|error| {
                let hint = format!(
                    "It takes {}. --no-validate sends the arguments as they are.",
                    untrusted::line(&signature(tool, &schema))
                );
                let text = format!("tool {tool:?} of server {name:?}: {error}");
                Failure::new(Exit::Other, text).with_hint(hint)
            })?;
            let progress = *out;
            let mut options = CallOptions::default().with_progress(move |report| {
                progress.progress(&describe(&report));
            });
            if let Some(seconds) = self.timeout {
                options = options.with_deadline(Duration::from_secs(seconds));
            }
            if let Some(seconds) = self.idle_timeout {
                options = options.with_idle_timeout(Duration::from_secs(seconds));
            }
            let result = connection
                .manager
                .call_tool_with(name, tool, &arguments, options)
                .await;
            out.progress("");
            let result = result.map_err(|error| connection.failure(server, &error))?;
            let value = json!({"server": name, "tool": tool, "result": result});
            out.result(&value, untrusted::text(&text(&result)));
            if !result.failed() {
                return Ok(Exit::Done);
            }
            Err(Failure::new(
                Exit::Tool,
                format!("tool {tool:?} of server {name:?} failed"),
            ))
        };
        Connection::with(global, server, &self.ad_hoc, Asker::new(out), work).await
    }
}

/// A result as text: its content, or its structured content.
fn text(result: &mcp_jsonrpc::model::CallToolResult) -> String {
    match (result.content.is_empty(), &result.structured_content) {
        (true, Some(content)) => match serde_json::from_str::<Value>(content.get()) {
            Ok(value) => format!("{value:#}"),
            Err(_) => content.get().to_owned(),
        },
        _ => flatten(&result.content),
    }
}

fn describe(report: &mcp_jsonrpc::model::ProgressParams) -> String {
    let message = report.message.as_deref().unwrap_or_default();
    match report.total {
        Some(total) => format!("{}/{total} {message}", report.progress),
        None => format!("{} {message}", report.progress),
    }
}

/// A denial also applies to manual calls.
async fn refuse_denied(
    connection: &Connection,
    server: &ConnectedServer,
    tool: &str,
) -> Result<(), Failure> {
    let (Some(store), Some(row)) = (&connection.store, &server.row) else {
        return Ok(());
    };
    let decided = Decided::read(&**store, &row.user_id).await?;
    let denied = ToolPolicy::new(row, &decided).denies(tool);
    match denied {
        false => Ok(()),
        true => Err(Failure::new(
            Exit::Denied,
            format!("you denied tool {tool:?} of server {:?}", row.name),
        )
        .with_hint(format!(
            "`switchboard tool ask {} {tool}` undoes that.",
            row.name
        ))),
    }
}

/// A JSON object: given, in a file, or from standard input.
fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    let failed = |why: String| Failure::new(Exit::Other, format!("--args: {why}"));
    let mut read = String::new();
    let text = match text.strip_prefix('@') {
        Some(path) => {
            let file =
                std::fs::File::open(path).map_err(|error| failed(format!("{path}: {error}")))?;
            let done = file.take(MAX_ARGUMENT_BYTES).read_to_string(&mut read);
            done.map_err(|error| failed(format!("{path}: {error}")))?;
            &read
        }
        None if text == "-" => {
            let done = std::io::stdin()
                .lock()
                .take(MAX_ARGUMENT_BYTES)
                .read_to_string(&mut read);
            done.map_err(|error| failed(error.to_string()))?;
            &read
        }
        None => text,
    };
    serde_json::from_str(text).map_err(|error| failed(format!("it is no JSON object: {error}")))
}
