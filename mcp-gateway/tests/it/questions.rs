//! Questions of upstream servers reach the client whose call caused them, in all four cells.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_client::Client;
use serde_json::json;

use crate::kit::{Alive, CELLS, connect, gateway, listen, server, text, until};

#[tokio::test]
async fn every_kind_of_question_is_answered_in_all_four_cells_and_no_call_runs_twice() {
    for (client_era, server_era) in CELLS {
        let runs = Arc::new(AtomicUsize::new(0));
        let upstream = server(server_era, &runs, &Alive::default()).build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (client, host) = connect(gateway.service(), client_era).await;
        let cell = format!("{client_era:?} {server_era:?}");
        let result = client.call_tool("up__ask_all", json!({})).await.unwrap();
        assert_eq!(text(&result), "Ann model 1 Accept", "{cell}");
        assert_eq!(host.0.load(Ordering::SeqCst), 4, "{cell}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{cell}");
        let none: [(&str, &str); 0] = [];
        let prompt = client.get_prompt("up__greet", none).await.unwrap();
        assert_eq!(
            prompt.messages[0].content.as_text(),
            Some("Greet Ann"),
            "{cell}"
        );
        let note = client.read_resource("test://note").await.unwrap();
        assert_eq!(note.contents[0].text.as_deref(), Some("by Ann"), "{cell}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_gets_an_error_and_the_server_goes_on() {
    for (client_era, server_era) in CELLS {
        let runs = Arc::new(AtomicUsize::new(0));
        let upstream = server(server_era, &runs, &Alive::default()).build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let client = Client::builder(listen(gateway.service()))
            .era(client_era)
            .connect()
            .await
            .unwrap();
        let cell = format!("{client_era:?} {server_era:?}");
        match client.call_tool("up__ask_all", json!({})).await {
            Ok(result) => assert!(result.failed(), "{cell}: {result:?}"),
            Err(error) => assert!(error.peer().is_some(), "{cell}: {error}"),
        }
        let after = client.call_tool("up__zeta", json!({"a": 1})).await.unwrap();
        assert_eq!(text(&after), r#"{"a":1}"#, "{cell}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_upstream_in_all_four_cells() {
    for (client_era, server_era) in CELLS {
        let alive = Alive::default();
        let upstream = server(server_era, &Arc::default(), &alive).build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let calling = {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("up__hang", json!({})).await })
        };
        until(|| alive.count() == 1).await;
        calling.abort();
        until(|| alive.count() == 0).await;
        gateway.shutdown().await;
    }
}
