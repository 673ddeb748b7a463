//! `switchboard call`: a call of one tool, once or many times.

mod output;
mod repeat;

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use mcp_jsonrpc::model::{LoggingLevel, Meta};
use mcp_manager::{CallOptions, flatten};
use serde_json::{Map, Value, json};

use self::repeat::{Ended, Repeat};
use crate::cli::Global;
use crate::cli::arguments::{self, Validation};
use crate::cli::asker::Asker;
use crate::cli::tool::{entry, split};
use crate::cli::tools::schema;
use crate::conversation::Decided;
use crate::display::out::Out;
use crate::display::signature::signature;
use crate::display::untrusted;
use crate::exit::{Exit, Failure, chain};
use crate::home;
use crate::servers::{AdHoc, Approval, ConnectedServer, Connection, ToolPolicy, log_text, scan};

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
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Skip validation against the tool's schema
    #[arg(long)]
    no_validate: bool,
    /// Idle timeout of the call in seconds, reset by progress reports
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: Option<u64>,
    /// Write the result to this file: its bytes or text, or with --json all of it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Add this to the request's _meta; may be repeated
    #[arg(long, value_name = "NAME=VALUE | NAME:=JSON")]
    meta: Vec<String>,
    /// Show the server's log messages of this level and above
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    log_level: Option<LoggingLevel>,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

/// Parses the level of a log message.
fn level(text: &str) -> Result<LoggingLevel, String> {
    serde_json::from_value(Value::from(text.to_lowercase())).map_err(|_| {
        "there are debug, info, notice, warning, error, critical, alert and emergency".to_owned()
    })
}

impl Call {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (server, rest) = split(&self.words, &self.ad_hoc)?;
        let Some((tool, words)) = rest.split_first() else {
            return Err(Failure::new(Exit::Other, "a tool is needed"));
        };
        let meta = self.meta()?;
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
            if let (Some(level), Some(client)) = (self.log_level, connection.manager.client(name)) {
                // A server without logging has nothing to show.
                let _ = client.set_log_level(level).await;
            }
            let call = |options| {
                let calls = &connection.manager;
                calls.call_tool_with(name, tool, &arguments, options)
            };
            if let Some(times) = self.repeat.repeat {
                let report = self.repeat.run(times, || async {
                    let options = self.options(meta.clone());
                    let options = match connection.manager.client(name) {
                        // Not one after the other, as calls of a conversation.
                        Some(client) => options.with_connection(client),
                        None => options,
                    };
                    match call(options).await {
                        Ok(result) if result.failed() => Ended::Badly(text(&result)),
                        Ok(_) => Ended::Well,
                        Err(error) => Ended::Badly(chain(&error)),
                    }
                });
                let report = report.await;
                out.result(&report.json(), report.text());
                return Ok(match report.has_failures() {
                    true => Exit::Tool,
                    false => Exit::Done,
                });
            }
            let (progress, log) = (*out, *out);
            let mut options = self.options(meta.clone()).with_progress(move |report| {
                progress.progress(&describe(&report));
            });
            if self.log_level.is_some() {
                options = options
                    .with_log(move |message| log.remark(untrusted::line(&log_text(&message))));
            }
            let result = call(options).await;
            out.progress("");
            let result = result.map_err(|error| connection.failure(server, &error))?;
            let value = json!({"server": name, "tool": tool, "result": result});
            match &self.output {
                // A failure is no result: nothing that was kept is replaced by it.
                Some(path) if !result.failed() => {
                    output::save(path, &result, &text(&result), value, out)?;
                }
                _ => out.result(&value, untrusted::text(&text(&result))),
            }
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

impl Call {
    fn options(&self, meta: Option<Meta>) -> CallOptions {
        let mut options = CallOptions::default();
        if let Some(seconds) = self.timeout {
            options = options.with_deadline(Duration::from_secs(seconds));
        }
        if let Some(seconds) = self.idle_timeout {
            options = options.with_idle_timeout(Duration::from_secs(seconds));
        }
        if let Some(level) = self.log_level {
            options = options.with_log_level(level);
        }
        match meta {
            Some(meta) => options.with_meta(meta),
            None => options,
        }
    }

    /// What is added to the request's metadata.
    fn meta(&self) -> Result<Option<Meta>, Failure> {
        if self.meta.is_empty() {
            return Ok(None);
        }
        let mut members = Map::new();
        // Any name and any value: there is no schema.
        let read = arguments::read(&self.meta, &json!({}), Validation::None, &mut members);
        read.map_err(|error| Failure::new(Exit::Other, format!("--meta: {error}")))?;
        let meta = serde_json::from_value(Value::Object(members));
        let meta = meta.map_err(|error| Failure::new(Exit::Other, "--meta").caused_by(error))?;
        Ok(Some(meta))
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
    let settings = home::settings(&**store, &row.user_id).await?;
    let policy = ToolPolicy::new(row, &decided).with_scan(scan::policy(&settings));
    let catalog = connection.catalog();
    let entry = catalog.find(&server.name, tool);
    let found = entry
        .map(|entry| catalog.findings(entry))
        .unwrap_or_default();
    let denied = policy.denies(tool);
    if !denied
        && let Some(entry) = entry
        && policy.approval(entry, found) == Approval::Deny
    {
        let reason = found.first().map(ToString::to_string).unwrap_or_default();
        let text = format!(
            "your settings block tool {tool:?} of server {:?}: {reason}",
            row.name
        );
        let hint =
            "`switchboard config set scan.high ask` (or scan.medium, scan.low) asks instead.";
        return Err(Failure::new(Exit::Denied, text).with_hint(hint));
    }
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
    let mut place = String::new();
    let text = match text.strip_prefix('@') {
        Some(path) => {
            let file =
                std::fs::File::open(path).map_err(|error| failed(format!("{path}: {error}")))?;
            let done = file.take(MAX_ARGUMENT_BYTES).read_to_string(&mut read);
            done.map_err(|error| failed(format!("{path}: {error}")))?;
            place = format!("{path}: ");
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
    serde_json::from_str(text)
        .map_err(|error| failed(format!("{place}it is no JSON object: {error}")))
}
