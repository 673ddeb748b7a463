//! The approval prompt of a tool call.

use agent_loop::{Answer, Approval, AskReason};

use crate::display::untrusted;
use crate::lang::t;

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
    let why = match (approval.why, &approval.alarm) {
        (AskReason::Changed, _) => t!("The tool has changed since it was approved."),
        (AskReason::Rule, _) => t!("A rule of yours asks for this one."),
        (AskReason::Alarm, Some(alarm)) => t!(
            "Its definition has signs of an attack: {reason}",
            reason = untrusted::line(&alarm.reason)
        )
        .into(),
        _ => "".into(),
    };
    let why = match why.is_empty() {
        true => String::new(),
        false => format!("\n  {why}"),
    };
    let asks = t!(
        "{server} wants to run {tool}",
        server = untrusted::line(&record.server_name),
        tool = untrusted::line(&record.tool_name)
    );
    format!("{asks}\n  {arguments}{why}")
}

/// The possible answers.
pub(crate) fn choices(approval: &Approval) -> String {
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
    if approval.why == AskReason::Alarm {
        let answers =
            t!("[y] once  [e] edit  [n] deny (n WHY tells the model why)  [d] always deny");
        return format!("  {answers}");
    }
    let (yes, no) = (
        t!("[y] once  [c] this chat  [t] always this tool"),
        t!("[e] edit  [n] deny (n WHY tells the model why)  [d] always deny"),
    );
    format!("  {yes}{server}\n  {no}")
}

/// Parses an answer; `None` if it is not one.
pub(crate) fn parse(line: &str, approval: &Approval) -> Option<Said> {
    let line = line.trim();
    if let Some((no, why)) = line.split_once(char::is_whitespace)
        && matches!(no, "n" | "no")
    {
        return Some(Said::Because(why.trim().to_owned()));
    }
    Some(match line.to_lowercase().as_str() {
        "y" | "yes" | "once" => Said::Answer(Answer::Once),
        "c" | "chat" | "t" | "tool" | "always" if approval.why == AskReason::Alarm => return None,
        "c" | "chat" => Said::Answer(Answer::ThisRun),
        "t" | "tool" | "always" => Said::Answer(Answer::AlwaysTool),
        "s" | "server" if approval.read_only => Said::Answer(Answer::AlwaysServerReadOnly),
        "e" | "edit" => Said::Edit,
        "n" | "no" | "deny" => Said::Answer(Answer::Deny),
        "d" | "never" => Said::Answer(Answer::AlwaysDeny),
        _ => return None,
    })
}
