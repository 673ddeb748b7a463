//! The verbs about conversations, models and settings, with `--json`.

use serde_json::json;

use super::{Desk, steady};

#[test]
fn conversations_are_listed_shown_exported_forked_and_deleted() {
    let desk = Desk::new();
    desk.json(&["run", "2 plus 3", "--approve", "auto"]);
    let list = desk.json(&["session", "list"]);
    insta::assert_json_snapshot!("session_list", steady(list.clone()));
    let id = list["conversations"][0]["id"].as_str().unwrap();
    let show = desk.json(&["session", "show", id]);
    insta::assert_json_snapshot!("session_show", steady(show));
    let file = desk.home().join("talk.md");
    desk.json(&["session", "export", "last", "-o", file.to_str().unwrap()]);
    insta::assert_snapshot!("session_export", std::fs::read_to_string(file).unwrap());
    let fork = desk.json(&["session", "fork", &id[10..]]);
    assert_eq!(fork["parent"], id);
    let copy = fork["id"].as_str().unwrap();
    assert_eq!(
        desk.json(&["session", "show", copy])["messages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let more = ["run", "2 plus 3", "--approve", "auto", "--resume", copy];
    assert_eq!(desk.json(&more)["conversation"], copy);
    assert_eq!(
        desk.json(&["session", "show", copy])["messages"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(
        desk.json(&["session", "show", id])["messages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    desk.json(&["session", "delete", id]);
    assert_eq!(desk.error(&["session", "show", id])["error"]["exit"], 1);
    assert_eq!(
        desk.json(&["session", "list"])["conversations"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn decisions_are_listed_and_forgotten() {
    let desk = Desk::new();
    desk.say(&["chat"], "write a note\nt\n/quit\n");
    let list = desk.json(&["approvals", "list"]);
    insta::assert_json_snapshot!("approvals_list", steady(list.clone()));
    let id = list["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(
        desk.error(&["approvals", "forget", "nothing"])["error"]["exit"],
        1
    );
    assert_eq!(
        desk.json(&["approvals", "forget", id]),
        json!({ "forgotten": [id] })
    );
    assert_eq!(
        desk.json(&["approvals", "list"]),
        json!({ "approvals": [] })
    );
}

#[test]
fn usage_is_listed_by_model() {
    let desk = Desk::new();
    assert_eq!(desk.json(&["usage"])["models"], json!([]));
    desk.json(&["run", "2 plus 3", "--approve", "auto"]);
    let usage = desk.json(&["usage", "--days", "1"]);
    assert_eq!(usage["models"][0]["model"], "demo");
    assert_eq!(usage["models"][0]["rounds"], 2);
    assert!(usage["models"][0]["input"].as_u64().unwrap() > 0);
    assert_eq!(usage["models"][0]["unpriced_rounds"], 2);
}

#[test]
fn models_are_listed_shown_and_set() {
    let desk = Desk::new();
    let show = desk.json(&["model", "show"]);
    insta::assert_json_snapshot!("model_show", show);
    let list = desk.json(&["model", "list"]);
    let used = list["providers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["used"] == true);
    assert_eq!(used.unwrap()["provider"], "demo");
    let error = desk.error(&["model", "set", "openai/gpt-5"]);
    assert_eq!(error["error"]["exit"], 3, "{error}");
    assert!(error.to_string().contains("OPENAI_API_KEY"));
    let set = desk.json(&["model", "set", "openai/gpt-5", "--key", "env:MY_KEY"]);
    insta::assert_json_snapshot!("model_set", steady(set));
    let error = desk.error(&["run", "hello"]);
    assert_eq!(error["error"]["exit"], 3, "{error}");
    assert!(error.to_string().contains("MY_KEY"), "{error}");
    assert_eq!(
        desk.error(&["model", "set", "unheard-of"])["error"]["exit"],
        2
    );
}

#[test]
fn a_key_is_kept_in_plain_text_only_if_the_user_insists_and_is_never_shown() {
    let desk = Desk::new();
    let refused = ["model", "set", "openai/gpt-5", "--key", "plain:sk-secret"];
    assert_eq!(desk.error(&refused)["error"]["exit"], 1);
    let insists = [
        "model",
        "set",
        "openai/gpt-5",
        "--ask-key",
        "--plain",
        "--json",
    ];
    let output = desk.say(&insists, "sk-secret\n");
    assert!(output.status.success());
    for arguments in [
        &["config", "list"][..],
        &["model", "show"],
        &["model", "list"],
    ] {
        let shown = desk.json(arguments).to_string();
        assert!(!shown.contains("sk-secret"), "{shown}");
    }
}

#[test]
fn settings_are_set_got_listed_and_forgotten() {
    let desk = Desk::new();
    desk.json(&["config", "set", "max_rounds", "3"]);
    desk.json(&[
        "config",
        "set",
        "prices.demo",
        r#"{"input": 1, "output": 2}"#,
    ]);
    assert_eq!(desk.json(&["config", "get", "max_rounds"])["value"], 3);
    let list = desk.json(&["config", "list"]);
    assert_eq!(list["settings"]["prices.demo"]["output"], 2);
    desk.json(&["config", "set", "max_rounds"]);
    assert_eq!(
        desk.error(&["config", "get", "max_rounds"])["error"]["exit"],
        1
    );
    assert_eq!(
        desk.error(&["config", "set", "typo", "1"])["error"]["exit"],
        1
    );
    let bare = ["config", "set", "providers.openai.key", "sk-1"];
    assert!(desk.error(&bare).to_string().contains("env:NAME"));
    let path = desk.json(&["config", "path"]);
    assert!(
        path["database"]
            .as_str()
            .unwrap()
            .ends_with("switchboard.db")
    );
    let priced = desk.json(&["run", "2 plus 3", "--approve", "auto"]);
    assert!(
        priced["usage"]["costMicros"].as_u64().unwrap() > 0,
        "{priced}"
    );
}
