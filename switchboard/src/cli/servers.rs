//! `switchboard servers`: stored servers.

mod add;
mod ask;
mod edit;
mod install;
mod list;
mod login;
mod outdated;
mod pick;
mod sandbox;
mod settings;
mod test;
mod update;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::chat::clean;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::install::remove_bundle;
use crate::servers::sandbox::remove_folder;
use crate::servers::{
    Host, NetworkOf, ServerLog, Switch, find, forget_unused, log_out, review, update,
};
use crate::store::{Change, Timestamp, Trust, UserId};

/// Stored servers.
#[derive(Args, Debug)]
pub(crate) struct Servers {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Add a server: NAME -- COMMAND…, or NAME URL
    Add(Box<add::Add>),
    /// Install a server from a registry, a package, a bundle or a server.json; it is shown first
    Install(Box<install::Install>),
    /// Update installed servers; what changes is shown first
    Update(Box<update::Update>),
    /// List installed servers of which the registry has another version
    Outdated(outdated::Outdated),
    /// List servers as they were last seen (default)
    #[command(visible_alias = "ls")]
    List,
    /// Show a server's configuration, without secrets
    Show(Named),
    /// Change a server
    Edit(Box<edit::Edit>),
    /// Remove a server with its tokens, log, rules, bundle and what it kept in its sandbox
    #[command(visible_alias = "rm")]
    Remove(Named),
    /// Enable a server; this also allows a project's server to start
    Enable(Named),
    /// Disable a server
    Disable(Named),
    /// Trust a server's tool annotations: in auto-read mode, its read-only tools run without asking
    Trust(Named),
    /// Stop trusting a server's tool annotations
    Untrust(Named),
    /// Show the sandbox that a server would probably work in, and why
    SuggestSandbox(sandbox::Suggest),
    /// Connect to servers and show what they offer
    Test(Box<test::Test>),
    /// Show what a server last wrote to standard error or logged, and why it could not be reached
    Logs(Logs),
    /// Log in to a remote server
    Login(login::Login),
    /// Log out of a remote server
    Logout(Named),
}

/// A stored server.
#[derive(Args, Debug)]
struct Named {
    /// The server's name
    name: String,
}

#[derive(Args, Debug)]
struct Logs {
    /// The server's name
    name: String,
    /// Number of lines
    #[arg(long, short = 'n', default_value_t = 200, value_name = "N")]
    lines: usize,
}

impl Servers {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        match self.verb.unwrap_or(Verb::List) {
            Verb::Add(verb) => verb.run(global, out).await,
            Verb::Install(verb) => verb.run(global, out).await,
            Verb::Update(verb) => verb.run(global, out).await,
            Verb::Outdated(verb) => verb.run(global, out).await,
            Verb::List => list::list(global, out).await,
            Verb::Show(named) => list::show(global, out, &named.name).await,
            Verb::Edit(verb) => verb.run(global, out).await,
            Verb::Remove(named) => remove(global, out, &named.name).await,
            Verb::Enable(named) => switch(global, out, &named.name, Switch::On).await,
            Verb::Disable(named) => switch(global, out, &named.name, Switch::Off).await,
            Verb::Trust(named) => trust(global, out, &named.name, Trust::Trusted).await,
            Verb::Untrust(named) => trust(global, out, &named.name, Trust::Allowed).await,
            Verb::SuggestSandbox(verb) => verb.run(global, out).await,
            Verb::Test(verb) => verb.run(global, out).await,
            Verb::Logs(verb) => logs(global, out, &verb).await,
            Verb::Login(verb) => verb.run(global, out).await,
            Verb::Logout(named) => login::log_out(global, out, &named.name).await,
        }
    }
}

async fn remove(global: &Global, out: &Out, name: &str) -> Result<Exit, Failure> {
    let (store, row) = find(global, name).await?;
    // A failed logout must not keep the server.
    let forgotten = log_out(&row, (Host::Allowed, NetworkOf::default())).await;
    let gone = Change::DeleteServer(UserId::local(), row.id.clone());
    store.commit(vec![gone]).await?;
    store.close().await?;
    let secrets = forget_unused(&row, None).await;
    let log = ServerLog::of(&row).remove();
    let folder = remove_folder(&row).and(remove_bundle(&row));
    out.result(&json!({ "removed": name }), format!("Removed {name}."));
    forgotten?;
    secrets?;
    log.map_err(|error| {
        Failure::new(Exit::Other, format!("the log of {name} cannot be removed")).caused_by(error)
    })?;
    folder.map_err(|error| {
        let text = format!("the folders that {name} had cannot be removed");
        Failure::new(Exit::Other, text).caused_by(error)
    })?;
    Ok(Exit::Done)
}

async fn switch(global: &Global, out: &Out, name: &str, switch: Switch) -> Result<Exit, Failure> {
    let (store, row) = find(global, name).await?;
    let changed = update(&*store, row, async |mut row| {
        row.is_active = switch == Switch::On;
        if row.is_active && row.trust == Trust::Pending {
            row.trust = Trust::Allowed;
        }
        row.updated_at = Timestamp::now();
        Ok::<_, Failure>((row, Vec::new()))
    });
    let changed = changed.await?;
    store.close().await?;
    let allowed = changed.before.trust != changed.row.trust;
    let text = match (switch, allowed) {
        (Switch::On, true) => format!("{name} is allowed to start, and enabled."),
        (Switch::On, false) => format!("{name} is enabled."),
        (Switch::Off, _) => format!("{name} is disabled."),
    };
    let review = match allowed {
        true => review(&changed.row),
        false => Vec::new(),
    };
    let lines = review
        .iter()
        .map(|(what, said)| format!("\n  {what}: {}", clean(said).replace('\n', " ")));
    let text = lines.fold(text, |text, line| text + &line);
    let mut value =
        json!({"server": name, "enabled": switch == Switch::On, "newly_allowed": allowed});
    if let (Some(members), Some((_, endpoint))) = (value.as_object_mut(), review.first()) {
        members.insert("endpoint".to_owned(), json!(endpoint));
    }
    out.result(&value, text);
    Ok(Exit::Done)
}

async fn trust(global: &Global, out: &Out, name: &str, trust: Trust) -> Result<Exit, Failure> {
    let (store, row) = find(global, name).await?;
    let changed = update(&*store, row, async |mut row| {
        if row.trust == Trust::Pending {
            let text = format!("{name} may not start yet");
            let hint =
                format!("Look at it with `switchboard servers show {name}`, then enable it.");
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        }
        row.trust = trust;
        row.updated_at = Timestamp::now();
        Ok((row, Vec::new()))
    });
    changed.await?;
    store.close().await?;
    let text = match trust {
        Trust::Trusted => format!(
            "{name} is trusted: in the mode auto-read, tools that it calls read-only run without \
             a question."
        ),
        _ => format!("{name} is not trusted: its tool annotations are not relied on."),
    };
    out.result(&json!({"server": name, "trust": trust}), text);
    Ok(Exit::Done)
}

async fn logs(global: &Global, out: &Out, verb: &Logs) -> Result<Exit, Failure> {
    let name = &verb.name;
    let read = |log: ServerLog| {
        log.tail(verb.lines).map_err(|error| {
            Failure::new(Exit::Other, format!("the log of {name} cannot be read")).caused_by(error)
        })
    };
    // One that is not stored has a log if it was used.
    let once = read(ServerLog::named(&UserId::local(), name))?;
    let tail = match &global.config {
        Some(_) => once,
        None => match find(global, name).await {
            Ok((store, row)) => {
                store.close().await?;
                read(ServerLog::of(&row))?
            }
            Err(unknown) => Some(once.ok_or(unknown)?),
        },
    };
    let text = match &tail {
        Some(lines) => lines.join("\n"),
        None => format!("{name} has no log: it was not started yet, or had nothing to say."),
    };
    out.result(
        &json!({"server": name, "lines": tail.unwrap_or_default()}),
        clean(&text),
    );
    Ok(Exit::Done)
}
