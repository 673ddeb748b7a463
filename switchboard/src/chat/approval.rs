//! The approval prompt of a tool call.

use agent_loop::{Answer, Approval, AskReason, DefinitionChange, SecretSource};

use crate::display::untrusted;
use crate::lang::t;

/// Lines and characters of a tool's description that are shown; the rest is counted.
const DESCRIPTION: (usize, usize) = (4, 400);
/// Changes of a definition that are shown; the rest is counted.
const CHANGES: usize = 12;

/// The user's answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Said {
    Answer(Answer),
    /// No, and this is why.
    Because(String),
    /// Other arguments.
    Edit,
}

/// Formats the question with all details.
pub(crate) fn question(approval: &Approval) -> String {
    let record = &approval.record;
    let arguments = serde_json::to_string(&record.arguments).unwrap_or_default();
    let pretty: Option<serde_json::Value> = serde_json::from_str(&arguments).ok();
    let pretty = pretty.and_then(|value| serde_json::to_string_pretty(&value).ok());
    let arguments = pretty.unwrap_or(arguments);
    // Every line is written by us: foreign text cannot imitate one.
    let arguments: Vec<_> = arguments.lines().map(untrusted::line).collect();
    let arguments = arguments.join("\n  ");
    let mut lines = described(approval.description.as_deref().unwrap_or_default());
    lines.extend(reason(approval));
    lines.extend(changes(&approval.changes));
    let more: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    let asks = t!(
        "{server} wants to run {tool}",
        server = untrusted::line(&record.server_name),
        tool = untrusted::line(&record.tool_name)
    );
    format!("{asks}\n  {arguments}{more}")
}

/// What the server says that the tool does: its first lines.
fn described(description: &str) -> Vec<String> {
    let (most_lines, most) = DESCRIPTION;
    let all: Vec<&str> = description.trim().lines().collect();
    let kept = all.get(..most_lines).unwrap_or(&all).join("\n");
    let kept: String = kept.chars().take(most).collect();
    let left = all.join("\n").chars().count() - kept.chars().count();
    let lines = kept.lines().map(untrusted::line);
    let mut lines: Vec<String> = lines.map(|line| format!("│ {line}")).collect();
    if left > 0 {
        lines.push(t!("│ … {n} more characters", n = left));
    }
    lines
}

/// Why it is asked for, where the mode is not all there is to say.
fn reason(approval: &Approval) -> Option<String> {
    Some(match (approval.why, &approval.alarm, &approval.secret) {
        (AskReason::Changed, _, _) => t!("The tool has changed since it was approved.").into(),
        (AskReason::Rule, _, _) => t!("A rule of yours asks for this one.").into(),
        (AskReason::Alarm, Some(alarm), _) => t!(
            "Its definition has signs of an attack: {reason}",
            reason = untrusted::line(&alarm.reason)
        ),
        (AskReason::Secret, _, Some(secret)) => t!(
            "Its arguments hold a secret that this server does not have: {whose}",
            whose = whose(secret)
        ),
        _ => return None,
    })
}

fn whose(secret: &SecretSource) -> String {
    let name = untrusted::line(&secret.name);
    match &secret.server {
        Some(server) => t!(
            "{name} of the server {server}",
            name = name,
            server = untrusted::line(server)
        ),
        None => name.into_owned(),
    }
}

/// How the definition differs from the one that was approved.
fn changes(changes: &[DefinitionChange]) -> Vec<String> {
    let mut lines: Vec<String> = changes.iter().take(CHANGES).map(change).collect();
    let left = changes.len().saturating_sub(CHANGES);
    if left > 0 {
        lines.push(t!("… {n} more differences", n = left));
    }
    lines
}

fn change(change: &DefinitionChange) -> String {
    let place = untrusted::line(&change.place);
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let (before, after) = (before.map(untrusted::line), after.map(untrusted::line));
    match (before, after) {
        (Some(before), Some(after)) => t!(
            "{place}: \"{before}\" is now \"{after}\"",
            place = place,
            before = before,
            after = after
        ),
        (Some(before), None) => {
            t!(
                "{place}: \"{before}\" is gone",
                place = place,
                before = before
            )
        }
        (None, Some(after)) => t!("{place}: \"{after}\" is new", place = place, after = after),
        (None, None) => place.into_owned(),
    }
}

/// The possible answers.
pub(crate) fn choices(approval: &Approval) -> String {
    if approval.why.is_for_one_call() {
        let answers =
            t!("[y] once  [e] edit  [n] deny (n WHY tells the model why)  [d] always deny");
        return format!("  {answers}");
    }
    let server = match approval.read_only {
        true => {
            let tools = approval.read_only_tools.keys();
            let tools: Vec<_> = tools.map(|tool| untrusted::line(tool)).collect();
            let tools = tools.join(", ");
            let text = t!(
                "[s] always this server's read-only tools as they are now: {tools}",
                tools = tools
            );
            format!("\n  {text}")
        }
        false => String::new(),
    };
    let (yes, no) = (
        t!("[y] once  [c] this chat  [t] always this tool"),
        t!("[e] edit  [n] deny (n WHY tells the model why)  [d] always deny"),
    );
    format!("  {yes}{server}\n  {no}")
}

/// Parses an answer; `None` if it is not one.
pub(crate) fn parse(line: &str, approval: &Approval) -> Option<Said> {
    let line = line.trim();
    let lasting = |answer| (!approval.why.is_for_one_call()).then_some(Said::Answer(answer));
    if let Some((no, why)) = line.split_once(char::is_whitespace)
        && matches!(no, "n" | "no")
    {
        return Some(Said::Because(why.trim().to_owned()));
    }
    Some(match line.to_lowercase().as_str() {
        "y" | "yes" | "once" => Said::Answer(Answer::Once),
        "c" | "chat" => return lasting(Answer::ThisRun),
        "t" | "tool" | "always" => return lasting(Answer::AlwaysTool),
        "s" | "server" if approval.read_only => return lasting(Answer::AlwaysServerReadOnly),
        "e" | "edit" => Said::Edit,
        "n" | "no" | "deny" => Said::Answer(Answer::Deny),
        "d" | "never" => Said::Answer(Answer::AlwaysDeny),
        _ => return None,
    })
}
