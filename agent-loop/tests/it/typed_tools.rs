//! Tools whose arguments are Rust types.

use std::fmt;

use agent_loop::testing::ScriptedModel;
use agent_loop::{Agent, LocalTools, Status, Toolbox as _};
use mcp_jsonrpc::Json;
use mcp_jsonrpc::model::ContentBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kit::{auto, drive, ends, results};

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city's name.
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(JsonSchema, Serialize)]
struct Report {
    degrees: i32,
}

#[derive(Debug)]
struct NoSuchCity;

impl fmt::Display for NoSuchCity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such city")
    }
}

fn tools() -> LocalTools {
    LocalTools::new("local")
        .tool(
            "weather",
            "The weather of a city.",
            |it: Weather| async move {
                match it.city.as_str() {
                    "Paris" => Ok(Json(Report { degrees: 21 })),
                    _ => Err(NoSuchCity),
                }
            },
        )
        .read_only()
        .tool("text", "Text.", |_: Nothing| async { "plain".to_owned() })
        .tool("value", "A value.", |_: Nothing| async { json!([1, 2]) })
        .tool("blocks", "Blocks.", |_: Nothing| async {
            vec![ContentBlock::text("block")]
        })
        .tool("nothing", "Nothing.", |_: Nothing| async {})
}

#[tokio::test]
async fn a_types_schema_and_doc_comments_describe_the_tool() {
    let listed = tools().tools().await;
    let weather = &listed[0];
    assert!(weather.is_read_only());
    assert!(!listed[1].is_read_only());
    assert!(weather.fingerprint.starts_with("sha256:"));
    insta::assert_snapshot!(weather.input_schema.get());
}

#[tokio::test]
async fn every_kind_of_return_value_becomes_a_result_and_an_error_a_failed_one() {
    let model = ScriptedModel::new()
        .calls([
            ("weather", json!({"city": "Paris"})),
            ("weather", json!({"city": "Atlantis"})),
            ("weather", json!({"town": "Paris"})),
            ("text", json!({})),
            ("value", json!({})),
            ("blocks", json!({})),
            ("nothing", json!({})),
        ])
        .says("Done.");
    let agent = Agent::new(model).tools(tools());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    use Status::{Done, Error};
    assert_eq!(ends(&run), [Done, Error, Error, Done, Done, Done, Done]);
    let results = results(&run);
    assert_eq!(results[0], r#"{"degrees":21}"#);
    assert_eq!(results[1], "there is no such city");
    assert!(results[2].contains("was not called"), "{}", results[2]);
    assert_eq!(results[3..], ["plain", "[1,2]", "block", ""]);
    let record = &run.records()[0];
    let response = record.response.as_ref().unwrap().get();
    assert!(
        response.contains(r#""structuredContent":{"degrees":21}"#),
        "{response}"
    );
}
