//! The command line: flags, verbs, and how a run begins and ends.

mod about;
mod approvals;
mod arguments;
mod asker;
mod assistants;
mod audit;
pub(crate) mod browser;
mod call;
mod chat;
mod completions;
mod config;
mod demo;
mod demo_model;
mod demo_server;
mod doctor;
mod examples;
mod export;
mod failure;
mod gateway;
mod import;
mod man;
mod message;
mod model;
mod model_flags;
mod processes;
mod prompts;
mod reach;
mod resources;
mod run;
mod run_args;
mod schema;
mod serve;
mod servers;
mod session;
mod store;
mod text;
mod tokens;
mod tool;
mod tools;
mod usage;
mod users;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use serde_json::Value;

use crate::display::out::{Color, Mode, Out};
use crate::exit::{Exit, Failure};
use crate::setup::settings;
use crate::store::{LEASE_TIMEOUT, Store, StoreError, UserId};
use crate::{home, lang};

pub(crate) use run_args::reference;

/// Talks to MCP servers from the terminal.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, about, max_term_width = 100, after_help = examples::PROGRAM)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Help heading of the global options.
pub(crate) const GLOBAL: &str = "Global options";

/// Options of every verb.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Print one JSON object, and errors as one JSON line on standard error
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Print results only
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Use the servers of this file, without importing it
    #[arg(long, value_name = "FILE", global = true, help_heading = GLOBAL)]
    pub(crate) config: Option<PathBuf>,
    /// Keep servers, approvals and sessions in this file or PostgreSQL database (postgres://…); also
    /// by SWITCHBOARD_DATABASE
    #[arg(long, value_name = "FILE|URL", global = true, help_heading = GLOBAL)]
    pub(crate) database: Option<PathBuf>,
    /// Print without colours
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_color: bool,
    /// Print line by line, without colours or redrawing: for screen readers and simple terminals
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) plain_output: bool,
    #[cfg(feature = "telemetry")]
    #[command(flatten)]
    telemetry: crate::telemetry::Options,
}

impl Global {
    /// Opens the store.
    pub(crate) async fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        self.store_with(LEASE_TIMEOUT).await
    }

    /// Opens the store, with a time after which others take over what this process drives.
    pub(crate) async fn store_with(
        &self,
        lease_timeout: Duration,
    ) -> Result<Arc<dyn Store>, StoreError> {
        let store = home::store_with(self.database.as_deref(), lease_timeout).await?;
        // The language of a file's user is known before it is opened; a database is asked now.
        if !self.json && store.cluster().is_some() {
            let settings = home::settings(&*store, &UserId::local()).await?;
            let setting = settings.get(lang::SETTING).and_then(Value::as_str);
            if let Some(language) = lang::choose(&home::environment, || setting.map(str::to_owned))
            {
                lang::speak(language);
            }
        }
        for notice in settings::upgrade(&*store).await? {
            self.out().note(format!("! {notice}"));
        }
        Ok(store)
    }

    fn out(&self) -> Out {
        let mode = match (self.json, self.quiet) {
            (true, _) => Mode::Json,
            (false, true) => Mode::Quiet,
            (false, false) => Mode::Text,
        };
        let color = match self.no_color {
            true => Color::Never,
            false => Color::Auto,
        };
        let out = Out::new(mode, color);
        let dumb = home::environment("TERM").is_some_and(|terminal| terminal == "dumb");
        match self.plain_output || dumb {
            true => out.plain(),
            false => out,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Chat with a model that uses your servers' tools (default)
    #[command(after_help = examples::CHAT)]
    Chat(Box<chat::Chat>),
    /// Send one message to a model, let it use tools, and print the answer
    #[command(after_help = examples::RUN)]
    Run(Box<run::Run>),
    /// List, show, export, resume, fork and delete conversations
    #[command(after_help = examples::SESSION, alias = "sessions")]
    Session(Box<session::Session>),
    /// List and remove lasting decisions about tools
    #[command(after_help = examples::APPROVALS, alias = "approval")]
    Approvals(approvals::Approvals),
    /// Add, list, change and remove assistants: models with instructions and servers of their own
    #[command(after_help = examples::ASSISTANTS, alias = "assistant")]
    Assistants(Box<assistants::Assistants>),
    /// Show tokens and cost by model
    #[command(after_help = examples::USAGE)]
    Usage(usage::Usage),
    /// Show and choose the model
    #[command(after_help = examples::MODEL, alias = "models")]
    Model(model::Model),
    /// Show and change settings
    #[command(after_help = examples::CONFIG)]
    Config(config::Config),
    /// Add, list, change, test and remove servers, and log in to them
    #[command(after_help = examples::SERVERS, alias = "server")]
    Servers(servers::Servers),
    /// List the tools of servers, one line per tool
    #[command(after_help = examples::TOOLS)]
    Tools(tools::Tools),
    /// Show a tool, enable or disable it, and set whether models may call it
    #[command(after_help = examples::TOOL)]
    Tool(tool::Tool),
    /// Call a tool
    #[command(after_help = examples::CALL)]
    Call(call::Call),
    /// List resources
    #[command(after_help = examples::RESOURCES, alias = "resource")]
    Resources(resources::Resources),
    /// Read a resource
    #[command(after_help = examples::READ)]
    Read(resources::Read),
    /// List prompts
    #[command(after_help = examples::PROMPTS)]
    Prompts(prompts::Prompts),
    /// Get a prompt with its arguments filled in
    #[command(after_help = examples::PROMPT)]
    Prompt(prompts::Prompt),
    /// Show a server's tools as a provider's models will see them
    #[command(after_help = examples::SCHEMA)]
    Schema(schema::Schema),
    /// Import the servers of other programs
    #[command(after_help = examples::IMPORT)]
    Import(import::Import),
    /// Print servers as another program's file
    #[command(after_help = examples::EXPORT)]
    Export(export::Export),
    /// Diagnose problems with servers and suggest fixes
    #[command(after_help = examples::DOCTOR)]
    Doctor(doctor::Doctor),
    /// Print shell completions
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Completions),
    /// Print the manual page, or write those of all verbs
    #[command(after_help = examples::MAN)]
    Man(man::Man),
    /// List, verify and export the record of what the gateway's clients called
    #[command(after_help = examples::AUDIT)]
    Audit(audit::Audit),
    /// Make, list and revoke access tokens of `switchboard serve`
    #[command(after_help = examples::TOKENS, alias = "token")]
    Tokens(tokens::Tokens),
    /// List and change the users of `switchboard serve`
    #[command(after_help = examples::USERS, alias = "user")]
    Users(users::Users),
    /// Serve all servers as one, to any MCP client
    #[command(after_help = examples::GATEWAY)]
    Gateway(gateway::Gateway),
    /// Serve the web page and the API to this machine
    #[command(after_help = examples::SERVE)]
    Serve(Box<serve::Serve>),
    /// Copy everything to another file or PostgreSQL database, and check it
    #[command(after_help = examples::STORE)]
    Store(store::Store),
    /// Take a half-minute tour, without a key or a network
    #[command(after_help = examples::DEMO)]
    Demo(demo::Demo),
    /// Serve the demo tools over stdio, HTTP or SSE: a server to try clients with
    #[command(after_help = examples::DEMO_SERVER)]
    DemoServer(demo_server::DemoServer),
    /// Serve the demo model, which is not an AI, on every provider's wire
    #[command(after_help = examples::DEMO_MODEL)]
    DemoModel(demo_model::DemoModel),
}

/// Restores the terminal on drop, including after a panic.
struct Terminal;

impl Drop for Terminal {
    fn drop(&mut self) {
        crate::chat::restore();
    }
}

/// Runs the program with these arguments, the program's name first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.iter().all(|argument| argument != "--json")
        && let Some(language) = lang::choose(&home::environment, home::language)
    {
        lang::speak(language);
    }
    let parsed = lang::help(Cli::command()).try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &arguments).into(),
    };
    let out = cli.global.out();
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Other, "cannot start").caused_by(error))
        .and_then(|runtime| {
            let _terminal = Terminal;
            let ended = runtime.block_on(observed(cli, out));
            // A blocked read of standard input must not delay the exit.
            runtime.shutdown_background();
            ended
        });
    match ended {
        Ok(ended) => ended.into(),
        Err(failure) => {
            out.failure(&failure);
            failure.exit().into()
        }
    }
}

/// Runs with the logs, traces and metrics that were asked for.
#[cfg(feature = "telemetry")]
async fn observed(cli: Cli, out: Out) -> Result<processes::Ended, Failure> {
    let telemetry = crate::telemetry::Telemetry::start(&cli.global.telemetry)?;
    let ended = processes::watched(cli, out).await;
    telemetry.end().await;
    ended
}

#[cfg(not(feature = "telemetry"))]
async fn observed(cli: Cli, out: Out) -> Result<processes::Ended, Failure> {
    processes::watched(cli, out).await
}

async fn run(cli: Cli, out: Out) -> Result<Exit, Failure> {
    let global = &cli.global;
    let has_verb = |name: &str| Cli::command().find_subcommand(name).is_some();
    match cli.verb {
        None => chat::Chat::default().run(global, &out).await,
        Some(Verb::Chat(verb)) => verb.run(global, &out).await,
        Some(Verb::Run(verb)) => verb.run(global, &out).await,
        Some(Verb::Session(verb)) => verb.run(global, &out).await,
        Some(Verb::Approvals(verb)) => verb.run(global, &out).await,
        Some(Verb::Assistants(verb)) => verb.run(global, &out).await,
        Some(Verb::Usage(verb)) => verb.run(global, &out).await,
        Some(Verb::Model(verb)) => verb.run(global, &out).await,
        Some(Verb::Config(verb)) => verb.run(global, &out).await,
        Some(Verb::Servers(verb)) => verb.run(global, &out).await,
        Some(Verb::Tools(verb)) => verb.run(global, &out).await,
        Some(Verb::Tool(verb)) => verb.run(global, &out).await,
        Some(Verb::Call(verb)) => verb.run(global, &out).await,
        Some(Verb::Resources(verb)) => verb.run(global, &out).await,
        Some(Verb::Read(verb)) => verb.run(global, &out).await,
        Some(Verb::Prompts(verb)) => verb.run(global, &out).await,
        Some(Verb::Prompt(verb)) => verb.run(global, &out).await,
        Some(Verb::Schema(verb)) => verb.run(global, &out).await,
        Some(Verb::Import(verb)) => verb.run(global, &out).await,
        Some(Verb::Export(verb)) => verb.run(global, &out).await,
        Some(Verb::Doctor(verb)) => verb.run(global, &out).await,
        Some(Verb::Completions(verb)) => verb.run(Cli::command(), &out),
        Some(Verb::Man(verb)) => verb.run(lang::help(Cli::command()), &out),
        Some(Verb::Audit(verb)) => verb.run(global, &out).await,
        Some(Verb::Tokens(verb)) => verb.run(global, &out).await,
        Some(Verb::Users(verb)) => verb.run(global, &out).await,
        Some(Verb::Store(verb)) => verb.run(global, &out).await,
        Some(Verb::Gateway(verb)) => verb.run(global, &out).await,
        Some(Verb::Serve(verb)) => verb.run(global, &out).await,
        Some(Verb::Demo(verb)) => verb.run(has_verb, &out).await,
        Some(Verb::DemoServer(verb)) => verb.run(&out).await,
        Some(Verb::DemoModel(verb)) => verb.run(&out).await,
    }
}

/// Prints a parse error. Help and version go to standard output and are not failures.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        print(error);
        return Exit::Done;
    }
    if arguments.iter().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        let failure = Failure::new(Exit::Other, message).with_hint("See switchboard --help.");
        Out::new(Mode::Json, Color::Never).failure(&failure);
    } else {
        print(error);
    }
    Exit::Other
}

/// Prints what the parser says, in the user's language.
fn print(error: &clap::Error) {
    let Some(translated) = lang::parser(&error.render().to_string()) else {
        let _ = error.print();
        return;
    };
    let out = Out::new(Mode::Text, Color::Never);
    match error.use_stderr() {
        true => out.note(translated.trim_end()),
        false => out.say(translated.trim_end()),
    }
}
