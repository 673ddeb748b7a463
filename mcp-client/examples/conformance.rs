//! The client under test of the official conformance suites: it decides which calls to make, and leaves all protocol
//! work to the library.
//!
//! `conformance URL`, with `MCP_CONFORMANCE_SCENARIO` and, for some scenarios, `MCP_CONFORMANCE_PROTOCOL_VERSION` and
//! `MCP_CONFORMANCE_CONTEXT` in the environment.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_auth::{
    Algorithm, Assertion, EnterpriseLogin, HostAuthorizer, OAuth, PrivateKey, RegisteredClient,
};
use mcp_client::{
    Client, ClientBuilder, EraMode, Host, HostCapabilities, HostError, ServerRequest, SkillError,
};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitResult, Root, extension,
};
use mcp_jsonrpc::{RawJson, RawObject, Revision};
use mcp_transport::HttpConfig;
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// The harness waits forever for a client that hangs.
const LIMIT: Duration = Duration::from_secs(25);
/// The URL at which the suite pretends our client metadata is published.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    tokio::time::timeout(LIMIT, play()).await?
}

async fn play() -> Outcome {
    let url = std::env::args().next_back().unwrap_or_default();
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    let client = connect(&url, &scenario, &context).await?;
    let outcome = calls(&client, &scenario, &context).await;
    client.close().await;
    outcome
}

async fn connect(
    url: &str,
    scenario: &str,
    context: &Value,
) -> Result<Client, Box<dyn Error + Send + Sync>> {
    let mut config = HttpConfig::new(url)?;
    if scenario.starts_with("auth/") {
        config = config.with_auth(Arc::new(oauth(url, scenario, context)?));
    }
    let mode = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        Ok(version) if version.parse::<Revision>()?.is_modern() => {
            EraMode::Pinned(version.parse()?)
        }
        Ok(_) => EraMode::Legacy,
        Err(_) => EraMode::Auto,
    };
    let capabilities = HostCapabilities::default()
        .with_forms()
        .with_sampling()
        .with_roots();
    let builder = ClientBuilder::new(config.into_connect()?)
        .name("conformance")
        .era(mode)
        .host(Agreeable, capabilities)
        .extension(extension::SKILLS, RawObject::empty());
    Ok(builder.connect().await?)
}

/// Everything a scenario may require; the library decides which parts to send to the server.
fn oauth(
    url: &str,
    scenario: &str,
    context: &Value,
) -> Result<OAuth, Box<dyn Error + Send + Sync>> {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let login = HostAuthorizer::new("http://localhost:3000/callback", |login| async move {
        let browser = mcp_transport::client_builder()?
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let page = browser.get(&login.url).send().await?;
        let location = page.headers().get("location");
        Ok(location.ok_or("no redirect")?.to_str()?.to_owned())
    });
    let mut builder = OAuth::builder(url)
        .client_name("conformance")
        .client_document(CLIENT_DOCUMENT)
        .authorizer(Arc::new(login));
    if let Some(id) = text("client_id") {
        let mut client = RegisteredClient::new(id);
        if let Some(secret) = text("client_secret") {
            client = client.with_secret(secret);
        }
        if let Some(issuer) = text("issuer") {
            client = client.with_issuer(issuer);
        }
        if let (Some(pem), Some(name)) = (text("private_key_pem"), text("signing_algorithm")) {
            let algorithm = Algorithm::from_name(&name).ok_or("unknown algorithm")?;
            client = client.with_private_key(PrivateKey::from_pem(&pem, algorithm)?);
        }
        builder = builder.registered_client(client);
    }
    if let (Some(endpoint), Some(id), Some(token)) = (
        text("idp_token_endpoint"),
        text("idp_client_id"),
        text("idp_id_token"),
    ) {
        let employee = RegisteredClient::new(id);
        builder = builder.enterprise(EnterpriseLogin::new(
            endpoint,
            employee,
            Assertion::fixed(token),
        ));
    } else if let Some(token) = text("valid_jwt") {
        builder = builder.workload_identity(Assertion::fixed(token));
    } else if scenario.starts_with("auth/client-credentials") {
        builder = builder.client_credentials();
    }
    Ok(builder.build()?)
}

async fn calls(client: &Client, scenario: &str, context: &Value) -> Outcome {
    let nothing = json!({});
    match scenario {
        // These servers support more than they advertise, and expect requests for it.
        "initialize" | "request-metadata" => {
            client.request_raw("tools/list", &nothing).await?;
        }
        "json-schema-ref-no-deref" => drop(client.list_tools().await?),
        "tools_call" => {
            client.list_tools().await?;
            client
                .call_tool("add_numbers", json!({"a": 5, "b": 3}))
                .await?;
        }
        "elicitation-sep1034-client-defaults" => {
            client.list_tools().await?;
            client
                .call_tool("test_client_elicitation_defaults", &nothing)
                .await?;
        }
        "sse-retry" => {
            client.list_tools().await?;
            client.call_tool("test_reconnection", &nothing).await?;
        }
        "http-standard-headers" => standard_headers(client).await?,
        "http-custom-headers" => {
            client.list_tools().await?;
            for call in context["toolCalls"].as_array().into_iter().flatten() {
                let name = call["name"].as_str().unwrap_or_default();
                client.call_tool(name, &call["arguments"]).await?;
            }
        }
        "json-schema-2020-12-preservation" => echo_schema(client).await?,
        name if name.starts_with("sep-2640-") => skills(client, name).await?,
        // All other scenarios: everything the library shows is called.
        _ => {
            for tool in client.list_tools().await?.items {
                client.call_tool(&tool.name, &nothing).await?;
            }
        }
    }
    Ok(())
}

async fn standard_headers(client: &Client) -> Outcome {
    for tool in client.list_tools().await?.items {
        client.call_tool(&tool.name, json!({})).await?;
    }
    for resource in client.list_resources().await?.items {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await?.items {
        client.get_prompt(&prompt.name, [("", ""); 0]).await?;
    }
    Ok(())
}

async fn echo_schema(client: &Client) -> Outcome {
    let tools = client.list_tools().await?.items;
    let tool = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema: RawJson = tool.ok_or("no such tool")?.input_schema.clone().into();
    client
        .call_tool("json_schema_echo", json!({"schema": schema}))
        .await?;
    Ok(())
}

async fn skills(client: &Client, scenario: &str) -> Outcome {
    for skill in client.list_skills().await?.items {
        if scenario == "sep-2640-client-no-prefetch" {
            continue;
        }
        match client.load_skill(&skill).await {
            Ok(loaded) => drop(loaded.read("references/FORMS.md").await),
            Err(SkillError::Mismatch { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Accepts every question, fills in nothing, and leaves the defaults to the library.
struct Agreeable;

#[async_trait]
impl Host for Agreeable {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let form = serde_json::to_value(&question.params.requested_schema).unwrap_or_default();
        let asks = |key: &str| form.pointer(&format!("/properties/{key}")).is_some();
        let yes = ["confirmed", "confirm"].into_iter().filter(|key| asks(key));
        let answer = yes.map(|key| (key.to_owned(), true.into())).collect();
        Ok(ElicitResult::accept(answer))
    }

    async fn sample(
        &self,
        _: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        Err(HostError::Unsupported)
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        Ok(Vec::new())
    }
}
