//! `switchboard users`: who may use a team's server, and as what.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::text::table_or;
use crate::cli::tokens::{find, unknown};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::serve::by_hand;
use crate::store::{Change, TeamRole, Timestamp, User, UserEdit, UserId};

/// The users of `switchboard serve`.
#[derive(Args, Debug)]
pub(crate) struct Users {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the users (default)
    #[command(visible_alias = "ls")]
    List,
    /// Change a user
    Set {
        /// Their id or address
        user: String,
        /// What they may do
        #[arg(long, value_enum, value_name = "ROLE")]
        role: Option<TeamRole>,
        /// Their address: whoever logs in with it, verified by the provider, is this user
        #[arg(long, value_name = "EMAIL")]
        email: Option<String>,
        /// Let their servers use the machine: its programs, variables, keyring and files
        #[arg(long, value_name = "BOOL")]
        host: Option<bool>,
        /// Block the user and end their sessions
        #[arg(long, value_name = "BOOL")]
        block: Option<bool>,
    },
}

impl Users {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let users = store.users().await?;
        match self.verb.unwrap_or(Verb::List) {
            Verb::List => list(&users, out),
            Verb::Set {
                user,
                role,
                email,
                host,
                block,
            } => {
                let id = find(&users, &user).map(|row| row.id.clone());
                let id = id.ok_or_else(|| unknown(&user))?;
                let edit = UserEdit {
                    role,
                    email: email.map(|email| email.to_lowercase()),
                    is_blocked: block,
                    uses_host: host,
                };
                let decided = format!("{id}: {}", edit.text());
                store
                    .commit(vec![Change::EditUser(id.clone(), edit)])
                    .await?;
                by_hand(&*store, "users set", &decided).await;
                let users = store.users().await?;
                let row = find(&users, id.as_str()).ok_or_else(|| unknown(&user))?;
                out.result(&shown(row), format!("Changed {id}."));
            }
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

fn shown(user: &User) -> Value {
    json!({
        "id": user.id, "name": user.name, "email": user.email, "role": user.role,
        "host": user.uses_host, "blocked": user.is_blocked,
        "seen": user.seen_at.map(Timestamp::rfc3339),
    })
}

fn list(users: &[User], out: &Out) {
    let heads = ["ID", "NAME", "EMAIL", "ROLE", "LAST LOGIN", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let people = users.iter().filter(|user| user.id != UserId::team());
    let mut values = Vec::new();
    for user in people {
        values.push(shown(user));
        let seen = user
            .seen_at
            .map_or_else(|| "never".to_owned(), |at| at.to_string());
        let more = match (user.is_blocked, user.uses_host) {
            (true, _) => "blocked",
            (false, true) => "may use the machine",
            (false, false) => "",
        };
        rows.push(vec![
            user.id.to_string(),
            user.name.clone(),
            user.email.clone().unwrap_or_default(),
            user.role.as_str().to_owned(),
            seen,
            more.to_owned(),
        ]);
    }
    out.result(
        &json!({ "users": values }),
        table_or("There are none.", rows),
    );
}
