//! `switchboard approvals`: lasting decisions.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::Global;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::store::{Change, Decision, Rule, RuleId, RuleScope, UserId};

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
    /// Remove decisions, so that the tools ask again
    #[command(visible_alias = "rm", alias = "remove")]
    Forget {
        /// Which, by id
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// All of them
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
