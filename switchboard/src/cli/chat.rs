//! `switchboard chat`, and `switchboard` alone.

mod attach;
mod look;
mod past;
mod prompts;
mod skills;
mod words;

use std::sync::Arc;

use agent_loop::Reason;
use clap::Args;
use tokio::sync::mpsc;

use crate::chat::{Command, Console, Ended, Forms, Line, Notice, Show};
use crate::chat::{drive, help, money, restore};
use crate::cli::Global;
use crate::cli::failure::model_hint;
use crate::cli::run_args::RunFlags;
use crate::conversation::{Attachment, DurableConversation, Model};
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::{count, message, t};
use crate::models::{Origin, Retries};
use crate::setup::{Setup, mode_name, parse_mode};
use crate::store::ConversationId;

pub(in crate::cli) use attach::refused;

/// The most notices of requests that are made again.
pub(super) const RETRIES: usize = 16;

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
        let (retries, heard) = mpsc::channel(RETRIES);
        let (forms, questions) = Forms::new(retries.clone());
        (run_args.retries, run_args.shown) = (Some(retries.clone()), Some(*out));
        let setup = Setup::set_up(Arc::clone(&store), run_args, forms).await?;
        let console = Console::new(*out, Show::Chat, questions, heard, self.answers_from_stdin);
        let mut room = ChatLoop {
            durable: DurableConversation::begin(store, setup.conversation(), setup.system()),
            setup,
            console,
            retries,
            interactive: out.is_interactive(),
            another,
            instructed: None,
            attached: Vec::new(),
            known_sessions: Vec::new(),
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
    retries: Retries,
    interactive: bool,
    /// Whether the conversation goes on with an assistant of the command line.
    another: bool,
    /// The instructions that were given in this chat.
    instructed: Option<String>,
    /// Files that go with the next message.
    attached: Vec<Attachment>,
    /// Conversations that were listed, to be completed.
    known_sessions: Vec<String>,
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
            self.learn_words();
            let line = tokio::select! {
                line = self.console.input.message(prompt) => line,
                () = self.console.interrupts.next() => return Ok(Exit::Cancelled),
            };
            let line = match line {
                Line::Text(line) => line,
                Line::Interrupted if presses == 0 => {
                    presses += 1;
                    self.dim(&t!("Ctrl-C again ends the program."));
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
            let text = match servers.iter().any(|name| name.as_str() == "demo") {
                true => t!(
                    "No model key found: using the built-in demo model, which is not an AI, and the \
                     demo server."
                ),
                false => {
                    t!("No model key found: using the built-in demo model, which is not an AI.")
                }
            };
            self.console.screen.line(Style::Bold, &text);
            self.dim(&t!(
                "Try: what time is it? · 2 plus 3 · write a note. `switchboard model set` uses a \
                 real model."
            ));
        } else {
            let text = t!("Model: {name}", name = self.setup.choice.name());
            self.dim(&text);
        }
        let tools = self.setup.manager.catalog().enabled_tools().count();
        let servers = self.setup.manager.connected().len();
        let text = t!(
            "{servers}, {tools}. /help shows the commands.",
            servers = count(servers, "1 server", "{n} servers"),
            tools = count(tools, "1 tool", "{n} tools")
        );
        self.dim(&text);
        for notice in std::mem::take(&mut self.setup.notices) {
            let text = format!("! {}", untrusted::text(&message(&notice)));
            self.dim(&text);
        }
    }

    /// Takes up the conversation that everything was set up for.
    async fn resume(&mut self, id: &ConversationId) -> Result<Option<Exit>, Failure> {
        let store = Arc::clone(&self.setup.store);
        self.durable = DurableConversation::load(store, &self.setup.user, id).await?;
        if self.another {
            self.durable.reinstruct(self.setup.system());
        }
        self.go_on().await
    }

    /// Goes on where the conversation was left.
    async fn go_on(&mut self) -> Result<Option<Exit>, Failure> {
        let title = untrusted::line(&self.durable.conversation().title).into_owned();
        self.dim(&t!("Going on with: {title}", title = title));
        if !self.durable.open_questions().await?.is_empty() {
            return self.answer().await;
        }
        if self.durable.is_open() {
            self.dim(&t!(
                "The last answer was cut off. /continue goes on with it."
            ));
        }
        Ok(None)
    }

    async fn obey(&mut self, command: Command) -> Result<Option<Exit>, Failure> {
        match command {
            Command::Nothing => {}
            Command::Say(text) => {
                return self.say(&text).await;
            }
            Command::System(None) => self.instructions(),
            Command::System(Some(text)) => {
                self.durable.reinstruct(Some(&text));
                self.instructed = Some(text);
                self.dim(&t!(
                    "From the next message on, these are the model's instructions."
                ));
            }
            Command::Prompts(None) => self.list_prompts(),
            Command::Prompts(Some(words)) => {
                if let Some(text) = self.prompt(&words).await? {
                    return self.say(&text).await;
                }
            }
            Command::Skills(None) => self.list_skills().await,
            Command::Skills(Some(name)) => self.attach_skill(&name).await?,
            Command::Sessions(None) => self.sessions().await?,
            Command::Sessions(Some(name)) => return self.open(&name).await,
            Command::Attach(None) => self.attachments(),
            Command::Attach(Some(file)) => self.attach(&file)?,
            Command::Undo => self.undo().await?,
            Command::Retry => return self.retry().await,
            Command::Output(call) => self.output(call).await?,
            Command::Continue if !self.durable.has_run() => {
                self.dim(&t!("Nothing to continue yet; type a message."));
            }
            Command::Continue => {
                self.durable.remember(|row| self.setup.remember(row));
                self.durable.proceed().await?;
                return self.answer().await;
            }
            Command::Compact => match self.durable.compact().await? {
                true => return self.answer().await,
                false => self.dim(&t!("There is nothing to compact.")),
            },
            Command::Help => self.console.out.say(help()),
            Command::Tools => self.tools(),
            Command::Servers => self.servers(),
            Command::Model(None) => self.console.out.say(self.setup.choice.name()),
            Command::Model(Some(name)) => {
                self.setup.change_model(&name).await?;
                let text = t!("Model: {name}", name = self.setup.choice.name());
                self.dim(&text);
            }
            Command::Approve(None) => {
                self.console.out.say(mode_name(self.setup.mode));
            }
            Command::Approve(Some(name)) => match parse_mode(&name) {
                Some(mode) => {
                    self.setup.mode = mode;
                    self.approval_mode();
                }
                None => self.dim(&t!("There are ask, auto-read, auto and plan.")),
            },
            Command::Usage => self.usage().await?,
            Command::Clear => {
                let store = Arc::clone(&self.setup.store);
                let conversation = self.setup.conversation();
                self.durable = DurableConversation::begin(store, conversation, self.setup.system());
                self.instructed = None;
                self.dim(&t!("A new conversation."));
            }
            Command::Export(file) => self.export(file).await?,
            Command::Save { call, file } => self.save(call, file).await?,
            Command::Quit => return Ok(Some(Exit::Done)),
            Command::Unknown(name) => {
                let text = t!(
                    "There is no /{name}; /help shows the commands.",
                    name = untrusted::line(&name)
                );
                self.dim(&text);
            }
        }
        Ok(None)
    }

    /// Sends a message, and shows the answer.
    async fn say(&mut self, text: &str) -> Result<Option<Exit>, Failure> {
        self.govern().await?;
        self.durable.remember(|row| self.setup.remember(row));
        let message = self.message(text)?;
        self.durable.ask(message).await?;
        self.attached.clear();
        self.answer().await
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
                    self.dim(&crate::lang::message(&hint));
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
        let tokens = usize::try_from(spent.tokens).unwrap_or(usize::MAX);
        let text = format!(
            "[{} · {}{cost}]",
            self.setup.choice.name(),
            count(tokens, "1 token", "{n} tokens")
        );
        self.dim(&text);
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
