//! Tools and prompts that ask the client.

use std::error::Error;

use mcp_jsonrpc::model::{
    CreateMessageParams, ElicitFormParams, FormSchema, Prompt, Role, SamplingMessage, TextContent,
};
use mcp_server::{Context, Roots, Server};
use serde_json::{Value, json};

use crate::content::text;
use crate::{plain, strings};

/// A form with these properties.
pub(crate) fn form(message: &str, properties: Value, required: &[&str]) -> ElicitFormParams {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let schema: FormSchema = serde_json::from_value(schema)
        .unwrap_or_else(|_| FormSchema::new(mcp_jsonrpc::OrderedMap::new()));
    ElicitFormParams::new(message, schema)
}

fn name_form() -> ElicitFormParams {
    form(
        "What is your name?",
        json!({"name": {"type": "string"}}),
        &["name"],
    )
}

fn sampling(prompt: &str) -> CreateMessageParams {
    let message = SamplingMessage::new(Role::User, TextContent::new(prompt));
    CreateMessageParams::new(vec![message], 100)
}

type Asked = Result<String, mcp_server::Error>;

async fn ask_name(cx: &Context) -> Asked {
    let answer = cx.ask("user_name", name_form()).await?;
    let name = answer
        .content
        .as_ref()
        .and_then(|it| it.get("name")?.as_str().map(str::to_owned));
    Ok(format!(
        "Hello, {}!",
        name.unwrap_or_else(|| "stranger".to_owned())
    ))
}

async fn ask_model(cx: &Context, prompt: &str) -> Asked {
    let answer = cx.ask("model", sampling(prompt)).await?;
    Ok(format!(
        "The model said: {}",
        serde_json::to_string(&answer.content)?
    ))
}

async fn ask_roots(cx: &Context) -> Asked {
    Ok(format!(
        "{} roots",
        cx.ask("roots", Roots::new()).await?.len()
    ))
}

async fn ask_two_rounds(cx: &Context) -> Asked {
    let first = cx.ask("step1", name_form()).await?;
    let color = form(
        "Which color?",
        json!({"color": {"type": "string"}}),
        &["color"],
    );
    let second = cx.ask("step2", color).await?;
    Ok(format!("{:?}, {:?}", first.content, second.content))
}

/// Three questions at once.
async fn ask_three(cx: &Context) -> Asked {
    let (name, model, roots) = tokio::join!(
        cx.ask("user_name", name_form()),
        cx.ask("greeting", sampling("Greet the user")),
        cx.ask("client_roots", Roots::new()),
    );
    Ok(format!(
        "{:?}, {}, {} roots",
        name?.content,
        model?.model,
        roots?.len()
    ))
}

/// Asks only the questions this client supports.
async fn ask_what_is_declared(cx: &Context) -> Asked {
    let can = cx.client_capabilities();
    let (forms, models) = (can.elicitation.is_some(), can.sampling.is_some());
    let mut said = Vec::new();
    if forms {
        said.push(ask_name(cx).await?);
    }
    if models {
        said.push(ask_model(cx, "Greet the user").await?);
    }
    Ok(said.join(" "))
}

/// Adds them all.
pub(crate) fn add(server: Server) -> Result<Server, Box<dyn Error>> {
    let name = "test_input_required_result";
    let named = |kind: &str| plain(&format!("{name}_{kind}"), "Asks before it answers");
    let server = server
        .tool_with_schema(
            strings("test_sampling", "Asks the client's model", &["prompt"])?,
            |arguments: Value, cx: Context| async move {
                ask_model(&cx, arguments["prompt"].as_str().unwrap_or_default()).await
            },
        )
        .tool_with_schema(
            strings("test_elicitation", "Asks the user", &["message"])?,
            |arguments: Value, cx: Context| async move {
                let message = arguments["message"].as_str().unwrap_or_default();
                let fields = json!({
                    "username": {"type": "string", "description": "The user's name"},
                    "email": {"type": "string", "description": "The user's e-mail address"},
                });
                let form = form(message, fields, &["username", "email"]);
                let answer = cx.ask("user", form).await?;
                Asked::Ok(format!(
                    "The user said: {}",
                    serde_json::to_string(&answer)?
                ))
            },
        )
        .tool_with_schema(
            plain("test_elicitation_sep1034_defaults", "Asks with defaults")?,
            |_: Value, cx: Context| async move { ask_form(&cx, defaults()).await },
        )
        .tool_with_schema(
            plain("test_elicitation_sep1330_enums", "Asks with choices")?,
            |_: Value, cx: Context| async move { ask_form(&cx, choices()).await },
        )
        .tool_with_schema(
            plain("test_missing_capability", "Needs a client with sampling")?,
            |_: Value, cx: Context| async move { ask_model(&cx, "Hello").await },
        )
        .tool_with_schema(
            plain("test_streaming_elicitation", "Asks the user")?,
            |_: Value, cx: Context| async move { ask_name(&cx).await },
        )
        .tool_with_schema(named("elicitation")?, |_: Value, cx| async move {
            ask_name(&cx).await
        })
        .tool_with_schema(named("sampling")?, |_: Value, cx| async move {
            ask_model(&cx, "What is the capital of France?").await
        })
        .tool_with_schema(named("list_roots")?, |_: Value, cx| async move {
            ask_roots(&cx).await
        })
        .tool_with_schema(named("request_state")?, |_: Value, cx| async move {
            let agree = form("Continue?", json!({"ok": {"type": "boolean"}}), &["ok"]);
            ask_form(&cx, agree).await
        })
        .tool_with_schema(named("tampered_state")?, |_: Value, cx| async move {
            ask_name(&cx).await
        })
        .tool_with_schema(named("multiple_inputs")?, |_: Value, cx| async move {
            ask_three(&cx).await
        })
        .tool_with_schema(named("multi_round")?, |_: Value, cx| async move {
            ask_two_rounds(&cx).await
        })
        .tool_with_schema(named("capabilities")?, |_: Value, cx| async move {
            ask_what_is_declared(&cx).await
        });
    let mut prompt = Prompt::new(format!("{name}_prompt"));
    prompt.description = Some("Asks before it is filled in".to_owned());
    Ok(server.prompt(prompt, |_, cx: Context| async move {
        let fields = json!({"context": {"type": "string"}});
        let answer = cx
            .ask("context", form("In which context?", fields, &["context"]))
            .await?;
        Asked::Ok(format!(
            "Context: {}",
            serde_json::to_string(&answer.content)?
        ))
    }))
}

async fn ask_form(
    cx: &Context,
    form: ElicitFormParams,
) -> Result<mcp_jsonrpc::model::CallToolResult, mcp_server::Error> {
    let answer = cx.ask("form", form).await?;
    Ok(text(format!(
        "The user said: {}",
        serde_json::to_string(&answer)?
    )))
}

fn defaults() -> ElicitFormParams {
    let fields = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    form("Check your profile", fields, &[])
}

fn choices() -> ElicitFormParams {
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    let fields = json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    });
    form("Choose", fields, &[])
}
