//! `mcp-server-time`, which speaks both eras.

use mcp_client::EraMode;
use mcp_jsonrpc::{ErrorCode, Revision};
use serde_json::json;

use crate::installed::python;
use crate::session::{Session, structured};

#[tokio::test]
async fn time_is_converted_in_the_legacy_era() {
    scenario(EraMode::Auto, Revision::V2025_11_25).await;
}

#[tokio::test]
async fn time_is_converted_in_the_modern_era() {
    scenario(EraMode::PreferModern, Revision::V2026_07_28).await;
}

async fn scenario(mode: EraMode, revision: Revision) {
    let command = python("mcp-server-time").with_arg("--local-timezone=UTC");
    let session = Session::start(command, mode).await;
    assert_eq!(session.client.revision(), revision);
    assert_eq!(session.client.server().info.unwrap().name, "mcp-time");
    session.client.ping().await.unwrap();
    assert_eq!(session.tools().await, ["get_current_time", "convert_time"]);

    let convert = |source: &str| json!({"source_timezone": source, "time": "12:00", "target_timezone": "Asia/Kolkata"});
    let result = structured(&session.call("convert_time", convert("UTC")).await);
    assert_eq!(result["time_difference"], "+5.5h");
    let target = result["target"]["datetime"].as_str().unwrap();
    assert!(target.ends_with("T17:30:00+05:30"), "{target}");

    let wrong = session.complaint("convert_time", convert("Nowhere")).await;
    assert!(wrong.contains("Invalid timezone"), "{wrong}");
    let error = session
        .client
        .call_tool("nope", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        error.peer().unwrap().code,
        ErrorCode::INVALID_PARAMS,
        "{error}"
    );
    session.close().await;
}
