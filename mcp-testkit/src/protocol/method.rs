//! The methods that are answered at once, from the script alone.

use serde_json::{Map, Value, json};

use super::{World, dialect};
use crate::script::Script;
use crate::{Era, Refusal};

pub(super) fn initialize(script: &Script, request: &Value) -> Result<Value, Refusal> {
    let requested = request
        .pointer("/params/protocolVersion")
        .cloned()
        .unwrap_or_default();
    let mut result = json!({
        "protocolVersion": dialect::negotiate(script, &requested).as_str(),
        "capabilities": dialect::capabilities(script, Era::Legacy),
        "serverInfo": script.info,
    });
    instruct(script, &mut result);
    Ok(result)
}

pub(super) fn answer(
    world: &World,
    era: Era,
    name: &str,
    request: &Value,
) -> Result<Value, Refusal> {
    let script = &*world.script();
    let params = request.get("params").cloned().unwrap_or_default();
    match (name, era) {
        ("ping", Era::Legacy) => Ok(json!({})),
        ("server/discover", Era::Modern) => {
            let mut result = json!({
                "supportedVersions": dialect::supported(script),
                "capabilities": dialect::capabilities(script, Era::Modern),
            });
            instruct(script, &mut result);
            Ok(result)
        }
        ("tools/list", _) => page(
            script,
            "tools",
            &params,
            script.tools.iter().map(|tool| tool.listed(era)),
        ),
        ("resources/list", _) => page(
            script,
            "resources",
            &params,
            script
                .resources
                .iter()
                .map(|resource| resource.declared.clone()),
        ),
        ("resources/templates/list", _) => page(
            script,
            "resourceTemplates",
            &params,
            script.templates.iter().cloned(),
        ),
        ("prompts/list", _) => page(
            script,
            "prompts",
            &params,
            script.prompts.iter().map(|prompt| prompt.declared.clone()),
        ),
        ("resources/read", _) => read(script, era, &params),
        ("prompts/get", _) => prompt(script, &params),
        ("completion/complete", _) => Ok(complete(script, &params)),
        ("tasks/list", Era::Legacy) => {
            page(script, "tasks", &params, world.tasks.list().into_iter())
        }
        ("tasks/get", Era::Legacy) => Ok(world.tasks.find(request)?.legacy()),
        ("tasks/get", Era::Modern) => Ok(world.tasks.find(request)?.modern()),
        ("tasks/update", Era::Modern) => {
            let responses = params.get("inputResponses").cloned().unwrap_or_default();
            world.tasks.find(request)?.input(world, &responses);
            Ok(json!({}))
        }
        ("tasks/cancel", Era::Legacy) => {
            let task = world.tasks.find(request)?;
            if task.cancel(world) {
                Ok(task.legacy())
            } else {
                Err(Refusal::new(-32602, "The task has ended already"))
            }
        }
        ("tasks/cancel", Era::Modern) => {
            world.tasks.find(request)?.cancel(world);
            Ok(json!({}))
        }
        _ => match script.method(name) {
            Some(method) => method.answer(&params),
            None => Err(Refusal::new(-32601, format!("Method not found: {name}"))),
        },
    }
}

fn instruct(script: &Script, result: &mut Value) {
    if let (Some(members), Some(text)) = (result.as_object_mut(), &script.instructions) {
        members.insert("instructions".to_owned(), text.clone().into());
    }
}

/// One page of a list. The cursor is opaque to clients: it contains the list's name and the next position.
fn page(
    script: &Script,
    member: &str,
    params: &Value,
    items: impl Iterator<Item = Value>,
) -> Result<Value, Refusal> {
    let items: Vec<Value> = items.collect();
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix(member)?.strip_prefix("@")?.parse().ok())
            .filter(|start| *start <= items.len())
            .ok_or_else(|| Refusal::new(-32602, format!("Invalid cursor: {cursor}")))?,
    };
    let size = script.page_size.unwrap_or(usize::MAX);
    let next = start.saturating_add(size);
    let mut result = Map::new();
    if next < items.len() {
        result.insert("nextCursor".to_owned(), format!("{member}@{next}").into());
    }
    let page: Vec<Value> = items.into_iter().skip(start).take(size).collect();
    result.insert(member.to_owned(), page.into());
    Ok(Value::Object(result))
}

fn read(script: &Script, era: Era, params: &Value) -> Result<Value, Refusal> {
    let uri = params
        .get("uri")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if let Some(resource) = script
        .resources
        .iter()
        .find(|resource| resource.uri() == uri)
    {
        return Ok(json!({"contents": resource.contents}));
    }
    let code = match era {
        Era::Legacy => -32002,
        Era::Modern => -32602,
    };
    Err(Refusal::new(code, "Resource not found").with_data(json!({"uri": uri})))
}

fn prompt(script: &Script, params: &Value) -> Result<Value, Refusal> {
    let name = params
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let prompt = script.prompts.iter().find(|prompt| prompt.name() == name);
    let Some(prompt) = prompt else {
        return Err(Refusal::new(-32602, format!("Unknown prompt: {name}")));
    };
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    Ok(prompt.expanded(&arguments))
}

fn complete(script: &Script, params: &Value) -> Value {
    let text = |pointer: &str| {
        params
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let prompt = script
        .prompts
        .iter()
        .find(|prompt| prompt.name() == text("/ref/name"));
    let known = prompt.into_iter().flat_map(|prompt| &prompt.completions);
    let values: Vec<&String> = known
        .filter(|(argument, _)| argument == text("/argument/name"))
        .flat_map(|(_, values)| values)
        .filter(|value| value.starts_with(text("/argument/value")))
        .collect();
    json!({"completion": {"values": values, "total": values.len(), "hasMore": false}})
}
