//! `server-memory`: a graph that is changed, watched, and kept for the next process.

use mcp_client::{ClientEvent, EraMode};
use mcp_jsonrpc::model::{Subscribe, SubscribeParams};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::installed::node;
use crate::session::{Session, structured};

#[tokio::test]
async fn a_graph_is_built_searched_watched_and_kept() {
    let folder = Folder::new("memory");
    let mut session = start(&folder).await;
    let ada = |observations: &[&str]| json!({"name": "Ada", "entityType": "person", "observations": observations});
    let engine = json!({"name": "Engine", "entityType": "machine", "observations": []});
    let programs = json!({"from": "Ada", "to": "Engine", "relationType": "programs"});

    let entities = json!({"entities": [ada(&["wrote note G"]), engine]});
    let created = session.call("create_entities", entities.clone()).await;
    assert_eq!(structured(&created), entities);
    let relations = json!({"relations": [programs]});
    let created = session.call("create_relations", relations.clone()).await;
    assert_eq!(structured(&created), relations);

    let resources = session.client.list_resources().await.unwrap().items;
    assert_eq!(resources[0].name, "knowledge-graph");
    let uri = resources[0].uri.clone();
    let params = SubscribeParams::new(&uri);
    session.client.request::<Subscribe>(&params).await.unwrap();
    let observations = json!([{"entityName": "Ada", "contents": ["likes numbers"]}]);
    session
        .call("add_observations", json!({"observations": observations}))
        .await;
    let updated = ClientEvent::ResourceUpdated { uri: uri.clone() };
    session
        .event(|event| (event == updated).then_some(()))
        .await;

    let ada = ada(&["wrote note G", "likes numbers"]);
    let graph = json!({"entities": [ada, engine], "relations": [programs]});
    let read = session.client.read_resource(&uri).await.unwrap();
    let text = read.contents[0].text.as_deref().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), graph);
    let found = session.call("search_nodes", json!({"query": "ada"})).await;
    assert_eq!(structured(&found)["entities"], json!([ada]));
    session.close().await;

    let session = start(&folder).await;
    let read = session.call("read_graph", json!({})).await;
    assert_eq!(structured(&read), graph);
    session
        .call("delete_entities", json!({"entityNames": ["Engine"]}))
        .await;
    let read = session.call("read_graph", json!({})).await;
    assert_eq!(
        structured(&read),
        json!({"entities": [ada], "relations": []})
    );
    session.close().await;
}

async fn start(folder: &Folder) -> Session {
    let command = node("server-memory").with_env("MEMORY_FILE_PATH", folder.path("graph.jsonl"));
    Session::start(command, EraMode::Auto).await
}
