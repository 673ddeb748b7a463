//! Approvals: asked once, remembered as far as the answer goes, bound to the definition.

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, AnswerError, AskReason, CallNumber, Consent, Decision, Deferral, Effect, Grant,
    Mode, Outcome, Policy, Reason, Rule, Run, RunEvent, Status, ToolInfo, Verdict,
};
use mcp_jsonrpc::model::ToolAnnotations;
use provider_adapters::ToolChoice;
use serde_json::json;

use crate::kit::{asking, drive, ends, last_words, object, results, tool};

fn reads(server: &str, name: &str) -> ToolInfo {
    tool(server, name).read_only()
}

#[track_caller]
fn check(policy: &Policy, tool: &ToolInfo, want: &str) {
    let verdict = match policy.judge(tool) {
        Verdict::Allow => "allow",
        Verdict::Ask(AskReason::Changed) => "changed",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
        _ => "?",
    };
    assert_eq!(verdict, want, "{policy:?} {tool:?}");
}

#[test]
fn modes_judge_by_what_a_trusted_server_says() {
    let (read, write) = (reads("s", "read"), tool("s", "write"));
    let claims = tool("s", "claims").with_annotations({
        let mut hints = ToolAnnotations::default();
        hints.read_only_hint = Some(true);
        hints
    });
    for (mode, wants) in [
        (Mode::Ask, ["ask", "ask", "ask"]),
        (Mode::AutoRead, ["allow", "ask", "ask"]),
        (Mode::Auto, ["allow", "allow", "allow"]),
        (Mode::Plan, ["deny", "deny", "deny"]),
    ] {
        let policy = Policy::new(mode);
        for (tool, want) in [&read, &write, &claims].into_iter().zip(wants) {
            check(&policy, tool, want);
        }
        let alone = policy.unattended();
        for (tool, want) in [&read, &write, &claims].into_iter().zip(wants) {
            check(&alone, tool, if want == "ask" { "deny" } else { want });
        }
    }
}

/// One engine; deny wins over everything, a rule that asks over one that allows.
#[test]
fn deny_always_wins() {
    let policy = Policy::new(Mode::Auto)
        .with_rule(Rule::new(Effect::Allow, "*", "*"))
        .with_rule(Rule::new(Effect::Ask, "s", "write*"))
        .with_rule(Rule::new(Effect::Deny, "s", "*_all"));
    check(&policy, &tool("s", "write_all"), "deny");
    check(&policy, &tool("s", "write"), "ask");
    check(&policy, &tool("s", "read"), "allow");
    check(&policy, &tool("t", "write_all"), "allow");
}

#[test]
fn a_changed_definition_is_asked_for_whatever_the_mode() {
    let then = tool("s", "read").definition();
    let changed = tool("s", "read").with_fingerprint("another");
    let policy = Policy::new(Mode::Auto).with_pin(then.clone());
    check(&policy, &changed, "changed");
    let rule = Rule::new(Effect::Allow, "s", "read");
    let policy = Policy::new(Mode::Ask).with_rule(rule).with_pin(then);
    check(&policy, &changed, "changed");
}

/// What a person is shown of a call that waits.
fn shown(run: &Run, number: CallNumber) -> Consent {
    let mut waiting = run.approvals().into_iter();
    waiting
        .find(|it| it.record.number == number)
        .unwrap()
        .consent()
}

/// Drives a run and answers every approval in the order of `answers`; how many were asked for.
async fn answering(agent: &Agent, run: &mut Run, answers: &[Answer]) -> (usize, Vec<RunEvent>) {
    let (mut asked, mut events) = (0, Vec::new());
    let mut session = agent.session(run);
    while let Some(event) = session.next().await {
        if let RunEvent::Waiting { numbers } = &event {
            let shown = shown(session.run(), numbers[0]);
            match session.answer(&shown, answers[asked]).await {
                // It may change something: approved for once.
                Err(AnswerError::NotReadOnly(_)) => {
                    session.answer(&shown, Answer::Once).await.unwrap()
                }
                answered => answered.unwrap(),
            }
            asked += 1;
        }
        events.push(event);
    }
    (asked, events)
}

fn two_rounds(first: &str, second: &str) -> ScriptedModel {
    ScriptedModel::new()
        .calls([(first, json!({"n": 1}))])
        .calls([(second, json!({"n": 2}))])
        .says("Done.")
}

fn box_of_three() -> ScriptedTools {
    ScriptedTools::new()
        .with_answer(tool("s", "write"), |_| Outcome::text("written"))
        .with_answer(reads("s", "read"), |_| Outcome::text("read"))
        .with_answer(reads("s", "list"), |_| Outcome::text("listed"))
}

#[tokio::test]
async fn an_answer_goes_as_far_as_it_says() {
    for (answer, first, second, asked) in [
        (Answer::Once, "write", "write", 2),
        (Answer::ThisRun, "write", "write", 1),
        (Answer::AlwaysTool, "write", "write", 1),
        (Answer::AlwaysTool, "write", "read", 2),
        (Answer::AlwaysServerReadOnly, "read", "list", 1),
        (Answer::AlwaysServerReadOnly, "read", "write", 2),
        (Answer::Deny, "write", "write", 2),
        (Answer::AlwaysDeny, "write", "write", 1),
    ] {
        let agent = Agent::new(two_rounds(first, second)).tools(box_of_three());
        let mut run = asking("Go");
        let (count, _) = answering(&agent, &mut run, &[answer, answer]).await;
        assert_eq!(count, asked, "{answer:?} {first} {second}");
        assert_eq!(run.reason(), Some(&Reason::Finished));
    }
}

#[tokio::test]
async fn a_lasting_answer_is_reported_and_holds_in_the_next_run_until_the_tool_changes() {
    let tools = box_of_three();
    let agent = Agent::new(two_rounds("write", "write")).tools(tools.clone());
    let mut run = asking("Go");
    let (_, events) = answering(&agent, &mut run, &[Answer::AlwaysTool]).await;
    let granted = |event: &RunEvent| match event {
        RunEvent::Granted(grant) => Some(grant.clone()),
        _ => None,
    };
    let grant: Grant = events.iter().find_map(granted).unwrap();

    let policy = || Policy::default().with_grant(grant.clone());
    let agent = Agent::new(two_rounds("write", "write")).tools(tools.clone());
    let mut run = asking("Go").with_policy(policy());
    assert_eq!(answering(&agent, &mut run, &[]).await.0, 0);

    tools.replace([tool("s", "write").with_fingerprint("2")]);
    let agent = Agent::new(two_rounds("write", "write")).tools(tools);
    let mut run = asking("Go").with_policy(policy());
    let answers = [Answer::AlwaysTool];
    assert_eq!(answering(&agent, &mut run, &answers).await.0, 1);
}

#[tokio::test]
async fn a_tool_that_changes_after_its_approval_is_asked_for_again() {
    let tools = box_of_three();
    let agent = Agent::new(two_rounds("write", "write")).tools(tools.clone());
    let mut run = asking("Go");
    let mut session = agent.session(&mut run);
    let mut whys = Vec::new();
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = event {
            whys.push(approval.why);
            if whys.len() == 1 {
                session
                    .answer(&approval.consent(), Answer::Once)
                    .await
                    .unwrap();
                tools.replace([tool("s", "write").with_fingerprint("2")]);
            } else {
                break;
            }
        }
    }
    drop(session);
    assert_eq!(whys, [AskReason::Mode, AskReason::Changed]);
    assert!(tools.calls().is_empty());
}

#[tokio::test]
async fn edited_arguments_are_checked_used_and_reported() {
    let tools = box_of_three();
    let model = ScriptedModel::new()
        .calls([("write", json!({"n": 1}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = asking("Go");
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = event {
            let shown = approval.consent();
            let wrong = Decision::from(Answer::Once).with_arguments(object(&json!({"n": "x"})));
            assert!(session.answer(&shown, wrong).await.is_err());
            let right = Decision::from(Answer::Once).with_arguments(object(&json!({"n": 7})));
            session.answer(&shown, right).await.unwrap();
        }
    }
    drop(session);
    assert_eq!(tools.calls()[0].arguments.get(), r#"{"n":7}"#);
    assert!(results(&run)[0].contains(r#"{"n":7}"#));
    assert_eq!(run.records()[0].arguments.text(), r#"{"n":7}"#);
}

#[tokio::test]
async fn a_run_that_waits_for_approval_is_not_cancelled_by_finish() {
    let agent = Agent::new(two_rounds("write", "write")).tools(box_of_three());
    let mut run = asking("Go");
    assert_eq!(agent.finish(&mut run).await, None);
    assert_eq!(run.approvals().len(), 1);
    assert_eq!(run.reason(), None);
}

#[tokio::test]
async fn an_unattended_denial_is_reported_to_the_model() {
    let agent = Agent::new(two_rounds("write", "write")).tools(box_of_three());
    let mut run = asking("Go").with_policy(Policy::default().unattended());
    drive(&agent, &mut run).await;
    assert!(results(&run)[0].contains("needs approval"));
    assert_eq!(ends(&run), [Status::Denied, Status::Denied]);
    assert_eq!(run.reason(), Some(&Reason::Finished));
}

#[tokio::test]
async fn plan_mode_offers_no_tools_and_runs_none() {
    let model = two_rounds("write", "write");
    let agent = Agent::new(model.clone()).tools(box_of_three());
    let mut run = asking("Go").with_policy(Policy::new(Mode::Plan));
    drive(&agent, &mut run).await;
    assert_eq!(model.requests()[0].choice, ToolChoice::None);
    assert!(results(&run)[0].contains("plan mode"));
    assert_eq!(last_words(&run), "Done.");
}

#[tokio::test]
async fn an_approval_survives_the_process_and_is_asked_for_once() {
    let tools = box_of_three();
    let agent = Agent::new(two_rounds("write", "read")).tools(tools.clone());
    let mut run = asking("Go");
    drive(&agent, &mut run).await;
    let stored = serde_json::to_string(&run).unwrap();
    drop(run);

    let mut run: Run = serde_json::from_str(&stored).unwrap();
    let first = shown(&run, 1.into());
    assert_eq!(run.approvals().len(), 1);
    let mut session = agent.session(&mut run);
    // Before the first event: the answer waits until the tools are known.
    session.answer(&first, Answer::ThisRun).await.unwrap();
    let mut asked = 0;
    while let Some(event) = session.next().await {
        if let RunEvent::Waiting { numbers } = event {
            asked += 1;
            assert_eq!(numbers, [2.into()]);
            let second = shown(session.run(), numbers[0]);
            session.answer(&second, Answer::Once).await.unwrap();
        }
    }
    drop(session);
    assert_eq!(asked, 1);
    assert_eq!(tools.calls().len(), 2);
    assert_eq!(last_words(&run), "Done.");
}

#[tokio::test]
async fn an_answer_to_an_earlier_definition_is_refused_and_what_waits_now_is_shown() {
    let tools = box_of_three();
    let agent = Agent::new(two_rounds("write", "write")).tools(tools.clone());
    let mut run = asking("Go");
    drive(&agent, &mut run).await;
    let seen = run.approvals().remove(0);

    tools.replace([tool("s", "write").with_fingerprint("2")]);
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if matches!(event, RunEvent::Waiting { .. }) {
            break;
        }
    }
    for answer in [Answer::Once, Answer::AlwaysTool, Answer::Deny] {
        match session.answer(&seen.consent(), answer).await {
            Err(AnswerError::Superseded(now)) => {
                assert_eq!(now.why, AskReason::Changed);
                assert_eq!(now.definition.fingerprint, "2");
                assert_ne!(now.digest, seen.digest);
            }
            other => panic!("{other:?}"),
        }
    }
    let now = session.run().approvals().remove(0);
    session.answer(&now.consent(), Answer::Deny).await.unwrap();
    drop(session);
    assert!(tools.calls().is_empty());
    assert_eq!(ends(&run)[0], Status::Denied);
}

#[tokio::test]
async fn a_yes_for_read_only_tools_covers_those_that_were_shown_and_no_later_one() {
    let tools = box_of_three();
    let agent = Agent::new(two_rounds("read", "list")).tools(tools.clone());
    let mut run = asking("Go");
    let mut asked = Vec::new();
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = event {
            asked.push(approval.record.tool_name.clone());
            if asked.len() == 1 {
                let shown: Vec<&str> = approval
                    .read_only_tools
                    .keys()
                    .map(String::as_str)
                    .collect();
                assert_eq!(shown, ["list", "read"]);
                session
                    .answer(&approval.consent(), Answer::AlwaysServerReadOnly)
                    .await
                    .unwrap();
                // Added and changed after the answer: both claim to change nothing.
                tools.replace([
                    reads("s", "read"),
                    reads("s", "list").with_fingerprint("2"),
                    reads("s", "wipe"),
                ]);
            } else {
                session
                    .answer(&approval.consent(), Answer::Deny)
                    .await
                    .unwrap();
            }
        }
    }
    drop(session);
    // The call of `read` had its answer; what was added or changed since is asked for.
    assert_eq!(asked, ["read", "list"]);
    assert_eq!(tools.calls().len(), 1);

    let policy = run.policy().clone();
    check(&policy, &reads("s", "read"), "allow");
    check(&policy, &reads("s", "wipe"), "ask");
    let changed = reads("s", "list").with_fingerprint("2");
    check(&policy, &changed, "changed");
}

#[test]
fn a_yes_ends_when_the_servers_endpoint_is_another_one() {
    let one = tool("s", "write").with_server_identity("npx files");
    let other = tool("s", "write").with_server_identity("npx evil");
    let policy = Policy::new(Mode::Ask).with_grant(Grant::tool(one.definition()));
    check(&policy, &one, "allow");
    check(&policy, &other, "ask");
}

#[test]
fn a_tool_that_is_not_what_was_approved_is_asked_for_in_every_mode() {
    let then = tool("s", "write");
    let policy = Policy::new(Mode::Auto).with_pin(then.definition());
    check(&policy, &then, "allow");
    check(&policy, &then.clone().with_fingerprint("2"), "changed");
    check(&policy, &then.with_server_identity("other"), "changed");
}

#[test]
fn a_hint_counts_only_from_a_trusted_server_and_destructive_wins() {
    let hints = |destructive| {
        let mut hints = ToolAnnotations::default();
        hints.read_only_hint = Some(true);
        hints.destructive_hint = destructive;
        hints
    };
    let policy = Policy::new(Mode::AutoRead);
    let claims = tool("s", "look").with_annotations(hints(None));
    check(&policy, &claims, "ask");
    check(&policy, &claims.with_trust(true), "allow");
    let both = tool("s", "look").with_annotations(hints(Some(true)));
    check(&policy, &both.with_trust(true), "ask");
}

#[test]
fn a_lasting_no_names_one_tool_whatever_its_name_is() {
    let policy = Policy::new(Mode::Auto).with_rule(Rule::new(
        Effect::Deny,
        agent_loop::Pattern::exact("*"),
        agent_loop::Pattern::exact("*"),
    ));
    check(&policy, &tool("*", "*"), "deny");
    check(&policy, &tool("s", "write"), "allow");
}

#[tokio::test]
async fn many_tools_are_searched_without_a_question_and_the_tool_behind_is_asked_for() {
    let tools = box_of_three();
    let model = ScriptedModel::new()
        .calls([("tool_search", json!({"query": "write"}))])
        .calls([("tool_call", json!({"name": "write", "arguments": {"n": 1}}))])
        .calls([("tool_call", json!({"name": "write", "arguments": {"n": 2}}))])
        .says("Done.");
    let agent = Agent::new(model)
        .tools(tools.clone())
        .with_deferral(Deferral::default().with_tools(2));
    let mut run = asking("Go").with_policy(Policy::new(Mode::Ask));
    let mut asked = Vec::new();
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = event {
            asked.push(format!(
                "{} {} {}",
                approval.record.server_name,
                approval.record.tool_name,
                approval.record.arguments.text()
            ));
            let answer = Answer::AlwaysTool;
            session.answer(&approval.consent(), answer).await.unwrap();
        }
    }
    drop(session);
    assert_eq!(asked, [r#"s write {"n":1}"#], "granted as itself");
    assert_eq!(tools.calls().len(), 2);
    assert_eq!(last_words(&run), "Done.");
}

#[tokio::test]
async fn no_server_can_pass_for_the_loop_itself() {
    let tools =
        ScriptedTools::new().with_answer(tool("built-in", "wipe"), |_| Outcome::text("wiped"));
    let model = ScriptedModel::new()
        .calls([("wipe", json!({"n": 1}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = asking("Go").with_policy(Policy::new(Mode::Auto));
    let events = drive(&agent, &mut run).await;
    assert!(tools.calls().is_empty());
    let warned = |event: &RunEvent| matches!(event, RunEvent::Warning { message } if message.contains("reserved"));
    assert!(events.iter().any(warned), "{events:?}");
}
