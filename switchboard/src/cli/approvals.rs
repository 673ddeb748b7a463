//! `switchboard approvals`: lasting decisions.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::Global;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::gateway::approvals::{Question, Unanswerable, answer, waiting};
use crate::gateway::records::Records;
use crate::store::{Change, Decision, Rule, RuleId, RuleScope, Store, UserId};

/// Lasting decisions about tools.
#[derive(Args, Debug)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List decisions (default)
    #[command(visible_alias = "ls")]
    List,
    /// List calls of the gateway's clients that wait for an answer
    Pending,
    /// Let a waiting call run, once
    Allow {
        /// The call's id
        id: String,
    },
    /// Do not let a waiting call run
    Deny {
        /// The call's id
        id: String,
    },
    /// Remove decisions, so that the tools ask again
    #[command(visible_alias = "rm", alias = "remove")]
    Forget {
        /// The decisions' ids
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// Remove all decisions
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

impl Approvals {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let user = UserId::local();
        let rules = store.rules(&user).await?;
        match self.verb.unwrap_or(Verb::List) {
            Verb::List => {
                let text = match rules.is_empty() {
                    true => "Nothing was decided for good.".to_owned(),
                    false => rules.iter().map(line).collect::<Vec<_>>().join("\n"),
                };
                out.result(&json!({ "approvals": rules }), text);
            }
            Verb::Pending => {
                let questions = waiting(&Records::read(&*store).await?);
                let text = match questions.is_empty() {
                    true => "No call waits.".to_owned(),
                    false => questions
                        .iter()
                        .map(question)
                        .collect::<Vec<_>>()
                        .join("\n"),
                };
                let values = questions
                    .iter()
                    .map(|(id, it)| json!({"id": id, "question": it}));
                out.result(&json!({ "pending": values.collect::<Vec<_>>() }), text);
            }
            Verb::Allow { id } => settle(&*store, &id, true, out).await?,
            Verb::Deny { id } => settle(&*store, &id, false, out).await?,
            Verb::Forget { ids, all } => {
                let known = |id: &String| rules.iter().any(|rule| rule.id.as_str() == id);
                if let Some(id) = ids.iter().find(|id| !known(id)) {
                    let failure = Failure::new(Exit::Other, format!("there is no decision {id:?}"));
                    return Err(failure.with_hint("`switchboard approvals list` shows them."));
                }
                let forgotten: Vec<RuleId> = match all {
                    true => rules.into_iter().map(|rule| rule.id).collect(),
                    false => ids.into_iter().map(RuleId::new).collect(),
                };
                let changes = forgotten.iter().cloned();
                let changes = changes
                    .map(|id| Change::DeleteRule(user.clone(), id))
                    .collect();
                store.commit(changes).await?;
                let text = format!("Forgot {}.", forgotten.len());
                out.result(&json!({ "forgotten": forgotten }), text);
            }
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

async fn settle(store: &dyn Store, id: &str, allow: bool, out: &Out) -> Result<(), Failure> {
    let records = Records::read(store).await?;
    let answered = answer(store, &records, id, allow).await?;
    answered.map_err(|why| {
        let text = match why {
            Unanswerable::Unknown => format!("no call {id:?} waits any longer"),
            Unanswerable::Answered => format!("the call {id:?} was answered already"),
        };
        Failure::new(Exit::Other, text).with_hint("`switchboard approvals pending` lists them.")
    })?;
    let text = if allow {
        "It runs."
    } else {
        "It does not run."
    };
    out.result(&json!({"id": id, "allow": allow}), text);
    Ok(())
}

fn question((id, question): (&String, &Question)) -> String {
    let client = question.client.as_deref().unwrap_or_default();
    let who = match question.caller.is_empty() {
        true => client.to_owned(),
        false => format!("{} ({client})", question.caller),
    };
    let text = format!(
        "{id}  {who}  {}/{}  {}",
        question.server, question.tool, question.arguments
    );
    untrusted::line(&text).into_owned()
}

fn line(rule: &Rule) -> String {
    let decision = match rule.decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    let what = match rule.scope {
        RuleScope::ServerReadOnly => format!("read-only tools of {}", rule.server),
        _ => format!("{} · {}", rule.server, rule.tool),
    };
    let place = match rule.conversation_id {
        Some(_) => " (in one conversation)",
        None => "",
    };
    let what = untrusted::line(&what);
    format!("{}  {decision}  {what}{place}", rule.id)
}
