//! Skills: listed freely, read only when used, and believed only as far as they check out.

use mcp_client::{CallError, Client, SkillError};
use mcp_transport::TransportKind;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fake::{Fake, FakeConnect, discover_result, legacy, modern};

const PAGE: &str = "---\nname: pdf\ndescription: Reads them.\n---\n# How\n";
const SCRIPT: &[u8] = b"\x00\x01binary";

/// A server with one skill of two files. `served` is what it says `SKILL.md` is.
fn server(served: &'static str) -> FakeConnect {
    FakeConnect::new(
        TransportKind::Http,
        move |server: &Fake, message: &Value| {
            let params = &message["params"];
            let result = match message["method"].as_str() {
                Some("server/discover") => {
                    let mut result = discover_result(&["2026-07-28"]);
                    result["capabilities"]["extensions"] =
                        json!({"io.modelcontextprotocol/skills": {}});
                    result
                }
                Some("skills/list") => json!({"resultType": "complete", "skills": [skill()]}),
                Some("skills/get") => json!({"resultType": "complete", "skill": skill()}),
                Some("resources/read") => {
                    let uri = params["uri"].as_str().unwrap();
                    let mut contents = json!({"uri": uri});
                    match uri {
                        "skill://pdf/SKILL.md" => contents["text"] = json!(served),
                        _ => contents["blob"] = json!("AAFiaW5hcnk="),
                    }
                    json!({"resultType": "complete", "contents": [contents]})
                }
                _ => return,
            };
            server.reply(message, result);
        },
    )
}

fn skill() -> Value {
    let file = |uri: &str, bytes: &[u8]| {
        let digest = Sha256::digest(bytes);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"uri": uri, "digest": format!("sha256:{hex}"), "size": bytes.len()})
    };
    json!({
        "uri": "skill://pdf/SKILL.md",
        "frontmatter": {"name": "pdf", "description": "Reads them."},
        "resources": [
            file("skill://pdf/SKILL.md", PAGE.as_bytes()),
            file("skill://pdf/run", SCRIPT),
        ],
    })
}

#[tokio::test]
async fn a_skill_is_read_file_by_file_and_only_when_it_is_used() {
    let connect = server(PAGE);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let listed = client.list_skills().await.unwrap().items;
    let [skill] = listed.as_slice() else {
        panic!("{listed:?}");
    };
    assert_eq!(client.get_skill(&skill.uri).await.unwrap(), *skill);
    let read = |method: &String| method == "resources/read";
    assert_eq!(
        connect.last().methods().iter().filter(|m| read(m)).count(),
        0
    );

    let loaded = client.load_skill(skill).await.unwrap();
    assert_eq!(loaded.skill().name(), Some("pdf"));
    assert_eq!(loaded.text(), PAGE);
    assert_eq!(loaded.read("skill://pdf/run").await.unwrap(), SCRIPT);
    assert_eq!(
        connect.last().methods().iter().filter(|m| read(m)).count(),
        2
    );
    let other = loaded.read("skill://pdf/other").await.unwrap_err();
    assert_eq!(other.to_string(), "the skill has no file skill://pdf/other");
}

#[tokio::test]
async fn a_skill_that_is_not_what_was_promised_is_not_loaded() {
    let forged = "---\nname: pdf\ndescription: Reads them!\n---\n# How\n";
    let client = Client::builder(server(forged)).connect().await.unwrap();
    let listed = client.list_skills().await.unwrap().items;
    let error = client.load_skill(&listed[0]).await.unwrap_err();
    assert!(matches!(error, SkillError::Mismatch { .. }), "{error}");
    assert!(error.to_string().contains("not what the server promised"));
}

#[tokio::test]
async fn a_server_without_skills_is_not_asked_for_any() {
    fn silent(_: &Fake, _: &Value) {}
    for connect in [legacy(silent), modern(TransportKind::Http, silent)] {
        let client = Client::builder(connect.clone()).connect().await.unwrap();
        let refused = client.list_skills().await.unwrap_err();
        assert!(
            matches!(refused, CallError::Unsupported { .. }),
            "{refused}"
        );
        let sent = connect.last().methods();
        assert!(!sent.iter().any(|method| method.starts_with("skills/")));
    }
}
