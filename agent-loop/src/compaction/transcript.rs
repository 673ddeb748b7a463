//! Turns as text, for a summary.

use provider_adapters::{AssistantPart, Turn, UserPart, flatten};

/// The most characters of one part.
const PART: usize = 4_000;

/// The turns as text, in at most `max_chars` characters.
pub(crate) fn of(turns: &[Turn], max_chars: usize) -> String {
    let mut lines = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(turn) => lines.push(format!("[instruction] {}", turn.text)),
            Turn::User(turn) => {
                let text = |part: &UserPart| match part {
                    UserPart::Text { text } => text.clone(),
                    _ => "(an attachment)".to_owned(),
                };
                lines.extend(
                    turn.parts
                        .iter()
                        .map(|part| format!("[user] {}", text(part))),
                );
            }
            Turn::Assistant(turn) => {
                for part in turn.parts() {
                    match part {
                        AssistantPart::Text { text } => lines.push(format!("[assistant] {text}")),
                        AssistantPart::ToolCall(call) => {
                            let arguments = cut(call.arguments.text(), PART);
                            lines.push(format!("[call {}] {} {arguments}", call.id, call.name));
                        }
                        _ => {}
                    }
                }
                for result in turn.results() {
                    let kind = if result.is_error { "error" } else { "result" };
                    let text = match &result.structured {
                        Some(json) if result.content.is_empty() => json.get().to_owned(),
                        _ => flatten(&result.content),
                    };
                    lines.push(format!("[{kind} of {}] {}", result.id, cut(&text, PART)));
                }
            }
            _ => {}
        }
    }
    cut(&lines.join("\n"), max_chars)
}

/// `text` in at most `max` characters, without its middle.
fn cut(text: &str, max: usize) -> String {
    const GAP: &str = " […] ";
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let half = max.saturating_sub(GAP.chars().count()) / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}{GAP}{tail}")
}
