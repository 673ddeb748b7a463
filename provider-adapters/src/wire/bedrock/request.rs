//! Encodes Converse requests.

use std::collections::BTreeSet;

use tool_schema::Target;

use super::message::Writer;
use crate::conversation::turn::Turn;
use crate::json::writer::{Json, Object, typed};
use crate::output::compiled::CompiledOutput;
use crate::request::cache::{Cache, CachePoint};
use crate::request::options::Options;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::CompiledTool;
use crate::request::{EncodeError, Omitted, Request};
use crate::wire::anthropic::generation;

/// Breakpoints that are accepted in one request.
const MAX_BREAKPOINTS: usize = 4;

/// A request's output schema: a tool that the model has to call, which every model with tools knows.
pub(crate) fn output(request: &Request) -> Result<Option<CompiledOutput>, EncodeError> {
    let Some(output) = request.compiled_output(&Target::ANTHROPIC_OUTPUT)? else {
        return Ok(None);
    };
    let mut name = output.name().to_owned();
    while request.tools.has_wire_name(&name) {
        name.push('_');
    }
    Ok(Some(output.by_tool(name)))
}

/// The body of a request. What grows comes last, so that a request starts like the one before.
pub(crate) fn body<'a>(
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
) -> Result<(Object<'a>, Vec<Omitted>), EncodeError> {
    let mut writer = Writer::new(&request.tools, request.limits.media_bytes);
    writer.turns(request.conversation.turns());
    writer.begin_with_user();
    let mut omitted = std::mem::take(&mut writer.omitted);
    let points = place(request, &mut writer, &mut omitted);
    let messages = writer.into_messages();
    if messages.is_empty() {
        return Err(EncodeError::Empty);
    }
    let options = &request.options;
    let inference = Object::default()
        .maybe("maxTokens", options.max_output_tokens)
        .maybe("temperature", options.temperature)
        .maybe("topP", options.top_p)
        .filled("stopSequences", options.stop.as_slice());
    let fields = model_fields(request, &mut omitted);
    let body = Object::default()
        .filled("inferenceConfig", inference)
        .filled("additionalModelRequestFields", fields);
    let body = tools(body, request, output, points.tools, &mut omitted)?;
    let system = request.conversation.system().map(|text| {
        let mut blocks = vec![Object::default().set("text", text)];
        blocks.extend(points.system.then(cache_point));
        blocks
    });
    let body = body.maybe("system", system).set("messages", messages);
    Ok((body, omitted))
}

fn is_claude(model: &str) -> bool {
    model.contains("anthropic.")
}

/// What only some models know. Claude thinks in the words of its own API.
fn model_fields<'a>(request: &Request, omitted: &mut Vec<Omitted>) -> Object<'a> {
    let Options {
        seed,
        top_k,
        effort,
        thinking_tokens,
        show_thoughts,
        parallel_tool_calls,
        ..
    } = &request.options;
    let claude = is_claude(&request.model);
    let unknown = [
        ("seed", seed.is_some()),
        ("top_k", top_k.is_some() && !claude),
        ("effort", effort.is_some() && !claude),
        ("thinking_tokens", thinking_tokens.is_some() && !claude),
        ("show_thoughts", show_thoughts.is_some()),
        ("parallel_tool_calls", *parallel_tool_calls == Some(false)),
    ];
    omitted.extend(Omitted::options(&unknown));
    if !claude {
        return Object::default();
    }
    let (thinking, effort) = generation::thinking(&request.model, &request.options, omitted);
    let config = Object::default().maybe("effort", effort);
    Object::default()
        .maybe("top_k", *top_k)
        .maybe("thinking", thinking)
        .filled("output_config", config)
}

/// A tool's definition.
pub(crate) fn definition(tool: &CompiledTool) -> Object<'_> {
    let empty = || typed("object").set("properties", Object::default()).into();
    let schema: Json<'_> = tool.schema.as_ref().map_or_else(empty, Json::from);
    spec(&tool.wire_name, tool.description.as_deref(), schema)
}

fn spec<'a>(name: &'a str, description: Option<&'a str>, schema: Json<'a>) -> Object<'a> {
    let spec = Object::default()
        .set("name", name)
        .maybe("description", description.filter(|text| !text.is_empty()))
        .set("inputSchema", Object::default().set("json", schema));
    Object::default().set("toolSpec", spec)
}

fn tools<'a>(
    body: Object<'a>,
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
    cached: bool,
    omitted: &mut Vec<Omitted>,
) -> Result<Object<'a>, EncodeError> {
    let choice = request.checked_choice()?.unwrap_or(&ToolChoice::None);
    let called = called(request);
    let mut sent: Vec<&CompiledTool> = request.tools.compiled().iter().collect();
    match choice {
        // The wire cannot forbid calls: tools are withheld, unless the conversation has calls, which
        // are refused without them.
        ToolChoice::None if called.is_empty() => sent.clear(),
        ToolChoice::None if !sent.is_empty() => omitted.push(Omitted::Option("choice")),
        ToolChoice::Among(names) => sent.retain(|tool| names.contains(&tool.name)),
        _ => {}
    }
    let mut list: Vec<Object<'_>> = sent.iter().map(|tool| definition(tool)).collect();
    let answer = output.and_then(|output| Some((output, output.tool()?)));
    if let Some((output, name)) = answer {
        let text = "Answers the user. Always answer by calling this tool.";
        list.push(spec(name, Some(text), output.schema().into()));
    }
    // Calls of tools that are gone are refused unless some tool is there.
    if list.is_empty() {
        let gone = called.into_iter().map(|name| {
            let schema = typed("object").set("properties", Object::default());
            let spec = Object::default()
                .set("name", name)
                .set("description", "No longer available.")
                .set("inputSchema", Object::default().set("json", schema));
            Object::default().set("toolSpec", spec)
        });
        list.extend(gone);
    }
    if list.is_empty() {
        return Ok(body);
    }
    if cached {
        list.push(cache_point());
    }
    // Claude that thinks by a budget cannot be forced to call.
    let free = request.options.thinking_tokens.is_some() && is_claude(&request.model);
    let forced = match (choice, answer) {
        (ToolChoice::None, Some((_, name))) if sent.is_empty() => {
            Some(Object::default().set("tool", Object::default().set("name", name)))
        }
        (ToolChoice::Tool(name), _) => {
            let name = request.tools.wire_name(name);
            Some(Object::default().set("tool", Object::default().set("name", name)))
        }
        (ToolChoice::Required, _) | (_, Some(_)) => {
            Some(Object::default().set("any", Object::default()))
        }
        _ => None,
    };
    if free && forced.is_some() && answer.is_none() {
        omitted.push(Omitted::Option("choice"));
    }
    let config = Object::default()
        .set("tools", list)
        .maybe("toolChoice", forced.filter(|_| !free));
    Ok(body.set("toolConfig", config))
}

/// The wire names of all tools that were called.
fn called(request: &Request) -> BTreeSet<String> {
    let turns = request.conversation.turns().iter();
    let calls = turns.filter_map(|turn| match turn {
        Turn::Assistant(turn) => Some(turn.calls()),
        _ => None,
    });
    calls
        .flatten()
        .map(|call| request.tools.wire_name(&call.name))
        .collect()
}

/// Where breakpoints follow the tools, and the instructions.
struct Points {
    tools: bool,
    system: bool,
}

/// A breakpoint: a block of its own.
pub(crate) fn cache_point<'a>() -> Object<'a> {
    Object::default().set("cachePoint", typed("default"))
}

/// Whether a model takes breakpoints, as far as it is known. One that does not refuses the request.
fn caches(model: &str) -> Option<bool> {
    const OLD: [&str; 7] = [
        "claude-v2",
        "claude-instant",
        "claude-3-opus",
        "claude-3-sonnet",
        "claude-3-haiku",
        "claude-3-5-sonnet-20240620",
        "amazon.titan",
    ];
    if OLD.iter().any(|name| model.contains(name)) {
        return Some(false);
    }
    (is_nova(model) || is_claude(model)).then_some(true)
}

fn is_nova(model: &str) -> bool {
    model.contains("amazon.nova")
}

/// Places the breakpoints in the messages and decides on the others. Without being asked, only for
/// models that are known to cache.
fn place(request: &Request, writer: &mut Writer<'_>, omitted: &mut Vec<Omitted>) -> Points {
    let (nova, caches) = (is_nova(&request.model), caches(&request.model));
    let mut points = match &request.cache {
        Cache::Breakpoints(points) if caches == Some(false) => {
            omitted.extend((!points.is_empty()).then_some(Omitted::Option("cache")));
            Vec::new()
        }
        Cache::Auto if caches == Some(true) => {
            writer.mark_last_users(2);
            return Points {
                // Nova caches instructions and messages alone.
                tools: !nova,
                system: true,
            };
        }
        Cache::Off | Cache::Auto => Vec::new(),
        Cache::Breakpoints(points) => points.clone(),
    };
    points.sort_unstable();
    points.dedup();
    if points.len() > MAX_BREAKPOINTS {
        omitted.push(Omitted::Option("cache"));
        points.drain(..points.len() - MAX_BREAKPOINTS);
    }
    let turns = points.iter().filter_map(|point| match point {
        CachePoint::Turn(at) => Some(*at),
        _ => None,
    });
    // From the end, so that no place moves.
    for at in turns.rev() {
        writer.mark_turn(at);
    }
    Points {
        tools: points.contains(&CachePoint::Tools),
        system: points.contains(&CachePoint::System),
    }
}
