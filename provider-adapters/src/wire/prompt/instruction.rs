//! Instructions that describe the tools to a model without native tool calling.

use super::CallFormat;
use super::tag::{FUNCTION_CALL, TOOL_USE};
use crate::request::tool_set::ToolSet;

/// How to call, what there is to call, and what to mind.
pub(crate) fn tools(tools: &ToolSet, format: CallFormat) -> String {
    let mut text = String::from(
        "You can use tools. To use one, write a call and then stop: the result comes in the next \
         message.\n\n# How to write a call\n\n",
    );
    text.push_str(match format {
        CallFormat::FunctionCall => {
            "<function_call>\n{\"name\": \"TOOL\", \"arguments\": {\"PARAMETER\": \"value\"}}\n</function_call>\n"
        }
        CallFormat::ToolUse => {
            "<tool_use>\n<name>TOOL</name>\n<arguments>{\"PARAMETER\": \"value\"}</arguments>\n</tool_use>\n"
        }
    });
    text.push_str(
        "\n- The arguments are one JSON object that fits the tool's schema; {} if it has no \
         parameters.\n- Use only the tools listed here, by exactly these names.\n- Several calls \
         may follow each other.\n- Never write a result yourself.\n- If no tool is needed, just \
         answer.\n\n# Tools\n",
    );
    for tool in tools.compiled() {
        text.push_str("\n## ");
        text.push_str(&tool.name);
        text.push('\n');
        if let Some(description) = &tool.description {
            text.push_str(description);
            text.push('\n');
        }
        if let Some(schema) = &tool.schema {
            text.push_str("Arguments: ");
            text.push_str(schema.get());
            text.push('\n');
        }
    }
    text
}

/// A call as the model would write it.
pub(crate) fn call(name: &str, arguments: &str, format: CallFormat) -> String {
    match format {
        CallFormat::FunctionCall => {
            let name = serde_json::to_string(name).unwrap_or_default();
            let (open, close) = (FUNCTION_CALL.open, FUNCTION_CALL.close);
            format!("{open}\n{{\"name\": {name}, \"arguments\": {arguments}}}\n{close}")
        }
        CallFormat::ToolUse => {
            let (open, close) = (TOOL_USE.open, TOOL_USE.close);
            format!("{open}\n<name>{name}</name>\n<arguments>{arguments}</arguments>\n{close}")
        }
    }
}

/// The tag results stand in.
pub(crate) fn result_tag(format: CallFormat) -> &'static str {
    match format {
        CallFormat::FunctionCall => "function_result",
        CallFormat::ToolUse => "tool_use_result",
    }
}

/// Text from elsewhere, made unable to open or close one of our tags.
pub(crate) fn escape(text: &str) -> String {
    const NAMES: [&str; 9] = [
        "function_call",
        "function_result",
        "tool_use",
        "tool_call",
        "name",
        "arguments",
        "output",
        "error",
        "think",
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let inside = from.trim_start_matches(['<', '/', ' ', '\t', '\r', '\n']);
        let ours = NAMES.iter().any(|name| {
            inside
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        out.push_str(if ours { "&lt;" } else { "<" });
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_open_a_tag() {
        assert_eq!(
            escape("a < b <function_call>{}"),
            "a < b &lt;function_call>{}"
        );
        assert_eq!(
            escape("</ Tool_Use_result ><<think>"),
            "&lt;/ Tool_Use_result >&lt;&lt;think>"
        );
        assert_eq!(escape("<b>é</b> <"), "<b>é</b> <");
    }
}
