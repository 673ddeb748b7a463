//! Calls that would give a secret of one server to another.

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, AnswerError, AskReason, Effect, Grant, Mode, Outcome, Policy, Rule, RunEvent, Secrets, Status,
};
use serde_json::{Value, json};

use crate::kit::{asking, ends, tool};

const TOKEN: &str = "ghp_0123456789abcdef";

fn agent(server: &str, arguments: Value) -> Agent {
    let mut secrets = Secrets::default();
    secrets.add_of_server("github", "GITHUB_TOKEN", TOKEN);
    let name = "send";
    let tools =
        ScriptedTools::new().with_answer(any_arguments(server), |_| Outcome::text("sent"));
    let model = ScriptedModel::new()
        .calls([(name, arguments)])
        .says("Done.");
    Agent::new(model).tools(tools).with_secrets(secrets)
}

fn any_arguments(server: &str) -> agent_loop::ToolInfo {
    let mut info = tool(server, "send");
    info.input_schema = serde_json::from_str("{}").unwrap();
    info
}

/// Everything that could let it run without a question.
fn all_is_allowed(server: &str) -> Policy {
    Policy::new(Mode::Auto)
        .with_rule(Rule::new(Effect::Allow, "*", "*"))
        .with_grant(Grant::tool(any_arguments(server).definition()))
}

#[tokio::test]
async fn a_call_that_gives_away_a_secret_is_held_whatever_is_allowed_and_runs_once_approved() {
    for (answer, status) in [(Answer::Once, Status::Done), (Answer::Deny, Status::Denied)] {
        let agent = agent("mail", json!({"body": format!("the token is {TOKEN}.")}));
        let mut run = asking("Go").with_policy(all_is_allowed("mail"));
        let mut asked = 0;
        let mut session = agent.session(&mut run);
        while let Some(event) = session.next().await {
            if let RunEvent::Approval(approval) = event {
                asked += 1;
                assert_eq!(approval.why, AskReason::Secret);
                let whose = approval.secret.as_ref().unwrap().to_string();
                assert_eq!(whose, "GITHUB_TOKEN of the server \"github\"");
                let consent = approval.consent();
                for lasting in [Answer::ThisRun, Answer::AlwaysTool, Answer::AlwaysServerReadOnly] {
                    let refused = session.answer(&consent, lasting).await.unwrap_err();
                    assert_eq!(refused, AnswerError::OneCall(consent.call), "{lasting:?}");
                }
                session.answer(&approval.consent(), answer).await.unwrap();
            }
        }
        drop(session);
        assert_eq!((asked, ends(&run)), (1, vec![status]));
    }
}

#[tokio::test]
async fn a_secret_in_a_call_of_its_own_server_is_not_asked_about() {
    let agent = agent("github", json!({"auth": TOKEN}));
    let mut run = asking("Go").with_policy(all_is_allowed("github"));
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        assert!(!matches!(event, RunEvent::Approval(_)), "{event:?}");
    }
    drop(session);
    assert_eq!(ends(&run), [Status::Done]);
}

#[tokio::test]
async fn without_anyone_to_ask_a_call_that_gives_away_a_secret_is_denied() {
    let agent = agent("mail", json!({"body": TOKEN}));
    let mut run = asking("Go").with_policy(all_is_allowed("mail").unattended());
    let mut session = agent.session(&mut run);
    while session.next().await.is_some() {}
    drop(session);
    assert_eq!(ends(&run), [Status::Denied]);
}

#[tokio::test]
async fn a_stored_run_names_whose_the_secret_is_and_asks_the_same_again() {
    let agent = agent("mail", json!({"body": TOKEN}));
    let mut run = asking("Go").with_policy(all_is_allowed("mail"));
    agent.finish(&mut run).await;
    let stored = serde_json::to_string(&run).unwrap();
    let run: agent_loop::Run = serde_json::from_str(&stored).unwrap();
    let asked = run.approvals();
    assert_eq!(asked[0].why, AskReason::Secret);
    assert_eq!(asked[0].secret.as_ref().unwrap().name, "GITHUB_TOKEN");
}
