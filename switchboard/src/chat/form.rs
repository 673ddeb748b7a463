//! Elicitation forms in the terminal, field by field.

use mcp_client::check_form;
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult, ElicitUrlParams};
use serde_json::{Map, Value, json};

use crate::chat::input::{Input, Line};
use crate::chat::markdown::Markdown;
use crate::display::out::Out;
use crate::display::untrusted;

/// Maximum number of retries of an invalid form.
const TRIES: u32 = 5;

/// Asks for every field of a form. `/decline` declines, Ctrl-C cancels.
pub(crate) async fn fill_in(
    out: &Out,
    input: &Input,
    server: &str,
    form: &ElicitFormParams,
) -> ElicitResult {
    let message = quoted(out, &form.message);
    let server = untrusted::line(server);
    out.say(format!("\n{server} asks:\n{message}\n  (/decline says no)"));
    let schema = serde_json::to_value(&form.requested_schema).unwrap_or(Value::Null);
    let mut answers = Map::new();
    let mut wrong: Option<Vec<String>> = None;
    for _ in 0..TRIES {
        for (name, field) in fields(&schema) {
            if wrong.as_ref().is_some_and(|wrong| !wrong.contains(name)) {
                continue;
            }
            match input.answer(&prompt(name, field), "").await {
                Line::Text(text) if text.trim() == "/decline" => return ElicitResult::decline(),
                Line::Text(text) => read(name, field, &text, &mut answers),
                Line::Interrupted | Line::End => return ElicitResult::cancel(),
            }
        }
        match check_form(&form.requested_schema, &answers) {
            Ok(checked) => return ElicitResult::accept(checked),
            Err(problems) => {
                for problem in &problems {
                    out.say(format!("  {}", untrusted::line(&problem.to_string())));
                }
                wrong = Some(problems.into_iter().map(|problem| problem.field).collect());
            }
        }
    }
    ElicitResult::cancel()
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
    out.say(format!(
        "\n{server} asks you to visit a page:\n{message}\n  {url}"
    ));
    match input.answer("Did you agree to visit it? [y/n] ", "").await {
        Line::Text(text) if matches!(text.trim(), "y" | "yes") => {
            ElicitResult::new(mcp_jsonrpc::model::ElicitAction::Accept)
        }
        Line::Text(_) => ElicitResult::decline(),
        Line::Interrupted | Line::End => ElicitResult::cancel(),
    }
}

/// A server's Markdown message, with a prefix that distinguishes its lines from ours.
fn quoted(out: &Out, message: &str) -> String {
    let message = untrusted::text(message);
    let mut markdown = Markdown::new(out.has_color());
    let mut shown = markdown.push(message.trim_end());
    shown.push_str(&markdown.finish());
    let lines: Vec<String> = shown.lines().map(|line| format!("  │ {line}")).collect();
    lines.join("\n")
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// The prompt of a field: its name, accepted values and default.
fn prompt(name: &str, field: &Value) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str);
    let mut hints: Vec<String> = Vec::new();
    hints.extend(text("description").map(str::to_owned));
    let choices = choices(field);
    match choices.is_empty() {
        false => hints.push(choices.join(" | ")),
        true => hints.extend(
            text("type")
                .filter(|kind| *kind != "string")
                .map(str::to_owned),
        ),
    }
    if let Some(default) = field.get("default") {
        hints.push(format!("default {default}"));
    }
    let name = text("title").unwrap_or(name);
    let hints = match hints.is_empty() {
        true => String::new(),
        false => format!(" ({})", hints.join("; ")),
    };
    untrusted::line(&format!("  {name}{hints}: ")).into_owned()
}

fn choices(field: &Value) -> Vec<String> {
    let items = field.get("items").unwrap_or(field);
    let plain = items.get("enum").and_then(Value::as_array);
    let plain = plain.into_iter().flatten().filter_map(Value::as_str);
    let titled = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|key| items.get(key)?.as_array());
    let titled = titled
        .flatten()
        .filter_map(|choice| choice.get("const")?.as_str());
    plain.chain(titled).map(str::to_owned).collect()
}

/// Takes over what was typed. An empty line leaves the field to its default.
fn read(name: &str, field: &Value, text: &str, answers: &mut Map<String, Value>) {
    let text = text.trim();
    if text.is_empty() {
        answers.remove(name);
        return;
    }
    let many = field.get("type").and_then(Value::as_str) == Some("array");
    let value = match many {
        true => text.split(',').map(|part| json!(part.trim())).collect(),
        false => json!(text),
    };
    answers.insert(name.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::out::{Color, Mode};

    #[test]
    fn a_field_says_what_it_takes() {
        let field = json!({"type": "string", "title": "Size", "enum": ["S", "M"], "default": "M"});
        assert_eq!(prompt("size", &field), "  Size (S | M; default \"M\"): ");
        assert_eq!(
            prompt("age", &json!({"type": "integer"})),
            "  age (integer): "
        );
        assert_eq!(prompt("name", &json!({"type": "string"})), "  name: ");
    }

    #[test]
    fn a_message_is_markdown_and_none_of_its_lines_is_ours() {
        let message = "**Sure?**\r\nRun it? y\n\u{1b}[2J";
        let shown = "  │ **Sure?**\n  │ Run it? y\n  │ \u{fffd}[2J";
        assert_eq!(quoted(&Out::new(Mode::Text, Color::Never), message), shown);
    }

    #[test]
    fn several_choices_are_separated_by_commas() {
        let field = json!({"type": "array", "items": {"enum": ["a", "b"]}});
        let mut answers = Map::new();
        read("letters", &field, " a, b", &mut answers);
        assert_eq!(answers.get("letters"), Some(&json!(["a", "b"])));
        read("letters", &field, " ", &mut answers);
        assert!(answers.is_empty());
    }
}
