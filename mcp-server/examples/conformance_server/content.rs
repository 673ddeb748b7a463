//! Tools, resources, prompts and skills that do not ask the client.

use std::error::Error;
use std::time::Duration;

use mcp_jsonrpc::model::{
    AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, LoggingLevel,
    Prompt, PromptArgument, PromptMessage, Resource, ResourceContents, ResourceTemplate, Role,
};
use mcp_server::{Context, Server, SkillBundle};
use serde_json::{Value, json};

use crate::{plain, strings, tool};

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A short silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

fn image() -> ContentBlock {
    ImageContent::new(PNG, "image/png").into()
}

fn embedded(uri: &str) -> ContentBlock {
    let mut contents = ResourceContents::new(uri);
    contents.mime_type = Some("text/plain".to_owned());
    contents.text = Some("An embedded resource.".to_owned());
    EmbeddedResource::new(contents).into()
}

/// Adds them all.
pub(crate) fn add(server: Server) -> Result<Server, Box<dyn Error>> {
    let server = server
        .tool_with_schema(
            plain("test_simple_text", "Returns text")?,
            |_: Value, _| async { "This is a simple text response for testing." },
        )
        .tool_with_schema(
            plain("test_image_content", "Returns an image")?,
            |_: Value, _| async { image() },
        )
        .tool_with_schema(
            plain("test_audio_content", "Returns audio")?,
            |_: Value, _| async { ContentBlock::from(AudioContent::new(WAV, "audio/wav")) },
        )
        .tool_with_schema(
            plain("test_embedded_resource", "Returns an embedded resource")?,
            |_: Value, _| async { embedded("test://embedded-resource") },
        )
        .tool_with_schema(
            plain(
                "test_multiple_content_types",
                "Returns several kinds of content",
            )?,
            |_: Value, _| async {
                vec![
                    ContentBlock::text("Several kinds:"),
                    image(),
                    embedded("test://mixed"),
                ]
            },
        )
        .tool_with_schema(
            plain("test_error_handling", "Always fails")?,
            |_: Value, _| async {
                Err::<(), _>(mcp_server::Error::failed("This tool fails, as it should."))
            },
        )
        .tool_with_schema(
            plain("test_tool_with_progress", "Reports progress")?,
            |_: Value, cx: Context| async move {
                for done in [0.0, 50.0, 100.0] {
                    cx.progress(done, Some(100.0), Some("working"));
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                "Done."
            },
        )
        .tool_with_schema(
            plain("test_tool_with_logging", "Logs while it works")?,
            |_: Value, cx: Context| async move { logs(&cx).await },
        )
        .tool_with_schema(
            plain("test_logging_tool", "Logs while it works")?,
            |_: Value, cx: Context| async move { logs(&cx).await },
        )
        .tool_with_schema(
            plain("test_reconnection", "Ends its stream before its result")?,
            |_: Value, cx: Context| async move {
                cx.release_stream();
                tokio::time::sleep(Duration::from_millis(100)).await;
                "The result came after the stream was closed."
            },
        )
        .tool_with_schema(json_schema_tool()?, |arguments: Value, _| async move {
            arguments.to_string()
        })
        .tool_with_schema(
            tool(
                "test_header_parameter",
                "Has a parameter that clients repeat in a header",
                &json!({
                    "type": "object",
                    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
                    "required": ["region"],
                }),
            )?,
            |arguments: Value, _| async move { arguments.to_string() },
        )
        .tool_with_schema(
            plain(
                "test_trigger_tool_change",
                "Announces that the tools changed",
            )?,
            |_: Value, cx: Context| async move {
                cx.notifier().tools_changed();
                "Announced."
            },
        )
        .tool_with_schema(
            plain(
                "test_trigger_prompt_change",
                "Announces that the prompts changed",
            )?,
            |_: Value, cx: Context| async move {
                cx.notifier().prompts_changed();
                "Announced."
            },
        )
        .tool_with_schema(
            strings("greet", "Greets", &["name"])?,
            |arguments: Value, _| async move {
                format!("Hello, {}!", arguments["name"].as_str().unwrap_or_default())
            },
        );
    let server = prompts(resources(server));
    Ok(server.skill(skill()?))
}

async fn logs(cx: &Context) -> &'static str {
    for step in ["started", "working", "finished"] {
        cx.log(LoggingLevel::Info, format!("The tool has {step}."));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    "Done."
}

fn json_schema_tool() -> Result<mcp_jsonrpc::model::Tool, Box<dyn Error>> {
    tool(
        "json_schema_2020_12_tool",
        "Has a schema with everything that must survive",
        &json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }),
    )
}

fn resource(uri: &str, name: &str, mime_type: &str) -> Resource {
    let mut resource = Resource::new(uri, name);
    resource.description = Some(format!("{name} for the suites"));
    resource.mime_type = Some(mime_type.to_owned());
    resource
}

fn resources(server: Server) -> Server {
    let mut template = ResourceTemplate::new("test://template/{id}/data", "template");
    template.description = Some("One resource for each id".to_owned());
    template.mime_type = Some("text/plain".to_owned());
    server
        .resource(
            resource("test://static-text", "static-text", "text/plain"),
            |_| async { "This is the content of the static text resource." },
        )
        .resource(
            resource("test://static-binary", "static-binary", "image/png"),
            |_| async { vec![0x89_u8, b'P', b'N', b'G'] },
        )
        .resource(
            resource("test://watched-resource", "watched-resource", "text/plain"),
            |_| async { "This resource can be watched." },
        )
        .resource_template(template, |variables, _| async move {
            format!(
                "The data of {}",
                variables.get("id").map_or("", String::as_str)
            )
        })
}

fn prompt(name: &str, arguments: &[&str]) -> Prompt {
    let mut prompt = Prompt::new(name);
    prompt.description = Some(format!("{name} for the suites"));
    if !arguments.is_empty() {
        let required = |&name: &&str| {
            let mut argument = PromptArgument::new(name);
            argument.required = Some(true);
            argument
        };
        prompt.arguments = Some(arguments.iter().map(required).collect());
    }
    prompt
}

fn prompts(server: Server) -> Server {
    server
        .prompt(prompt("test_simple_prompt", &[]), |_, _| async {
            "This is a simple prompt for testing.".to_owned()
        })
        .prompt(
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            |given, _| async move {
                let text = |name: &str| given.get(name).cloned().unwrap_or_default();
                format!(
                    "Prompt with arguments: arg1={}, arg2={}",
                    text("arg1"),
                    text("arg2")
                )
            },
        )
        .prompt(
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            |given, _| async move {
                let uri = given
                    .get("resourceUri")
                    .map_or("test://none", String::as_str);
                vec![
                    PromptMessage::new(Role::User, embedded(uri)),
                    PromptMessage::new(Role::User, ContentBlock::text("Read this resource.")),
                ]
            },
        )
        .prompt(prompt("test_prompt_with_image", &[]), |_, _| async {
            vec![
                PromptMessage::new(Role::User, image()),
                PromptMessage::new(Role::User, ContentBlock::text("Look at this image.")),
            ]
        })
        .completion(|params, _| async move {
            let typed = params.argument.value;
            Ok([format!("{typed}-one"), format!("{typed}-two")].to_vec())
        })
}

fn skill() -> Result<SkillBundle, Box<dyn Error>> {
    let manifest = "---\nname: greeting\ndescription: Greets people in their language\n---\n\
        # Greeting\n\nRead `phrases/phrases.md` and greet.\n";
    let files = [
        ("SKILL.md", manifest.as_bytes().to_vec()),
        (
            "phrases/phrases.md",
            b"# Phrases\n\nHello. Bonjour. Hallo.\n".to_vec(),
        ),
    ];
    SkillBundle::new("conformance/greeting", files).map_err(|error| error.to_string().into())
}

/// A result of one text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::text(text)])
}
