//! The content of a call's tags.

use mcp_jsonrpc::{RawJson, RawMap};

use super::tag::{TOOL_CALLS, TOOL_USE, Tag};
use crate::json::repair::without_fence;

/// How much of a block is looked at to see whether it may be a call.
const LOOK: usize = 64;

/// A call that was read, or why it was not.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Body {
    Call { name: String, arguments: String },
    Unknown { name: String },
    Bad { reason: String },
}

/// Everything in one pair of tags: mostly one call.
pub(crate) fn read_all(body: &str, tag: Tag, names: Option<&[String]>) -> Vec<Body> {
    if tag == TOOL_USE && body.contains("<name>") {
        return vec![read_tool_use(body, names)];
    }
    let text = without_fence(body);
    if let (true, Some((name, arguments))) = (tag == TOOL_CALLS, text.split_once('{')) {
        let name = name.trim().trim_end_matches("[ARGS]");
        if !name.is_empty() && !name.starts_with('[') {
            return vec![call(name, &format!("{{{arguments}"), names)];
        }
    }
    match serde_json::from_str::<Vec<RawJson>>(text) {
        Ok(calls) if !calls.is_empty() => {
            calls.iter().map(|call| read(call.get(), names)).collect()
        }
        _ => vec![read(text, names)],
    }
}

/// `{"name": …, "arguments": {…}}`. The arguments keep their spelling.
pub(crate) fn read(text: &str, names: Option<&[String]>) -> Body {
    let members = match serde_json::from_str::<RawMap>(without_fence(text)) {
        Ok(members) => members,
        Err(error) => {
            return Body::Bad {
                reason: format!("the call is not a JSON object ({error})"),
            };
        }
    };
    let Some(name) = members.read_as::<String>("name") else {
        return Body::Bad {
            reason: "the call has no \"name\"".to_owned(),
        };
    };
    let arguments = members
        .get("arguments")
        .or_else(|| members.get("parameters"));
    call(&name, arguments.map_or("{}", RawJson::get), names)
}

fn read_tool_use(body: &str, names: Option<&[String]>) -> Body {
    let Some(name) = between(body, "<name>", "</name>") else {
        return Body::Bad {
            reason: "the call has no end of its <name>".to_owned(),
        };
    };
    let name = name.trim();
    let inside = body.split_once("<arguments>").map(|(_, inside)| inside);
    let text = match inside.map(|inside| inside.rsplit_once("</arguments>")) {
        None => "",
        Some(Some((text, _))) => without_fence(text),
        Some(None) => {
            return Body::Bad {
                reason: "the call has no end of its <arguments>".to_owned(),
            };
        }
    };
    // Some models put the whole call where only its arguments belong.
    if let Ok(members) = serde_json::from_str::<RawMap>(text)
        && members.len() == 2
        && members.read_as::<String>("name").as_deref() == Some(name)
        && let Some(arguments) = members.get("arguments")
    {
        return call(name, arguments.get(), names);
    }
    call(name, text, names)
}

fn call(name: &str, arguments: &str, names: Option<&[String]>) -> Body {
    let known = names.is_none_or(|names| names.iter().any(|known| known == name));
    let name = name.to_owned();
    if known {
        Body::Call {
            name,
            arguments: arguments.to_owned(),
        }
    } else {
        Body::Unknown { name }
    }
}

/// The tool of a malformed call, if it is recognisable.
pub(crate) fn guess_name(text: &str) -> Option<String> {
    if let Some(name) = between(text, "<name>", "</name>") {
        return Some(name.trim().to_owned());
    }
    let (_, after) = text.split_once("\"name\"")?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let (name, _) = value.strip_prefix('"')?.split_once('"')?;
    Some(name.to_owned())
}

/// Whether a block that starts like this may turn out to be a call.
pub(crate) fn may_be_call(text: &str) -> bool {
    if text.len() > LOOK {
        return true;
    }
    let Some(inside) = text.trim_start().strip_prefix('{') else {
        return text.trim().is_empty();
    };
    match inside.trim_start() {
        "" => true,
        first => ["\"name\"", "\"arguments\""]
            .iter()
            .any(|key| first.starts_with(key) || key.starts_with(first)),
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.split_once(open)?
        .1
        .split_once(close)
        .map(|(inside, _)| inside)
}
