//! `switchboard run`: one message, one answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_loop::Reason;
use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::chat::{Console, Ended, Forms, Show, call_json};
use crate::cli::Global;
use crate::cli::chat::{self, RETRIES, refused};
use crate::cli::failure::model_hint;
use crate::cli::message::{message, of_file};
use crate::cli::run_args::RunFlags;
use crate::conversation::{Attachment, DurableConversation, UserMessage};
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::setup::Setup;
use crate::store::{CallStatus, Server, ToolCall, UsageTotal};

/// Sends one message to a model, lets it use tools, and prints the answer.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The message; - reads it from standard input. Piped input is appended to it
    #[arg(value_name = "PROMPT", required_unless_present_any = ["resume", "file", "attach"])]
    prompt: Option<String>,
    /// Add this file to the message; - is standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Send this file with the message: an image, sound, PDF or text; may be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    #[command(flatten)]
    durable: RunFlags,
    /// Resume this conversation; `last` is the latest
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Answer in the JSON schema in this file, and print the validated JSON
    #[arg(long, value_name = "FILE", conflicts_with = "stream_json")]
    output_schema: Option<PathBuf>,
    /// Print everything that happens, one JSON object a line
    #[arg(long)]
    stream_json: bool,
    /// With --stream-json: the event format
    #[arg(long, value_name = "WORDS", requires = "stream_json")]
    compat: Option<Compat>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Compat {
    /// Event names of middleware chains: text_delta, mcp_tool_call_begin, …
    Chunks,
}

impl Run {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let prompt = message(self.prompt.as_deref(), self.file.as_deref(), out).await?;
        let files = self.attach.iter().map(|file| Attachment::read(file));
        let files: Vec<Attachment> = files.collect::<Result<_, _>>().map_err(refused)?;
        let message = match (prompt, files.is_empty()) {
            (None, true) => None,
            (prompt, _) => {
                let message = UserMessage::new(prompt.unwrap_or_default(), files);
                Some(message.map_err(refused)?)
            }
        };
        let schema = self.output_schema.as_deref().map(read_schema).transpose()?;
        let store = global.store().await?;
        let resumed = match &self.resume {
            Some(name) => Some(super::session::find(&*store, name).await?),
            None => None,
        };
        let mut run_args = self.durable.run_args(global);
        let another = run_args.assistant.is_some();
        if let Some(id) = &resumed {
            super::session::resume(&*store, id, &mut run_args).await?;
        }
        let (retries, heard) = mpsc::channel(RETRIES);
        run_args.unattended = !out.is_interactive() || self.stream_json || global.quiet;
        let attended = !run_args.unattended;
        let (forms, questions) = Forms::new(retries.clone());
        (run_args.retries, run_args.shown) = (Some(retries), Some(*out));
        let mut setup = match attended {
            true => Setup::set_up(Arc::clone(&store), run_args, forms).await?,
            false => Setup::set_up(Arc::clone(&store), run_args, NoopElicitation).await?,
        };
        let structured = schema.is_some();
        if let (Some(schema), Some(file)) = (schema, &self.output_schema)
            && let Err(error) = setup.require_output(schema)
        {
            setup.close().await;
            return Err(Failure::new(
                Exit::Other,
                format!("{}: {error}", file.display()),
            ));
        }
        let show = match (self.stream_json, self.compat) {
            _ if structured => Show::Nothing,
            (true, Some(Compat::Chunks)) => Show::Chunks,
            (true, None) => Show::Lines,
            (false, _) if global.json || global.quiet => Show::Nothing,
            (false, _) => Show::Answer,
        };
        let mut console = Console::new(*out, show, questions, heard, false);
        for notice in &setup.notices {
            out.note(format!("! {}", untrusted::text(notice)));
        }
        let answered = async {
            let mut durable = match resumed {
                Some(id) => DurableConversation::load(Arc::clone(&store), &setup.user, &id).await?,
                None => DurableConversation::begin(
                    Arc::clone(&store),
                    setup.conversation(),
                    setup.system(),
                ),
            };
            let (policy, limits) = setup.governance(&durable.conversation().id).await?;
            durable.govern(policy, limits);
            durable.remember(|row| setup.remember(row));
            if another {
                durable.reinstruct(setup.system());
            }
            match message {
                Some(message) => {
                    message.check(&setup.choice).map_err(refused)?;
                    drop(durable.ask(message).await?);
                }
                None => durable.proceed().await?,
            }
            answer(&mut durable, &setup, &mut console).await
        };
        let answered = answered.await;
        let reported = match answered {
            Ok(Answered { exit, value, text }) => {
                if show == Show::Nothing {
                    out.result(&value, untrusted::text(&text));
                }
                Ok(exit)
            }
            Err(failure) => Err(failure),
        };
        setup.close().await;
        reported
    }
}

struct Answered {
    exit: Exit,
    value: Value,
    text: String,
}

async fn answer(
    durable: &mut DurableConversation,
    setup: &Setup,
    console: &mut Console,
) -> Result<Answered, Failure> {
    let reason = match chat::answer(durable, setup, console).await? {
        Ended::Over(reason) => reason,
        Ended::Quit => Reason::Cancelled,
        Ended::Waiting => {
            let hint = format!(
                "`switchboard session resume {}` asks again.",
                durable.conversation().id
            );
            let failure = Failure::new(Exit::Denied, "a question waits for your answer");
            return Err(failure.with_hint(hint));
        }
    };
    let id = &durable.conversation().id;
    let totals = setup.store.usage(&setup.user, Some(id), None).await?;
    let recorder = durable.recorder();
    let denied = recorder.calls();
    let denied = denied.filter(|call| call.status == CallStatus::Denied);
    let denied: Vec<&ToolCall> = denied.collect();
    if !denied.is_empty() {
        console
            .screen
            .line(Style::Dim, &allowing(&denied, &setup.servers));
    }
    let exit = match &reason {
        Reason::Finished if !denied.is_empty() => Exit::Denied,
        Reason::Finished => Exit::Done,
        Reason::Cancelled => Exit::Cancelled,
        Reason::Failed { message } => {
            let signs = ["refused the key", "(HTTP 401)", "(HTTP 403)"];
            let exit = match signs.iter().any(|sign| message.contains(sign)) {
                true => Exit::Auth,
                false => Exit::Model,
            };
            let again = format!("`switchboard run --resume {id}` tries again.");
            let hint = match model_hint(&setup.choice, message) {
                Some(hint) => format!("{hint}\n{again}"),
                None => again,
            };
            return Err(Failure::new(exit, message.clone()).with_hint(hint));
        }
        Reason::InvalidOutput { message } => {
            let hint = format!("`switchboard session export {id}` shows what the model wrote.");
            return Err(Failure::new(Exit::Model, message.clone()).with_hint(hint));
        }
        Reason::Refused => Exit::Model,
        _ => Exit::Limit,
    };
    let output = durable.run().output();
    let output: Option<Value> = output.and_then(|output| output.parse().ok());
    let text = match &output {
        Some(output) => serde_json::to_string_pretty(output).unwrap_or_default(),
        None => recorder.answer().content.clone(),
    };
    let mut value = json!({
        "conversation": id,
        "model": setup.choice.name(),
        "text": text,
        "toolCalls": recorder.calls().map(call_json).collect::<Vec<_>>(),
        "finish": reason.to_string(),
        "usage": usage(&totals),
    });
    if let (Some(output), Some(members)) = (output, value.as_object_mut()) {
        members.insert("output".to_owned(), output);
    }
    Ok(Answered { exit, value, text })
}

/// How calls that were denied could run the next time.
fn allowing(denied: &[&ToolCall], servers: &[Server]) -> String {
    let mut tools: Vec<(&str, &str)> = denied
        .iter()
        .map(|call| (call.server_name.as_str(), call.tool.as_str()))
        .collect();
    // Only what is stored can be allowed for good.
    tools.retain(|(server, _)| servers.iter().any(|row| row.name == *server));
    tools.sort_unstable();
    tools.dedup();
    let commands = tools.iter().map(|(server, tool)| {
        let (server, tool) = (untrusted::line(server), untrusted::line(tool));
        format!("`switchboard tool allow {server} {tool}`")
    });
    let commands = commands.collect::<Vec<_>>().join(", ");
    let for_good = match commands.is_empty() {
        true => String::new(),
        false => format!(" {commands} lets a tool run from now on."),
    };
    format!(
        "Denied: no one could be asked, or a rule forbids it. --allow TOOL lets one run, this once, and \
         --approve auto all of them; in a terminal you are asked.{for_good}"
    )
}

fn usage(totals: &[UsageTotal]) -> Value {
    let sum = |field: fn(&UsageTotal) -> u64| totals.iter().map(field).sum::<u64>();
    let unpriced = sum(|total| total.unpriced_rounds);
    json!({
        "rounds": sum(|total| total.rounds),
        "input": sum(|total| total.input),
        "output": sum(|total| total.output),
        "costMicros": (unpriced == 0).then(|| sum(|total| total.cost_micros)),
    })
}

fn read_schema(file: &Path) -> Result<Value, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let text = format!(
            "{}: the output schema cannot be read: {error}",
            file.display()
        );
        Failure::new(Exit::Other, text)
    };
    let text = of_file(file)?;
    serde_json::from_str(&text).map_err(|error| unreadable(&error))
}
