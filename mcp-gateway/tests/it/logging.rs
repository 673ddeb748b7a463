//! Log messages reach the client whose call they are of, and sessions that want them.

use std::sync::Arc;

use mcp_client::{CallOptions, Client, ClientEvent, EraMode};
use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{Implementation, LogMessageParams, LoggingLevel};
use mcp_server::{Context, Eras, Server, Service};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::kit::{CELLS, any, connect, gateway, listen, until};

/// A server whose tool logs at three levels.
fn chatty(eras: Eras) -> Service {
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("chat"), |arguments: Value, cx: Context| async move {
            for level in [LoggingLevel::Debug, LoggingLevel::Info, LoggingLevel::Error] {
                let mut message = LogMessageParams::new(level, raw(&arguments["who"]));
                message.logger = Some("chat".to_owned());
                cx.log_message(&message);
                tokio::task::yield_now().await;
            }
            "done"
        })
        .eras(eras)
        .build()
}

fn raw(value: &Value) -> RawJson {
    RawJson::from_serialize(value).unwrap()
}

type Heard = Arc<Mutex<Vec<String>>>;

/// Calls the tool as a client that wants messages of `level`, and returns what it heard.
async fn hear(client: &Client, era: EraMode, level: LoggingLevel, who: &str) -> Vec<String> {
    let heard = Heard::default();
    let noted = Arc::clone(&heard);
    if era == EraMode::Legacy {
        client.set_log_level(level).await.unwrap();
    }
    let options = CallOptions::default()
        .with_log_level(level)
        .with_log(move |message| {
            let logger = message.logger.unwrap_or_default();
            let text = format!("{logger} {} {}", message.level.as_str(), message.data.get());
            noted.lock().push(text);
        });
    let call = client.with(options);
    call.call_tool("up__chat", json!({"who": who}))
        .await
        .unwrap();
    let heard = heard.lock().clone();
    heard
}

#[tokio::test]
async fn each_client_hears_of_its_own_calls_from_its_own_level_on_in_all_four_cells() {
    for (client_era, server_era) in CELLS {
        let upstream = chatty(server_era);
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (all, _) = connect(gateway.service(), client_era).await;
        let (few, _) = connect(gateway.service(), client_era).await;
        let cell = format!("{client_era:?} {server_era:?}");
        assert!(few.server().capabilities.logging.is_some(), "{cell}");
        let errors = hear(&few, client_era, LoggingLevel::Error, "few").await;
        assert_eq!(errors, ["chat error \"few\""], "{cell}");
        let everything = hear(&all, client_era, LoggingLevel::Debug, "all").await;
        let expected = [
            "chat debug \"all\"",
            "chat info \"all\"",
            "chat error \"all\"",
        ];
        assert_eq!(everything, expected, "{cell}");
        let errors = hear(&few, client_era, LoggingLevel::Error, "few").await;
        assert_eq!(
            errors,
            ["chat error \"few\""],
            "{cell}: the level is its own"
        );
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_message_outside_of_calls_reaches_the_sessions_that_want_its_level() {
    let upstream = chatty(Eras::Legacy);
    let gateway = gateway(&[("up", None, &upstream)]).await;
    let listening = |level: LoggingLevel| {
        let (heard, service) = (Heard::default(), gateway.service().clone());
        async move {
            let noted = Arc::clone(&heard);
            let client = Client::builder(listen(&service))
                .era(EraMode::Legacy)
                .on_event(move |event| {
                    if let ClientEvent::Log(message) = event {
                        noted.lock().push(message.level.as_str().to_owned());
                    }
                    std::future::ready(())
                })
                .connect()
                .await
                .unwrap();
            client.set_log_level(level).await.unwrap();
            (client, heard)
        }
    };
    let (_some, warned) = listening(LoggingLevel::Warning).await;
    let (_all, informed) = listening(LoggingLevel::Debug).await;
    let log = |level| {
        let message = LogMessageParams::new(level, raw(&json!("x")));
        upstream.notifier().log(message);
    };
    log(LoggingLevel::Info);
    log(LoggingLevel::Error);
    until(|| informed.lock().len() == 2 && warned.lock().len() == 1).await;
    assert_eq!(*warned.lock(), ["error"]);
    gateway.shutdown().await;
}
