//! Real HTTP servers, in both eras.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::{CallError, HostError, Started};
use mcp_jsonrpc::model::{CallTool, ElicitResult, InputResponses};
use mcp_manager::{
    CallOptions, DefaultConnector, Elicitation, ElicitationHandler, Events, Manager, ManagerError,
    ManagerEvent, RemoteEndpoint, RemoteKind, ServerConfig, ServerState, Wait, flatten,
};
use mcp_testkit::{Ask, Era, Fault, Running, Script, Seen, Server, Step, TaskSupport, Tool};
use mcp_transport::StaticTokenAuth;
use serde_json::json;

use crate::fake::name;

async fn serve(script: Script, era: Era) -> Running {
    Server::new(script.only(era)).start_http().await.unwrap()
}

fn config(server: &Running) -> ServerConfig {
    ServerConfig::remote(name("kit"), RemoteEndpoint::new(server.url()))
}

async fn manager(server: &Running) -> Manager {
    let manager = Manager::builder().build();
    let startup = manager.connect_all([config(server)], Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    manager
}

async fn next(events: &mut Events, name: &str) -> ManagerEvent {
    loop {
        let event = events.next().await.unwrap();
        if event.name() == name {
            return event;
        }
    }
}

/// The HTTP methods of the requests that a server got.
fn verbs(server: &Running) -> Vec<String> {
    let verb = |event: mcp_testkit::Event| match event.seen {
        Seen::Http { method, .. } => Some(method),
        _ => None,
    };
    server.log().events().into_iter().filter_map(verb).collect()
}

#[tokio::test]
async fn what_worked_is_tried_first_next_time() {
    let server = serve(Script::standard(), Era::Legacy).await;
    let manager = Manager::builder().build();
    // It spoke HTTP+SSE once, and was upgraded since.
    let config = config(&server).with_last_kind(RemoteKind::Sse);
    let startup = manager.connect_all([config], Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    assert_eq!(verbs(&server)[0], "GET", "as it worked last");
    let before = verbs(&server).len();
    manager.close_one("kit").await.unwrap();
    manager.retry("kit").await.unwrap();
    let since = verbs(&server).split_off(before);
    let connecting: Vec<&str> = since.iter().map(String::as_str).collect();
    let first = connecting.iter().find(|verb| **verb != "DELETE");
    assert_eq!(first, Some(&"POST"), "as it worked now: {connecting:?}");
    manager.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_changed_list_reaches_the_catalogue_in_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let server = serve(Script::standard(), era).await;
        let manager = manager(&server).await;
        if era == Era::Modern {
            server.log().wait_for_method("subscriptions/listen").await;
        } else {
            server
                .log()
                .wait_for(
                    |event| matches!(&event.seen, Seen::Http { method, .. } if method == "GET"),
                )
                .await;
        }
        let mut events = manager.events();
        server.edit(|script| script.with_tool(Tool::new("brand_new")));
        server.list_changed("tools");
        while manager.catalog().tool("mcp__kit__brand_new").is_none() {
            next(&mut events, "mcp_catalog_changed").await;
        }
        manager.shutdown().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_refused_subscription_is_reported_and_the_lists_are_asked_for() {
    for fault in [
        "listen-401",
        "listen-404",
        "listen-202",
        "listen-503",
        "listen-reset",
    ] {
        let script = Script::standard().only(Era::Modern);
        let server = Server::new(script).with_fault(Fault::named(fault).unwrap());
        let server = server.start_http().await.unwrap();
        let manager = Manager::builder().build();
        let mut events = manager.events();
        manager.connect_all([config(&server)], Wait::All).await;
        let event = next(&mut events, "mcp_subscription_ended").await;
        let ManagerEvent::SubscriptionEnded { error, .. } = event else {
            panic!("{event:?}");
        };
        let status = fault.trim_start_matches("listen-");
        assert!(status == "reset" || error.contains(status), "{error}");
        let again = |_: &mcp_testkit::Event| server.log().of_method("tools/list").len() > 1;
        server.log().wait_for(again).await;
        assert_eq!(server.log().of_method("subscriptions/listen").len(), 1);
        let call = manager.call_tool("kit", "echo", json!({"text": "x"}));
        call.await.unwrap();
        manager.shutdown().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_forgot_its_sessions_is_no_trouble() {
    let server = serve(Script::standard(), Era::Legacy).await;
    let manager = manager(&server).await;
    server.forget_sessions();
    manager
        .call_tool("kit", "echo", json!({"text": "x"}))
        .await
        .unwrap();
    assert_eq!(manager.server("kit").unwrap().state, ServerState::Connected);
    manager.shutdown().await;
}

/// A user who answers later.
struct Later;

#[async_trait::async_trait]
impl ElicitationHandler for Later {
    async fn elicit(&self, _: Elicitation) -> Result<ElicitResult, HostError> {
        Err(HostError::Later)
    }
}

#[tokio::test]
async fn a_parked_call_is_taken_up_by_another_manager() {
    let schema = json!({"type": "object", "properties": {"day": {"type": "string"}}});
    let book = Tool::new("book")
        .with_step(Step::Ask(Ask::form("day", "Which day?", schema)))
        .answering(|called| {
            let text = called.answer("day")["content"]["day"].clone();
            json!({"content": [{"type": "text", "text": text}]})
        });
    let server = serve(Script::minimal().with_tool(book), Era::Modern).await;
    let first = Manager::builder().elicitation(Later).build();
    first.connect_all([config(&server)], Wait::All).await;
    let error = first.call_tool("kit", "book", json!({})).await.unwrap_err();
    let ManagerError::Call(CallError::Parked(parked)) = error else {
        panic!("{error:?}")
    };
    first.shutdown().await;

    let second = manager(&server).await;
    let mut answers = InputResponses::new();
    let day = json!({"day": "Friday"}).as_object().cloned();
    answers
        .set("day", &ElicitResult::accept(day.unwrap()))
        .unwrap();
    let result = second.resume::<CallTool>(*parked, answers).await.unwrap();
    assert_eq!(flatten(&result.content), "Friday");
    second.shutdown().await;
}

#[tokio::test]
async fn a_task_goes_on_and_is_taken_up_again_by_its_ticket() {
    for era in [Era::Legacy, Era::Modern] {
        let slow = Tool::new("slow")
            .as_task(TaskSupport::Optional)
            .with_step(Step::Pause(Duration::from_millis(50)))
            .answering(|_| json!({"content": [{"type": "text", "text": "done"}]}));
        let script = Script::minimal().with_tool(slow);
        let server = serve(script.with_task_poll(Duration::from_millis(50)), era).await;
        let manager = manager(&server).await;
        let options = CallOptions::default();
        let started = manager
            .start_tool("kit", "slow", json!({}), None, options)
            .await;
        let Started::Task(task) = started.unwrap() else {
            panic!("no task")
        };
        let again = manager.task(task.ticket().clone()).await.unwrap();
        assert_eq!(flatten(&again.wait().await.unwrap().content), "done");
        manager.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_us_needs_authorization() {
    let fault = mcp_testkit::Fault::named("401-init").unwrap();
    let server = Server::new(Script::minimal())
        .with_fault(fault)
        .start_http()
        .await
        .unwrap();
    let manager = Manager::builder().build();
    manager.connect_all([config(&server)], Wait::All).await;
    assert_eq!(manager.server("kit").unwrap().state, ServerState::NeedsAuth);
    manager.shutdown().await;
}

#[tokio::test]
async fn each_servers_credentials_come_from_the_hosts_own_source() {
    let server = serve(Script::minimal(), Era::Legacy).await;
    let connector = DefaultConnector::new().with_auth(|config| {
        let token = format!("for-{}", config.name());
        Some(Arc::new(StaticTokenAuth::new(token)))
    });
    let manager = Manager::builder().connector(connector).build();
    manager.connect_one(config(&server)).await.unwrap();
    let sent = ("authorization".to_owned(), "Bearer for-kit".to_owned());
    for event in server.log().events() {
        if let Seen::Http { headers, .. } = event.seen {
            assert!(headers.contains(&sent), "{headers:?}");
        }
    }
    manager.shutdown().await;
}
