//! `switchboard tokens`: personal access tokens for programs, and the way in for a first owner.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::text::table_or;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::serve::by_hand;
use crate::store::{
    AccessToken, Change, LoginChange, Store, TeamRole, Timestamp, TokenScope, User, UserId,
};
use crate::token::check_name;

/// Personal access tokens: programs send them to `switchboard serve` as bearer tokens. Whoever can
/// open the database can make one for any user.
#[derive(Args, Debug)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// User, by id or address
    #[arg(long, value_name = "USER", default_value = "local", global = true)]
    user: String,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token and print it; it is not shown again
    Add {
        /// Its name
        name: String,
        /// What it may do at most: look, chat, or all that its user may
        #[arg(long, value_enum, value_name = "SCOPE", default_value = "chat")]
        scope: TokenScope,
        /// Days until it expires; 0 means never
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        #[arg(value_parser = clap::value_parser!(u64).range(0..=3660))]
        expires: u64,
        /// Make the user, if there is none, with this role
        #[arg(long, value_enum, value_name = "ROLE")]
        role: Option<TeamRole>,
    },
    /// List the tokens (default)
    #[command(visible_alias = "ls")]
    List,
    /// Revoke a token: it is refused from then on
    #[command(visible_aliases = ["rm", "remove"])]
    Revoke {
        /// Its name
        name: String,
    },
}

impl Tokens {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let users = store.users().await?;
        let found = find(&users, &self.user).cloned();
        match self.verb.unwrap_or(Verb::List) {
            Verb::Add {
                name,
                scope,
                expires,
                role,
            } => {
                check_name(&name).map_err(|why| {
                    let text = format!("a token cannot be called {name:?}: {why}");
                    Failure::new(Exit::Other, text)
                })?;
                let user = match (found, role) {
                    (Some(user), _) => user,
                    (None, Some(role)) => new_user(&*store, &self.user, role).await?,
                    (None, None) => return Err(unknown(&self.user)),
                };
                let there = store.access_tokens(&user.id).await?;
                if there.iter().any(|token| token.name == name) {
                    let text = format!("there is a token {name:?} already");
                    let hint = format!("`switchboard tokens revoke {name}` revokes it.");
                    return Err(Failure::new(Exit::Other, text).with_hint(hint));
                }
                let lasts = (expires > 0).then(|| Duration::from_secs(expires * 86_400));
                let made = AccessToken::make(user.id.clone(), &name, scope, lasts);
                let (secret, row) = made.map_err(|error| {
                    Failure::new(Exit::Other, "no token could be made").caused_by(error)
                })?;
                let put = LoginChange::PutToken(row.clone());
                store.commit(vec![Change::Login(put)]).await?;
                let made = format!("{name} of {}, to {}", user.id, scope.as_str());
                by_hand(&*store, "tokens add", &made).await;
                let mut value = shown(&row);
                if let Some(members) = value.as_object_mut() {
                    members.insert("token".to_owned(), Value::from(&*secret));
                }
                out.result(&value, &secret);
                out.say("Keep it: it is not shown again. Programs send it as a bearer token.");
                if scope.role() > user.role {
                    let role = user.role.as_str();
                    out.say(format!("{} is {role}, and so is the token.", user.id));
                }
            }
            Verb::List => {
                let user = found.ok_or_else(|| unknown(&self.user))?;
                list(&store.access_tokens(&user.id).await?, out);
            }
            Verb::Revoke { name } => {
                let user = found.ok_or_else(|| unknown(&self.user))?;
                let tokens = store.access_tokens(&user.id).await?;
                let Some(token) = tokens.into_iter().find(|token| token.name == name) else {
                    let failure = Failure::new(Exit::Other, format!("there is no token {name:?}"));
                    return Err(failure.with_hint("`switchboard tokens` lists them."));
                };
                let revoked = format!("{name} of {}", user.id);
                let gone = LoginChange::DeleteToken(user.id, token.id);
                store.commit(vec![Change::Login(gone)]).await?;
                by_hand(&*store, "tokens revoke", &revoked).await;
                out.result(&json!({"revoked": name}), format!("Revoked {name}."));
            }
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

/// The user with this id or address.
pub(super) fn find<'u>(users: &'u [User], name: &str) -> Option<&'u User> {
    let by_id = users.iter().find(|user| user.id.as_str() == name);
    by_id.or_else(|| {
        let same = |email: &String| email.eq_ignore_ascii_case(name);
        users
            .iter()
            .find(|user| user.email.as_ref().is_some_and(same))
    })
}

pub(super) fn unknown(name: &str) -> Failure {
    let failure = Failure::new(Exit::Other, format!("there is no user {name:?}"));
    failure.with_hint("`switchboard users` lists them; `--role ROLE` makes one with the token.")
}

/// A user of this name, who may log in later by their address if the name is one.
async fn new_user(store: &dyn Store, name: &str, role: TeamRole) -> Result<User, Failure> {
    let id = match name.split_once('@') {
        Some((first, _)) => first,
        None => name,
    };
    check_name(id).map_err(|why| {
        Failure::new(
            Exit::Other,
            format!("a user cannot be called {id:?}: {why}"),
        )
    })?;
    let mut user = User::new(UserId::new(id), name);
    user.role = role;
    user.email = name.contains('@').then(|| name.to_lowercase());
    let taken = store.users().await?.iter().any(|other| other.id == user.id);
    if taken {
        return Err(Failure::new(
            Exit::Other,
            format!("there is a user {id:?} already"),
        ));
    }
    store.commit(vec![Change::PutUser(user.clone())]).await?;
    Ok(user)
}

fn shown(token: &AccessToken) -> Value {
    json!({
        "name": token.name,
        "scope": token.scope,
        "created": token.created_at.rfc3339(),
        "expires": token.expires_at.map(Timestamp::rfc3339),
        "used": token.used_at.map(Timestamp::rfc3339),
    })
}

fn list(tokens: &[AccessToken], out: &Out) {
    let mut rows = Vec::new();
    if !tokens.is_empty() {
        let heads = ["NAME", "SCOPE", "CREATED", "EXPIRES", "LAST USED"];
        rows.push(heads.map(str::to_owned).to_vec());
    }
    let or = |moment: Option<Timestamp>, none: &str| match moment {
        Some(moment) => moment.to_string(),
        None => none.to_owned(),
    };
    rows.extend(tokens.iter().map(|token| {
        vec![
            token.name.clone(),
            token.scope.as_str().to_owned(),
            token.created_at.to_string(),
            or(token.expires_at, "never"),
            or(token.used_at, "never"),
        ]
    }));
    let values: Vec<Value> = tokens.iter().map(shown).collect();
    let none = "There are none: `switchboard tokens add NAME` makes one.";
    out.result(&json!({ "tokens": values }), table_or(none, rows));
}
