//! `switchboard chat`, and `switchboard` alone.

use std::path::Path;
use std::sync::Arc;

use agent_loop::Reason;
use clap::Args;

use crate::chat::{Command, Console, Ended, Forms, HELP, Line, Notice, Show};
use crate::chat::{drive, export_markdown, money, restore};
use crate::cli::Global;
use crate::cli::failure::{model_hint, unwritable};
use crate::cli::run_args::RunFlags;
use crate::cli::text::count;
use crate::conversation::{DurableConversation, Model, transcript};
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::models::Origin;
use crate::setup::{Setup, mode_name, parse_mode};
use crate::store::{ConversationId, ToolCall};

/// Talks with a model that uses your servers' tools.
#[derive(Args, Debug, Default)]
pub(crate) struct Chat {
    #[command(flatten)]
    durable: RunFlags,
    /// Resume this conversation; `last` is the latest
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Also read answers to questions from standard input, if it is not a terminal; for scripts
    #[arg(long)]
    answers_from_stdin: bool,
}

impl Chat {
    /// Goes on with a conversation.
    pub(crate) fn resuming(id: String, durable: RunFlags, answers_from_stdin: bool) -> Self {
        let resume = Some(id);
        Self {
            durable,
            resume,
            answers_from_stdin,
        }
    }

    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        if global.json {
            let failure = Failure::new(Exit::Other, "a chat has no JSON");
            return Err(failure.with_hint("`switchboard run --json` answers one message."));
        }
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
        let (forms, questions) = Forms::new();
        let setup = Setup::set_up(Arc::clone(&store), run_args, forms).await?;
        let console = Console::new(*out, Show::Chat, questions, self.answers_from_stdin);
        let mut room = ChatLoop {
            durable: DurableConversation::begin(store, setup.conversation(), setup.system()),
            setup,
            console,
            interactive: out.is_interactive(),
            another,
        };
        let ended = room.talk_on(resumed).await;
        restore();
        room.setup.close().await;
        ended
    }
}

/// A chat in progress.
struct ChatLoop {
    setup: Setup,
    durable: DurableConversation,
    console: Console,
    interactive: bool,
    /// Whether the conversation goes on with an assistant of the command line.
    another: bool,
}

impl ChatLoop {
    async fn talk_on(&mut self, resumed: Option<ConversationId>) -> Result<Exit, Failure> {
        self.welcome();
        if let Some(id) = resumed
            && let Some(exit) = self.resume(&id).await?
        {
            return Ok(exit);
        }
        let mut presses = 0;
        loop {
            let prompt = if self.interactive { "> " } else { "" };
            while let Ok(notice) = self.console.notices.try_recv() {
                // Lines that wait are shown as they are sent.
                if matches!(notice, Notice::Dropped(_)) {
                    self.console.notice(&notice);
                }
            }
            let line = tokio::select! {
                line = self.console.input.message(prompt) => line,
                () = self.console.interrupts.next() => return Ok(Exit::Cancelled),
            };
            let line = match line {
                Line::Text(line) => line,
                Line::Interrupted if presses == 0 => {
                    presses += 1;
                    self.dim("Ctrl-C again ends the program.");
                    continue;
                }
                Line::Interrupted => return Ok(Exit::Cancelled),
                Line::End => return Ok(Exit::Done),
            };
            presses = 0;
            match self.obey(Command::parse(&line)).await {
                Ok(None) => {}
                Ok(Some(exit)) => return Ok(exit),
                // A failed line does not end the chat.
                Err(failure) if self.interactive => self.console.out.failure(&failure),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn dim(&mut self, text: &str) {
        self.console.screen.line(Style::Dim, text);
    }

    fn welcome(&mut self) {
        if self.setup.choice.origin == Origin::Demo {
            let servers = self.setup.manager.connected();
            let server = match servers.iter().any(|name| name.as_str() == "demo") {
                true => ", and the demo server",
                false => "",
            };
            let text = format!(
                "No model key found: using the built-in demo model, which is not an AI{server}."
            );
            self.console.screen.line(Style::Bold, &text);
            self.dim(
                "Try: what time is it? · 2 plus 3 · write a note. `switchboard model set` uses a \
                 real model.",
            );
        } else {
            let text = format!("Model: {}", self.setup.choice.name());
            self.dim(&text);
        }
        let tools = self.setup.manager.catalog().enabled_tools().count();
        let servers = self.setup.manager.connected().len();
        let text = format!(
            "{}, {}. /help shows the commands.",
            count(servers, "server"),
            count(tools, "tool")
        );
        self.dim(&text);
        for notice in std::mem::take(&mut self.setup.notices) {
            let text = format!("! {}", untrusted::text(&notice));
            self.dim(&text);
        }
    }

    /// Takes a conversation up where it was left.
    async fn resume(&mut self, id: &ConversationId) -> Result<Option<Exit>, Failure> {
        let store = Arc::clone(&self.setup.store);
        self.durable = DurableConversation::load(store, &self.setup.user, id).await?;
        if self.another {
            self.durable.reinstruct(self.setup.system());
        }
        let title = untrusted::line(&self.durable.conversation().title).into_owned();
        self.dim(&format!("Going on with: {title}"));
        if !self.durable.open_questions().await?.is_empty() {
            return self.answer().await;
        }
        if self.durable.is_open() {
            self.dim("The last answer was cut off. /continue goes on with it.");
        }
        Ok(None)
    }

    async fn obey(&mut self, command: Command) -> Result<Option<Exit>, Failure> {
        match command {
            Command::Nothing => {}
            Command::Say(text) => {
                self.govern().await?;
                self.durable.remember(|row| self.setup.remember(row));
                self.durable.ask(&text).await?;
                return self.answer().await;
            }
            Command::Continue if !self.durable.has_run() => {
                self.dim("There is nothing to go on with yet: say something.");
            }
            Command::Continue => {
                self.durable.remember(|row| self.setup.remember(row));
                self.durable.proceed().await?;
                return self.answer().await;
            }
            Command::Compact => match self.durable.compact().await? {
                true => return self.answer().await,
                false => self.dim("There is nothing to compact."),
            },
            Command::Help => self.console.out.say(HELP),
            Command::Tools => self.tools(),
            Command::Servers => self.servers(),
            Command::Model(None) => self.console.out.say(self.setup.choice.name()),
            Command::Model(Some(name)) => {
                self.setup.change_model(&name).await?;
                let text = format!("Model: {}", self.setup.choice.name());
                self.dim(&text);
            }
            Command::Approve(None) => {
                self.console.out.say(mode_name(self.setup.mode));
            }
            Command::Approve(Some(name)) => match parse_mode(&name) {
                Some(mode) => self.setup.mode = mode,
                None => self.dim("There are ask, auto-read, auto and plan."),
            },
            Command::Usage => self.usage().await?,
            Command::Clear => {
                let store = Arc::clone(&self.setup.store);
                let conversation = self.setup.conversation();
                self.durable = DurableConversation::begin(store, conversation, self.setup.system());
                self.dim("A new conversation.");
            }
            Command::Export(file) => self.export(file).await?,
            Command::Save { call, file } => self.save(call, file).await?,
            Command::Quit => return Ok(Some(Exit::Done)),
            Command::Unknown(name) => {
                let text = format!(
                    "There is no /{}; /help shows the commands.",
                    untrusted::line(&name)
                );
                self.dim(&text);
            }
        }
        Ok(None)
    }

    async fn govern(&mut self) -> Result<(), Failure> {
        let id = self.durable.conversation().id.clone();
        let (policy, limits) = self.setup.governance(&id).await?;
        self.durable.govern(policy, limits);
        Ok(())
    }

    /// Drives the answer, and shows what it cost.
    async fn answer(&mut self) -> Result<Option<Exit>, Failure> {
        self.govern().await?;
        match answer(&mut self.durable, &self.setup, &mut self.console).await? {
            Ended::Over(reason) => {
                self.footer();
                if let Reason::Failed { message } = &reason
                    && let Some(hint) = model_hint(&self.setup.choice, message)
                {
                    self.dim(&hint);
                }
                if reason == Reason::Cancelled {
                    // What was typed before the answer was stopped is looked at again.
                    self.console.input.recall().await;
                }
                Ok(None)
            }
            Ended::Quit => Ok(Some(Exit::Cancelled)),
            Ended::Waiting => {
                let id = self.durable.conversation().id.clone();
                let hint = format!(
                    "`switchboard session resume {id}` asks it again, in a terminal; \
                     --answers-from-stdin takes answers from standard input."
                );
                let failure = Failure::new(Exit::Denied, "a question waits for your answer");
                Err(failure.with_hint(hint))
            }
        }
    }

    fn footer(&mut self) {
        let spent = self.durable.run().spent();
        let cost = match spent.cost_micros {
            0 => String::new(),
            micros => format!(" · {}", money(micros)),
        };
        let text = format!(
            "[{} · {} tokens{cost}]",
            self.setup.choice.name(),
            spent.tokens
        );
        self.dim(&text);
    }

    fn tools(&mut self) {
        let catalog = self.setup.manager.catalog();
        for tool in catalog.enabled_tools() {
            let text = tool.description().unwrap_or_default();
            let first = text.lines().next().unwrap_or_default();
            let line = format!("{} · {}  {first}", tool.server(), tool.name());
            self.console.out.say(untrusted::line(&line));
        }
    }

    fn servers(&mut self) {
        for server in self.setup.manager.servers() {
            let error = server
                .error
                .map(|error| format!("  {error}"))
                .unwrap_or_default();
            let line = format!("{}  {:?}{error}", server.name, server.state);
            self.console.out.say(untrusted::line(&line));
        }
    }

    async fn usage(&mut self) -> Result<(), Failure> {
        let id = self.durable.conversation().id.clone();
        let totals = self
            .setup
            .store
            .usage(&self.setup.user, Some(&id), None)
            .await?;
        self.console.out.say(super::usage::table(&totals));
        Ok(())
    }

    async fn export(&mut self, file: Option<String>) -> Result<(), Failure> {
        let conversation = self.durable.conversation();
        let messages = transcript(&*self.setup.store, &conversation.id).await?;
        let text = export_markdown(conversation, &messages);
        match file {
            None => self.console.out.say(untrusted::text(&text)),
            Some(file) => {
                let written = std::fs::write(&file, text);
                written.map_err(|error| unwritable(Path::new(&file), error))?;
                self.dim(&format!("Written to {file}."));
            }
        }
        Ok(())
    }
}

impl ChatLoop {
    /// Writes a result that was shown in part to a file, whole.
    async fn save(&mut self, call: Option<u32>, file: Option<String>) -> Result<(), Failure> {
        let Some(file) = file else {
            self.dim("/save [CALL] FILE needs a file.");
            return Ok(());
        };
        let store = Arc::clone(&self.setup.store);
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*store, &id).await?;
        let mut calls = messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .rev();
        let wanted = |it: &&ToolCall| {
            it.result_blob.is_some() && call.is_none_or(|call| it.position == call)
        };
        let whole = calls.find(wanted).and_then(|it| it.result_blob.clone());
        let blob = match whole {
            Some(whole) => store.blob(&id, &whole).await?,
            None => None,
        };
        let Some(blob) = blob else {
            let what = call.map_or("No result".to_owned(), |call| {
                format!("No result of call {call}")
            });
            self.dim(&format!(
                "{what} was shown in part: there is nothing more to save."
            ));
            return Ok(());
        };
        let written = std::fs::write(&file, &blob.bytes);
        written.map_err(|error| unwritable(Path::new(&file), error))?;
        self.dim(&format!(
            "{} bytes written to {}.",
            blob.bytes.len(),
            untrusted::line(&file)
        ));
        Ok(())
    }
}

/// Drives an answer until it is over or waits for the user.
pub(super) async fn answer(
    durable: &mut DurableConversation,
    setup: &Setup,
    console: &mut Console,
) -> Result<Ended, Failure> {
    let agent = setup.agent(&durable.conversation().id);
    let model = Model {
        name: &setup.choice.name(),
        servers: &setup.servers,
    };
    let ended = drive(durable, &agent, model, console).await;
    console.screen.end_line();
    Ok(ended?)
}
