//! Elicitation forms in the terminal: each field is checked as it is filled in.

mod field;

use mcp_client::check_form;
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult, ElicitUrlParams};
use serde_json::{Map, Value};

use self::field::Field;
use crate::chat::input::{Input, Line};
use crate::chat::markdown::{Look, Markdown};
use crate::chat::terminal::columns;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::lang::t;

/// Maximum number of tries of one field.
const TRIES: u32 = 10;

/// Asks for every field of a form. `/decline` declines, Ctrl-C cancels. A mistake is asked about
/// again at once, and changes nothing in the other fields.
pub(crate) async fn fill_in(
    out: &Out,
    input: &Input,
    server: &str,
    form: &ElicitFormParams,
) -> ElicitResult {
    let message = quoted(out, &form.message);
    let server = untrusted::line(server);
    out.say(format!(
        "\n{}\n{message}",
        t!("{server} asks:", server = server)
    ));
    let schema = serde_json::to_value(&form.requested_schema).unwrap_or(Value::Null);
    let fields = Field::all(&schema);
    let hint = t!("/decline says no. A field with * must be filled in; Enter takes the default.");
    out.say(format!("  {hint}"));
    let mut answers = Map::new();
    let count = fields.len();
    for (number, field) in fields.iter().enumerate() {
        let place = match count {
            1 => String::new(),
            _ => format!("{}/{count} ", number + 1),
        };
        if let Err(result) = ask(out, input, form, field, &place, &mut answers).await {
            return result;
        }
    }
    match check_form(&form.requested_schema, &answers) {
        Ok(checked) => ElicitResult::accept(checked),
        // Every field was checked, so this is a form that no answer fits.
        Err(problems) => {
            for problem in &problems {
                out.say(format!("  {}", untrusted::line(&problem.to_string())));
            }
            ElicitResult::cancel()
        }
    }
}

/// Asks for one field until its value fits.
async fn ask(
    out: &Out,
    input: &Input,
    form: &ElicitFormParams,
    field: &Field<'_>,
    place: &str,
    answers: &mut Map<String, Value>,
) -> Result<(), ElicitResult> {
    for line in field.explanation() {
        out.say(format!("    {}", untrusted::line(&line)));
    }
    let prompt = untrusted::line(&format!("  {place}{}", field.prompt())).into_owned();
    for _ in 0..TRIES {
        match input.answer(&prompt, "").await {
            Line::Text(text) if text.trim() == "/decline" => return Err(ElicitResult::decline()),
            Line::Text(text) => field.read(&text, answers),
            Line::Interrupted | Line::End => return Err(ElicitResult::cancel()),
        }
        let checked = check_form(&form.requested_schema, answers).err();
        let mut problems = checked.into_iter().flatten();
        let Some(problem) = problems.find(|problem| problem.field == field.name) else {
            return Ok(());
        };
        answers.remove(field.name);
        out.say(format!("    ! {}", untrusted::line(&problem.to_string())));
    }
    Err(ElicitResult::cancel())
}

/// Asks whether to visit a page, which is never opened automatically.
pub(crate) async fn visit(
    out: &Out,
    input: &Input,
    server: &str,
    page: &ElicitUrlParams,
) -> ElicitResult {
    let message = quoted(out, &page.message);
    let (server, url) = (untrusted::line(server), untrusted::line(&page.url));
    let asks = t!("{server} asks you to visit a page:", server = server);
    out.say(format!("\n{asks}\n{message}\n  {url}"));
    let prompt = t!("Did you agree to visit it? [y/n] ");
    match input.answer(&prompt, "").await {
        Line::Text(text) if matches!(text.trim(), "y" | "yes" | "是") => {
            ElicitResult::new(mcp_jsonrpc::model::ElicitAction::Accept)
        }
        Line::Text(_) => ElicitResult::decline(),
        Line::Interrupted | Line::End => ElicitResult::cancel(),
    }
}

/// A server's Markdown message, with a prefix that distinguishes its lines from ours.
fn quoted(out: &Out, message: &str) -> String {
    let message = untrusted::text(message);
    let look = match (out.has_color(), out.is_plain()) {
        (_, true) => Look::Source,
        (true, false) => Look::Color,
        (false, false) => Look::Plain,
    };
    let mut markdown = Markdown::new(look, columns().saturating_sub(4));
    let mut shown = markdown.push(message.trim_end());
    shown.push_str(&markdown.finish());
    let mark = if out.is_plain() { '|' } else { '│' };
    let lines: Vec<String> = shown
        .lines()
        .map(|line| format!("  {mark} {line}"))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::out::{Color, Mode};

    #[test]
    fn a_message_is_markdown_and_none_of_its_lines_is_ours() {
        let message = "**Sure?**\r\nRun it? y\n\u{1b}[2J";
        let shown = "  │ **Sure?**\n  │ Run it? y\n  │ \u{fffd}[2J";
        assert_eq!(quoted(&Out::new(Mode::Text, Color::Never), message), shown);
    }
}
