//! `server-everything`: one scenario over each of its three transports.

mod asked;
mod asking;
mod notified;

use mcp_client::{EraMode, HostCapabilities};
use mcp_jsonrpc::Revision;
use mcp_transport::{HttpConfig, TransportKind};

use crate::http_server::HttpServer;
use crate::installed::node;
use crate::session::Session;

#[tokio::test]
async fn everything_works_over_stdio() {
    let command = node("server-everything").with_arg("stdio");
    let session = Session::start_with(command, EraMode::Auto, host()).await;
    scenario(session).await;
}

#[tokio::test]
async fn everything_works_over_sse() {
    over_http("sse", "sse", TransportKind::LegacySse).await;
}

#[tokio::test]
async fn everything_works_over_streamable_http() {
    over_http("streamableHttp", "mcp", TransportKind::Http).await;
}

/// The client gets only a URL and finds the transport by itself.
async fn over_http(transport: &str, path: &str, kind: TransportKind) {
    let server = HttpServer::everything(transport);
    let url = format!("http://127.0.0.1:{}/{path}", server.port);
    let connect = HttpConfig::new(&url).unwrap().into_connect().unwrap();
    let session = Session::reach(connect, host()).await;
    assert_eq!(session.kind(), Some(kind));
    scenario(session).await;
}

fn host() -> HostCapabilities {
    HostCapabilities::default()
        .with_forms()
        .with_urls()
        .with_sampling()
        .with_roots()
}

async fn scenario(mut session: Session) {
    let facts = session.client.server();
    assert_eq!(facts.info.unwrap().name, "mcp-servers/everything");
    assert_eq!(facts.revision, Some(Revision::V2025_11_25));
    session.client.ping().await.unwrap();

    asking::lists_are_whole(&session).await;
    asking::every_kind_of_content_arrives(&session).await;
    asking::failures_are_reported(&session).await;
    asking::resources_are_read(&session).await;
    asking::prompts_are_filled_in(&session).await;
    asking::arguments_are_completed(&session).await;
    asking::large_results_arrive_whole(&session).await;
    asking::calls_in_flight_together_keep_apart(&session).await;

    notified::changed_lists_are_announced(&mut session).await;
    notified::logging_heeds_the_level(&mut session).await;
    notified::updates_of_subscribed_resources_are_announced(&mut session).await;
    notified::progress_rises_to_its_end(&session).await;
    notified::a_dropped_call_is_cancelled(&session).await;

    asked::the_model_is_asked(&session).await;
    asked::forms_are_filled_in_or_not(&session).await;
    asked::urls_are_visited(&session).await;
    asked::a_task_asks_for_input(&session).await;
    asked::roots_are_listed_and_listed_again(&mut session).await;

    session.close().await;
}
