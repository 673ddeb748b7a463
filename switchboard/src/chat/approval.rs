//! The approval prompt of a tool call.

use agent_loop::{Answer, Approval, AskReason};

use crate::display::untrusted;

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
    let why = match approval.why {
        AskReason::Changed => "\n  The tool has changed since it was approved.",
        AskReason::Rule => "\n  A rule of yours asks for this one.",
        _ => "",
    };
    format!(
        "{} wants to run {}\n  {arguments}{why}",
        untrusted::line(&record.server_name),
        untrusted::line(&record.tool_name)
    )
}

/// The possible answers.
pub(crate) fn choices(approval: &Approval) -> String {
    let server = match approval.read_only {
        true => {
            let tools = approval.read_only_tools.keys();
            let tools: Vec<_> = tools.map(|tool| untrusted::line(tool)).collect();
            let tools = tools.join(", ");
            format!("\n  [s] always this server's read-only tools as they are now: {tools}")
        }
        false => String::new(),
    };
    format!(
        "  [y] once  [c] this chat  [t] always this tool{server}\n  [e] edit  [n] deny (n WHY \
         tells the model why)  [d] always deny"
    )
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
        "c" | "chat" => Said::Answer(Answer::ThisRun),
        "t" | "tool" | "always" => Said::Answer(Answer::AlwaysTool),
        "s" | "server" if approval.read_only => Said::Answer(Answer::AlwaysServerReadOnly),
        "e" | "edit" => Said::Edit,
        "n" | "no" | "deny" => Said::Answer(Answer::Deny),
        "d" | "never" => Said::Answer(Answer::AlwaysDeny),
        _ => return None,
    })
}
