//! The folders of the setting `roots` reach servers that ask for them, in both eras.

use mcp_testkit::{Ask, Era, Script, Server, Step, Tool};
use serde_json::json;

use super::House;
use crate::cli::Desk;

fn asking() -> Tool {
    Tool::new("roots")
        .with_step(Step::Ask(Ask::roots("roots")))
        .answering(|called| {
            let text = called.answer("roots").to_string();
            json!({"content": [{"type": "text", "text": text}]})
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_get_the_folders_of_the_settings_and_notice_of_changes() {
    for era in [Era::Legacy, Era::Modern] {
        let script = Script::empty().only(era).with_tool(asking());
        let server = Server::new(script).start_http().await.unwrap();
        let desk = Desk::new().on_tested_store();
        desk.run(&["servers", "add", "asks", &server.url()]);
        let set = ["config", "set", "roots", r#"["/work/my notes"]"#];
        assert_eq!(desk.run(&set).status.code(), Some(0));
        let house = House::at(desk, &[]);
        let id = house.get("/api/mcp-servers")["items"][0]["id"].clone();
        let path = format!("/api/mcp-servers/{}/tools/roots/call", id.as_str().unwrap());
        let roots = || house.post(&path, &json!({})).to_string();
        let first = roots();
        assert!(
            first.contains("file:///work/my%20notes"),
            "{era:?}: {first}"
        );
        let changed = json!({"roots": ["/work/plans"]});
        let (status, answer) = house.ask("PUT", "/api/settings", Some(&changed));
        assert_eq!(status, 200, "{answer}");
        if era == Era::Legacy {
            let announced = "notifications/roots/list_changed";
            assert_eq!(server.log().of_method(announced).len(), 1);
        }
        let second = roots();
        assert!(
            second.contains("file:///work/plans") && !second.contains("notes"),
            "{era:?}: {second}"
        );
        let (status, refused) = house.ask("PUT", "/api/settings", Some(&json!({"roots": ["x"]})));
        assert_eq!(status, 422, "{refused}");
        server.shutdown().await;
    }
}
