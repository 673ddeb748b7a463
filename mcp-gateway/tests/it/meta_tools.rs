//! Long lists of tools and long results: `tool_search`, `tool_call` and `read_output`.

use mcp_client::Client;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Implementation, Tool};
use mcp_server::{Context, Server, Service};
use serde_json::{Value, json};

use crate::kit::{CELLS, MODERN, any, connect, gateway_with, text};

fn big() -> Service {
    let mut weather = Tool::new(
        "forecast",
        RawObject::from_serialize(&json!({
            "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        }))
        .unwrap(),
    );
    weather.description = Some("Tells the weather of tomorrow".to_owned());
    let server = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(weather, |arguments: Value, _: Context| async move {
            format!("Sun in {}", arguments["city"].as_str().unwrap_or_default())
        })
        .tool_with_schema(any("long"), |arguments: Value, _: Context| async move {
            "ü".repeat(arguments["count"].as_u64().unwrap_or_default() as usize)
        });
    let filler = (0..50).map(|it| any(&format!("filler_{it}")));
    filler
        .fold(server, |server, tool| {
            server.tool_with_schema(tool, |_: Value, _: Context| async {})
        })
        .build()
}

async fn names(client: &Client) -> Vec<String> {
    let listed = client.list_tools().await.unwrap();
    listed.items.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn a_long_list_is_searched_and_called_by_two_tools_and_a_short_one_is_listed() {
    let upstream = big();
    for (above, lazy) in [(1_000, true), (1_000_000, false)] {
        let servers = [("up", None, &upstream)];
        let gateway = gateway_with(&servers, |it| it.lazy_tools(above)).await;
        for (era, _) in CELLS {
            let (client, _) = connect(gateway.service(), era).await;
            if !lazy {
                assert_eq!(names(&client).await.len(), 52);
                continue;
            }
            let tools = client.list_tools().await.unwrap().items;
            let hints = tools.iter().map(|tool| {
                let annotations = tool.annotations.clone().unwrap_or_default();
                (tool.name.as_str(), annotations.read_only_hint)
            });
            let hints: Vec<_> = hints.collect();
            let want = [("tool_search", Some(true)), ("tool_call", Some(false))];
            assert_eq!(hints, want);
            let query = json!({"query": "weather tomorrow"});
            let found = client.call_tool("tool_search", query).await.unwrap();
            let first = text(&found).lines().next().unwrap().to_owned();
            let first: Value = serde_json::from_str(&first).unwrap();
            assert_eq!(first["name"], "up__forecast");
            let call = |arguments: Value| {
                let client = client.clone();
                let call = json!({"name": "up__forecast", "arguments": arguments});
                async move { client.call_tool("tool_call", call).await.unwrap() }
            };
            assert_eq!(text(&call(json!({"city": "Rome"})).await), "Sun in Rome");
            for bad in [json!({}), json!({"city": 7})] {
                let refused = call(bad).await;
                assert!(refused.failed());
                assert!(text(&refused).contains("\"city\""), "{refused:?}");
            }
            // Whoever knows the name needs no search.
            let direct = client
                .call_tool("up__forecast", json!({"city": "Oslo"}))
                .await;
            assert_eq!(text(&direct.unwrap()), "Sun in Oslo");
        }
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_result_over_the_cap_is_read_piece_by_piece_and_one_below_it_passes_whole() {
    let upstream = big();
    let gateway = gateway_with(&[("up", None, &upstream)], |it| it.result_cap(1_000)).await;
    for (era, _) in CELLS {
        let (client, _) = connect(gateway.service(), era).await;
        assert!(names(&client).await.contains(&"read_output".to_owned()));
        let short = client.call_tool("up__long", json!({"count": 100})).await;
        assert_eq!(text(&short.unwrap()), "ü".repeat(100));
        let long = client.call_tool("up__long", json!({"count": 10_000})).await;
        let shown = text(&long.unwrap()).to_owned();
        let (head, note) = shown.split_once("\n[…").unwrap();
        let id = note.split('"').nth(1).unwrap();
        let mut whole = head.to_owned();
        while whole.len() < 20_000 {
            let read = json!({"id": id, "offset": whole.len(), "length": 7_001});
            let part = client.call_tool("read_output", read).await.unwrap();
            whole.push_str(text(&part).split_once("\n[…").unwrap().0);
        }
        assert_eq!(whole, "ü".repeat(10_000));
        let forged = json!({"id": format!("{id}x")});
        let refused = client.call_tool("read_output", forged).await.unwrap();
        assert!(refused.failed());
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn without_the_switches_the_names_are_those_of_the_servers() {
    let upstream = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("read_output"), |_: Value, _: Context| async { "mine" })
        .build();
    let gateway = gateway_with(&[("up", Some(""), &upstream)], |it| it).await;
    let (client, _) = connect(gateway.service(), MODERN).await;
    assert_eq!(names(&client).await, ["read_output"]);
    let own = client.call_tool("read_output", json!({})).await.unwrap();
    assert_eq!(text(&own), "mine");
    gateway.shutdown().await;
}
