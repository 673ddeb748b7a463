//! `switchboard servers login` and `logout`.

use clap::Args;
use serde_json::json;

use crate::chat::{Interrupts, clean};
use crate::cli::Global;
use crate::cli::browser;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::doctor::diagnose;
use crate::servers::{self, Host, NetworkOf, find, reach};
use crate::store::{Change, ServerKind, TokenRef};

#[derive(Args, Debug)]
pub(super) struct Login {
    /// The server's name
    name: String,
    /// Print the page's address and open no browser
    #[arg(long)]
    no_browser: bool,
}

impl Login {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let name = self.name.as_str();
        let (store, row) = find(global, name).await?;
        if row.kind == ServerKind::Stdio {
            let text = format!("server {name:?} is a program: it has no login");
            let hint = "Programs get their keys by `switchboard servers edit NAME -e KEY=…`.";
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        }
        let config = reach(&row, Host::Allowed)
            .await
            .map_err(|finding| finding.failure(name))?
            .enabled();
        let (reported, has_browser) = (*out, !self.no_browser && out.is_interactive());
        let show = move |login: &mcp_auth::LoginPrompt| {
            let who = clean(&login.issuer).into_owned();
            reported.remark(format!("Log in at {who}:\n  {}", login.url));
            if has_browser {
                // The URL can be opened on another machine.
                let _ = browser::open(&login.url);
            }
            Ok(())
        };
        let reached = (config.clone(), NetworkOf::default());
        let mut interrupts = Interrupts::new();
        let done = tokio::select! {
            done = servers::log_in(&row.user_id, reached, servers::on_this_machine, show) => done,
            () = interrupts.next() => {
                return Err(Failure::new(Exit::Cancelled, "cancelled"));
            }
        };
        let issuer = done.map_err(|error| diagnose(&config, &error).failure(name))?;
        if let Some(issuer) = &issuer {
            let token = TokenRef::new(issuer, row.id.clone(), "tokens");
            store.commit(vec![Change::PutToken(token)]).await?;
        }
        store.close().await?;
        let text = match &issuer {
            Some(issuer) => format!("Logged in to {name} by {issuer}."),
            None => format!("{name} needs no login, or has one already."),
        };
        out.result(&json!({"server": name, "issuer": issuer}), clean(&text));
        Ok(Exit::Done)
    }
}

pub(super) async fn log_out(global: &Global, out: &Out, name: &str) -> Result<Exit, Failure> {
    let (store, row) = find(global, name).await?;
    servers::log_out(&row, (Host::Allowed, NetworkOf::default())).await?;
    store.commit(vec![Change::DeleteTokens(row.id)]).await?;
    store.close().await?;
    out.result(
        &json!({ "logged_out": name }),
        format!("Forgot the login to {name}."),
    );
    Ok(Exit::Done)
}
