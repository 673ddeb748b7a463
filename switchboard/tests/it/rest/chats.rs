//! Chats by REST: found by what was said, pinned, exported, compacted.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::servers::bench::Bench;

#[tokio::test]
async fn a_chat_is_found_by_what_was_said_in_it_and_by_its_own_user_only() {
    let desk = Desk::with(Bench::new().on_tested_store(), &["ann", "bob"], &[]);
    let begun = desk.say("POST conversations", json!({})).await.is(201);
    let id = begun.id();
    let said = json!({"content": "明天北京的天气怎么样？ <b>Bold</b>"});
    let said = desk
        .say(&format!("POST conversations/{id}/messages"), said)
        .await;
    said.is(202);
    // Two signs, a part of a word, another case.
    for query in ["%E5%A4%A9%E6%B0%94", "BOL", "bold%20%E5%8C%97%E4%BA%AC"] {
        let found = desk.ask(&format!("GET search?q={query}")).await.is(200);
        let items = found.body["items"].as_array().unwrap();
        assert_eq!(items[0]["conversationId"], id, "{}", found.text);
        let excerpt = items[items.len() - 1]["excerpt"].as_str().unwrap();
        assert!(excerpt.contains("天气"), "{excerpt}");
        let theirs = desk.send(1, &format!("GET search?q={query}"), None).await;
        assert_eq!(theirs.is(200).body["items"], json!([]));
    }
    let none = desk.ask("GET search?q=snow").await.is(200);
    assert_eq!(none.body["items"], json!([]));

    let page = desk
        .ask(&format!("GET conversations/{id}/export?format=html"))
        .await;
    let page = page.is(200).text;
    assert!(page.contains("&lt;b&gt;Bold&lt;/b&gt;"), "{page}");
    assert!(!page.contains("<b>"), "{page}");
    desk.close();
}

#[tokio::test]
async fn a_chat_is_pinned_and_its_copy_is_not() {
    let desk = Desk::open();
    let id = desk
        .say("POST conversations", json!({"title": "one"}))
        .await
        .id();
    desk.say("POST conversations", json!({"title": "two"}))
        .await;
    let pinned = desk
        .say(
            &format!("PATCH conversations/{id}"),
            json!({"pinned": true}),
        )
        .await;
    assert_eq!(pinned.is(200).body["pinned"], true);
    let listed = desk.ask("GET conversations?pinned=true").await.is(200);
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed.body["items"][0]["title"], "one");
    let others = desk.ask("GET conversations?pinned=false").await.is(200);
    assert_eq!(others.body["items"][0]["title"], "two");
    let copy = desk
        .say(&format!("POST conversations/{id}/fork"), json!({}))
        .await;
    assert_eq!(copy.is(201).body["pinned"], false);
    let off = desk
        .say(
            &format!("PATCH conversations/{id}"),
            json!({"pinned": false}),
        )
        .await;
    assert_eq!(off.is(200).body["pinned"], false);
    // Nothing was said, so there is nothing to shorten.
    let compacted = desk.ask(&format!("POST conversations/{id}/compact")).await;
    assert_eq!(compacted.is(202).body["begun"], false);
    desk.close();
}

#[tokio::test]
async fn a_long_chat_is_compacted_on_request_with_a_notice() {
    let desk = Desk::open();
    let id = desk.say("POST conversations", json!({})).await.is(201).id();
    for content in ["word ".repeat(4_000), "Is that all?".to_owned()] {
        let said = json!({ "content": content });
        let path = format!("POST conversations/{id}/messages");
        let said = desk.say(&path, said).await.is(202);
        let message = &said.body["assistantMessage"]["id"];
        let over = json!({"message": {"id": message, "finish": "done"}});
        desk.events_until("message.completed", over).await;
    }
    let compacted = desk.ask(&format!("POST conversations/{id}/compact")).await;
    assert_eq!(compacted.is(202).body["begun"], true);
    let is_done = |notice: &Value| notice.to_string().contains("was compacted from about");
    desk.events_until_that("run.notice", is_done).await;
    // The messages stay.
    let page = desk.ask(&format!("GET conversations/{id}/messages")).await;
    assert_eq!(page.is(200).body["items"].as_array().unwrap().len(), 4);
    desk.close();
}

#[tokio::test]
async fn a_chat_keeps_how_its_model_answers_and_what_is_off_in_it_and_says_what_an_answer_used() {
    let desk = Desk::open();
    let server = desk.demo("one").await;
    let off = json!([{"serverId": server, "tools": ["echo"]}]);
    let options = json!({"temperature": 0.2, "effort": "low", "maxOutputTokens": 500});
    let wish = json!({"modelOptions": options, "switchedOff": off});
    let begun = desk.say("POST conversations", wish).await.is(201);
    let (id, path) = (begun.id(), format!("conversations/{}", begun.id()));
    assert_eq!(begun.body["modelOptions"], options);
    for (wrong, field) in [
        (
            json!({"modelOptions": {"temperature": 3}}),
            "modelOptions.temperature",
        ),
        (
            json!({"modelOptions": {"maxOutputTokens": 0}}),
            "modelOptions.maxOutputTokens",
        ),
    ] {
        let refused = desk.say(&format!("PATCH {path}"), wrong).await.is(422);
        assert_eq!(refused.body["error"]["details"]["field"], field);
    }
    let said = json!({"content": "hello"});
    let said = desk.say(&format!("POST {path}/messages"), said).await;
    let message = said.is(202).body["assistantMessage"]["id"].clone();
    desk.events_until_that("usage.updated", |data| data["messageId"] == message)
        .await;
    let over = json!({"message": {"id": message}});
    desk.events_until("message.completed", over).await;
    let page = desk.ask(&format!("GET {path}/messages")).await.is(200);
    let used = &page.body["items"][1]["usage"];
    assert_eq!(used["rounds"], 1, "{used}");
    assert!(used["models"][0]["model"].as_str().is_some(), "{used}");
    assert_eq!(page.body["items"][0]["usage"], Value::Null);
    // What was set stays after an answer, until it is taken back.
    let shown = desk.ask(&format!("GET conversations/{id}")).await.is(200);
    assert_eq!(
        (
            &shown.body["modelOptions"],
            &shown.body["switchedOff"][0]["tools"]
        ),
        (&options, &off[0]["tools"])
    );
    let reset = json!({"modelOptions": null, "switchedOff": null});
    let reset = desk.say(&format!("PATCH {path}"), reset).await.is(200);
    assert_eq!(reset.body["modelOptions"], Value::Null);
    assert_eq!(reset.body["switchedOff"], Value::Null);
    desk.close();
}
