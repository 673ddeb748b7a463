//! Skills of servers.

use std::collections::BTreeMap;

use mcp_manager::{Manager, ManagerError, SkillError, Wait};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::fake::{Fakes, remote};

const PAGE: &str = "---\nname: pdf\ndescription: Reads them.\n---\n# How\n";

/// A manager of a server with a skill and of one without; `served` is what the first one sends.
async fn manager(served: &str) -> Manager {
    let fakes = Fakes::default();
    let fake = fakes.add("docs", &[]);
    let file = |uri: &str, text: &str| {
        let hex: String = Sha256::digest(text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        json!({"uri": uri, "digest": format!("sha256:{hex}"), "size": text.len()})
    };
    let skill = json!({
        "uri": "skill://pdf/SKILL.md",
        "frontmatter": {"name": "pdf", "description": "Reads them."},
        "resources": [file("skill://pdf/SKILL.md", PAGE), file("skill://pdf/run", "run it")],
    });
    let files = [
        ("skill://pdf/SKILL.md", served),
        ("skill://pdf/run", "run it"),
    ];
    let files: BTreeMap<String, String> = files
        .map(|(uri, text)| (uri.to_owned(), text.to_owned()))
        .into();
    *fake.skills.lock() = Some((json!([skill]), files));
    fakes.add("plain", &[]);
    let manager = Manager::builder().connector(fakes).build();
    let started = manager
        .connect_all([remote("docs"), remote("plain")], Wait::All)
        .await;
    assert!(started.errors.is_empty(), "{:?}", started.errors);
    manager
}

#[tokio::test(start_paused = true)]
async fn a_skill_is_listed_loaded_and_read_by_its_server_and_uri() {
    let manager = manager(PAGE).await;
    let skills = manager.skills("docs").await.unwrap();
    assert_eq!(skills[0].name(), Some("pdf"));
    assert_eq!(manager.skills("plain").await.unwrap(), []);
    let loaded = manager.load_skill("docs", &skills[0].uri).await.unwrap();
    assert_eq!(loaded.text(), PAGE);
    let read = |file: &'static str| manager.read_skill_file("docs", "skill://pdf/SKILL.md", file);
    assert_eq!(read("skill://pdf/run").await.unwrap(), b"run it");
    let error = read("memo://a").await.unwrap_err();
    let is_refused = matches!(error, ManagerError::Skill(SkillError::NotListed { .. }));
    assert!(is_refused, "{error}");
    let error = manager.load_skill("plain", "skill://pdf/SKILL.md").await;
    assert!(error.unwrap_err().call().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_is_not_what_was_promised_is_not_loaded_nor_any_of_its_files() {
    let manager = manager("---\nname: pdf\ndescription: Reads them!\n---\n# How\n").await;
    let skill = "skill://pdf/SKILL.md";
    let forged = manager.load_skill("docs", skill).await.unwrap_err();
    assert!(matches!(
        forged,
        ManagerError::Skill(SkillError::Mismatch { .. })
    ));
    let file = manager
        .read_skill_file("docs", skill, "skill://pdf/run")
        .await;
    assert!(matches!(file, Err(ManagerError::Skill(_))));
}
