//! Prompt mode, from the model's side: parses the instructions and the results from the text.

use mcp_jsonrpc::{RawJson, RawObject};

use super::asked::{Asked, Said, ToolAnswer};
use crate::request::tool::ToolSpec;
use crate::wire::prompt::CallFormat;
use crate::wire::prompt::instruction;

/// The line after which the instructions list the tools.
const LIST: &str = "\n# Tools\n";

/// A call as the model writes it.
pub(super) fn call(name: &str, arguments: &str) -> String {
    instruction::call(name, arguments, CallFormat::default())
}

/// If the instructions describe the tools, takes them from there, and the results from the
/// user's messages.
pub(super) fn read(asked: &mut Asked) {
    if !asked.tools.is_empty() || !asked.system.contains("# How to write a call") {
        return;
    }
    let Some((_, listed)) = asked.system.split_once(LIST) else {
        return;
    };
    asked.tools = tools(listed);
    asked.prompt_mode = true;
    for said in std::mem::take(&mut asked.said) {
        match said {
            Said::User(text) => results(&text, &mut asked.said),
            other => asked.said.push(other),
        }
    }
}

fn tools(listed: &str) -> Vec<ToolSpec> {
    let mut tools: Vec<ToolSpec> = Vec::new();
    for line in listed.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            tools.push(ToolSpec::new(name, RawObject::empty()));
            continue;
        }
        let Some(tool) = tools.last_mut() else {
            continue;
        };
        let schema = line
            .strip_prefix("Arguments: ")
            .and_then(|json| RawJson::from_text(json.to_owned()).ok())
            .and_then(|json| RawObject::try_from(json).ok());
        match (schema, &mut tool.description) {
            (Some(schema), _) => tool.input_schema = schema,
            (None, _) if line.is_empty() => {}
            (None, Some(text)) => {
                text.push('\n');
                text.push_str(line);
            }
            (None, none) => *none = Some(line.to_owned()),
        }
    }
    tools
}

/// Splits a user's message into results and the user's own text.
fn results(text: &str, said: &mut Vec<Said>) {
    let mut rest = text;
    while let Some((own, answer, after)) = next_result(rest) {
        user(own, said);
        said.push(Said::Answer(answer));
        rest = after;
    }
    user(rest, said);
}

fn user(text: &str, said: &mut Vec<Said>) {
    if !text.trim().is_empty() {
        said.push(Said::User(text.trim().to_owned()));
    }
}

/// The first result in `text`, with what stands before and after it.
fn next_result(text: &str) -> Option<(&str, ToolAnswer, &str)> {
    [CallFormat::FunctionCall, CallFormat::ToolUse]
        .into_iter()
        .filter_map(|format| {
            let tag = instruction::result_tag(format);
            let (own, rest) = text.split_once(&format!("<{tag}>"))?;
            let (body, after) = rest.split_once(&format!("</{tag}>"))?;
            let inside = |tag: &str| {
                let (_, rest) = body.split_once(&format!("<{tag}>"))?;
                Some(rest.rsplit_once(&format!("</{tag}>"))?.0)
            };
            let error = inside("error");
            let answer = ToolAnswer {
                name: inside("name")?.to_owned(),
                id: String::new(),
                text: error.or_else(|| inside("output"))?.to_owned(),
                is_error: error.is_some(),
            };
            Some((own, answer, after))
        })
        .min_by_key(|(own, ..)| own.len())
}
