//! `switchboard session`: stored conversations.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::chat::{export_json, export_markdown};
use crate::cli::Global;
use crate::cli::chat::Chat;
use crate::cli::failure::unwritable;
use crate::cli::run_args::RunFlags;
use crate::conversation::attachment::Files;
use crate::conversation::{fork, transcript};
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::setup::RunArgs;
use crate::store::{Change, Conversation, ConversationId, Store, UserId};

/// How many conversations are looked through for one.
const LISTED: u32 = 1000;
/// How many conversations are listed if no number is given.
const SHOWN: u32 = 20;

/// Stored conversations.
#[derive(Args, Debug)]
pub(crate) struct Session {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List conversations, the latest first (default)
    #[command(visible_alias = "ls")]
    List {
        /// Maximum number of conversations
        #[arg(long, default_value_t = SHOWN, value_name = "N")]
        limit: u32,
    },
    /// Print a conversation, its messages numbered
    Show {
        /// Its id, the beginning or end of it, or last
        id: String,
    },
    /// Write a conversation as markdown or JSON
    Export {
        /// Its id, the beginning or end of it, or last
        id: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Md)]
        format: Format,
        /// Output file; standard output by default
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Resume a conversation in a chat
    Resume {
        /// Its id, the beginning or end of it, or last
        #[arg(default_value = "last")]
        id: String,
        #[command(flatten)]
        durable: Box<RunFlags>,
        /// Also read answers to questions from standard input, if it is not a terminal; for scripts
        #[arg(long)]
        answers_from_stdin: bool,
    },
    /// Delete a conversation and all that belongs to it
    #[command(visible_alias = "rm", alias = "remove")]
    Delete {
        /// Its id, the beginning or end of it, or last
        id: String,
    },
    /// Copy a conversation, so that it can continue differently
    Fork {
        /// Its id, the beginning or end of it, or last
        id: String,
        /// Up to the message of this number, as `session show` has it
        #[arg(long, value_name = "SEQ")]
        upto: Option<u64>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Md,
    Json,
}

impl Session {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let verb = self.verb.unwrap_or(Verb::List { limit: SHOWN });
        if let Verb::Resume {
            id,
            durable,
            answers_from_stdin,
        } = verb
        {
            let chat = Chat::resuming(id, *durable, answers_from_stdin);
            return Box::pin(chat.run(global, out)).await;
        }
        let store = global.store().await?;
        let user = UserId::local();
        match verb {
            Verb::List { limit } => list(&*store, &user, limit, out).await?,
            Verb::Show { id } => {
                let (conversation, messages) = load(&*store, &user, &id).await?;
                let files = Files::read(&*store, &messages).await?;
                let text = export_markdown(&conversation, &messages, &files);
                out.result(
                    &export_json(&conversation, &messages, &files),
                    untrusted::text(&text),
                );
            }
            Verb::Export { id, format, output } => {
                let (conversation, messages) = load(&*store, &user, &id).await?;
                let files = Files::read(&*store, &messages).await?;
                let value = export_json(&conversation, &messages, &files);
                let text = match format {
                    Format::Md => export_markdown(&conversation, &messages, &files),
                    Format::Json => serde_json::to_string_pretty(&value).unwrap_or_default(),
                };
                match output {
                    None => out.result(&value, text),
                    Some(file) => {
                        let written = std::fs::write(&file, text);
                        written.map_err(|error| unwritable(&file, error))?;
                        let written = file.display().to_string();
                        out.result(
                            &json!({ "written": written }),
                            format!("Written to {written}."),
                        );
                    }
                }
            }
            Verb::Delete { id } => {
                let id = find(&*store, &id).await?;
                let gone = Change::DeleteConversation(user, id.clone());
                store.commit(vec![gone]).await?;
                out.result(&json!({ "deleted": id }), format!("Deleted {id}."));
            }
            Verb::Fork { id, upto } => {
                let (conversation, messages) = load(&*store, &user, &id).await?;
                let id = conversation.id;
                if let (Some(upto), Some(last)) = (upto, messages.last())
                    && messages.iter().all(|message| message.seq != upto)
                {
                    let text = format!("--upto {upto}: there is no message {upto}");
                    let hint = format!("The last one is {}; `session show` has them.", last.seq);
                    return Err(Failure::new(Exit::Other, text).with_hint(hint));
                }
                let copy = fork(&Arc::clone(&store), &user, &id, upto).await?;
                let text = format!("{} is a copy of {id}.", copy.id);
                out.result(&json!({ "id": copy.id, "parent": id }), text);
            }
            Verb::Resume { .. } => {}
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

async fn list(store: &dyn Store, user: &UserId, limit: u32, out: &Out) -> Result<(), Failure> {
    let all = store.conversations(user, None, limit).await?;
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for conversation in &all {
        let open = !store.open_questions(&conversation.id).await?.is_empty();
        let mark = if open {
            "  (waits for your answer)"
        } else {
            ""
        };
        let Conversation {
            id,
            title,
            updated_at,
            ..
        } = conversation;
        lines.push(format!(
            "{id}  {updated_at}  {}{mark}",
            untrusted::line(title)
        ));
        rows.push(json!({
            "id": id,
            "title": title,
            "updatedAt": updated_at,
            "parent": conversation.parent,
            "waiting": open,
        }));
    }
    if lines.is_empty() {
        lines.push("No conversations yet. `switchboard chat` begins one.".to_owned());
    }
    out.result(&json!({ "conversations": rows }), lines.join("\n"));
    Ok(())
}

async fn load(
    store: &dyn Store,
    user: &UserId,
    name: &str,
) -> Result<(Conversation, Vec<crate::store::Message>), Failure> {
    let id = find(store, name).await?;
    let found = store.conversation(user, &id).await?;
    let conversation = found.ok_or_else(|| unknown(name))?;
    let messages = transcript(store, &id).await?;
    Ok((conversation, messages))
}

/// Fills in what a conversation was started with, where no flag overrides it.
pub(crate) async fn resume(
    store: &dyn Store,
    id: &ConversationId,
    run_args: &mut RunArgs,
) -> Result<(), Failure> {
    let row = store.conversation(&UserId::local(), id).await?;
    run_args.resume(&row.ok_or_else(|| unknown(id.as_str()))?)
}

/// The one conversation that a name means: an id, the beginning or end of one, or `last`.
pub(crate) async fn find(store: &dyn Store, name: &str) -> Result<ConversationId, Failure> {
    let user = UserId::local();
    let id = ConversationId::new(name);
    if store.conversation(&user, &id).await?.is_some() {
        return Ok(id);
    }
    let all = store.conversations(&user, None, LISTED).await?;
    let means = |conversation: &&Conversation| {
        let id = conversation.id.as_str();
        id.starts_with(name) || id.ends_with(name)
    };
    let mut found = match name {
        "last" => all.iter().take(1).collect::<Vec<_>>(),
        _ => all.iter().filter(means).collect(),
    };
    match (found.pop(), found.is_empty()) {
        (Some(conversation), true) => Ok(conversation.id.clone()),
        (Some(_), false) => Err(Failure::new(
            Exit::Other,
            format!("{name:?} means several conversations"),
        )),
        (None, _) => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    Failure::new(Exit::Other, format!("there is no conversation {name:?}"))
        .with_hint("`switchboard session list` shows them.")
}
