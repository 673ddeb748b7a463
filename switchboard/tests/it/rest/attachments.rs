//! Files sent with a message: checked, stored once, shown to the model, copied and exported.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::desk::{Desk, Reply};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and what else a picture has";

fn file(name: &str, bytes: &[u8]) -> Value {
    json!({"name": name, "data": STANDARD.encode(bytes)})
}

async fn begin(desk: &Desk) -> String {
    desk.say("POST conversations", json!({})).await.is(201).id()
}

async fn say(desk: &Desk, chat: &str, message: Value) -> Reply {
    let request = format!("POST conversations/{chat}/messages");
    desk.say(&request, message).await
}

/// What is answered to a message.
async fn answer(desk: &Desk, said: &Reply) -> String {
    let id = &said.body["assistantMessage"]["id"];
    let over = json!({"message": {"id": id, "finish": "done"}});
    let events = desk.events_until("message.completed", over).await;
    let (_, last) = events.last().unwrap();
    last["message"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_file_is_shown_to_the_model_and_stored_once_and_copied_with_its_chat() {
    let desk = Desk::open();
    let chat = begin(&desk).await;
    let files = json!([file("cat.png", PNG), file("../notes.md", b"# Seven\nlives")]);
    let said = say(
        &desk,
        &chat,
        json!({"content": "Hm.", "attachments": files}),
    )
    .await;
    let said = said.is(202);
    let named = said.body["userMessage"]["attachments"].as_array().unwrap();
    let facts: Vec<_> = named
        .iter()
        .map(|it| (&it["name"], &it["mimeType"]))
        .collect();
    assert_eq!(facts[0], (&json!("cat.png"), &json!("image/png")));
    assert_eq!(facts[1], (&json!("notes.md"), &json!("text/plain")));
    let answered = answer(&desk, &said).await;
    assert!(answered.contains("I was shown: 1."), "{answered}");
    let id = named[0]["id"].as_str().unwrap();
    let blob = format!("conversations/{chat}/blobs/{id}");
    assert_eq!(desk.bytes(&blob).await, PNG);

    // The next question shows it again, from the same blob.
    let next = say(&desk, &chat, json!({"content": "And now?"})).await;
    answer(&desk, &next.is(202)).await;

    // Another question in place of it keeps the file, which is not stored again.
    let edited = json!({"content": "Hm?", "instead": said.body["userMessage"]["id"]});
    let edited = say(&desk, &chat, edited).await.is(202);
    assert_eq!(edited.body["userMessage"]["attachments"][0]["id"], id);
    let answered = answer(&desk, &edited).await;
    assert!(answered.contains("I was shown: 1."), "{answered}");

    let copy = desk
        .say(&format!("POST conversations/{chat}/fork"), json!({}))
        .await
        .is(201)
        .id();
    desk.ask(&format!("DELETE conversations/{chat}"))
        .await
        .is(204);
    let page = desk
        .ask(&format!("GET conversations/{copy}/messages"))
        .await;
    let theirs = &page.is(200).body["items"][0]["attachments"][0];
    assert_eq!(theirs["name"], "cat.png");
    assert_ne!(theirs["id"], id);
    let blob = theirs["id"].as_str().unwrap();
    let blob = format!("conversations/{copy}/blobs/{blob}");
    assert_eq!(desk.bytes(&blob).await, PNG);
    let export = format!("GET conversations/{copy}/export?format=json");
    let exported = desk.ask(&export).await.is(200).body;
    let exported = &exported["messages"][0]["attachments"][0];
    assert_eq!(exported["data"], STANDARD.encode(PNG));
    let page = desk
        .ask(&format!("GET conversations/{copy}/export?format=html"))
        .await;
    let data = format!("src=\"data:image/png;base64,{}\"", STANDARD.encode(PNG));
    assert!(page.is(200).text.contains(&data));
    desk.close();
}

#[tokio::test]
async fn what_a_model_cannot_take_is_refused_by_its_field_and_nothing_is_stored() {
    let desk = Desk::open();
    let chat = begin(&desk).await;
    let cases = [
        (
            json!([file("a.txt", b"a"), file("b.exe", b"MZ\0\0")]),
            1,
            "unsupported type",
        ),
        (json!([file("a.txt", b"")]), 0, "empty"),
        (json!([file("a.ogg", b"OggS and so on")]), 0, "audio/ogg"),
        (json!([{"name": "a.txt", "data": "!"}]), 0, "base64"),
    ];
    for (attachments, index, reason) in cases {
        let refused = say(
            &desk,
            &chat,
            json!({"content": "Hm.", "attachments": attachments}),
        )
        .await;
        let refused = refused.is(422).body;
        let field = refused["error"]["details"]["field"].as_str().unwrap();
        assert!(
            field.starts_with(&format!("attachments[{index}]")),
            "{field}"
        );
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
    let many: Vec<Value> = (0..17).map(|_| file("a.txt", b"a")).collect();
    say(&desk, &chat, json!({"attachments": many}))
        .await
        .is(422);
    say(&desk, &chat, json!({"content": " "})).await.is(422);

    let picture = json!({"content": "Hm.", "attachments": [file("cat.png", PNG)]});
    let seen = desk.say("POST conversations", json!({})).await.is(201).id();
    let said = say(&desk, &seen, picture).await.is(202);
    answer(&desk, &said).await;

    // A model of which it is known that it sees nothing.
    let blind = json!({"models.demo.images": false});
    desk.say("PUT settings", blind).await.is(200);
    let picture = json!({"attachments": [file("cat.png", PNG)]});
    let refused = say(&desk, &chat, picture).await.is(422).body;
    assert_eq!(refused["error"]["details"]["field"], "attachments[0]");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("does not see images"), "{message}");
    // Nor what goes again with a message that is changed, or answered anew.
    let question = &said.body["userMessage"]["id"];
    let edited = json!({"content": "Hm?", "instead": question});
    let refused = say(&desk, &seen, edited).await.is(422).body;
    assert_eq!(refused["error"]["details"]["field"], "instead");
    let again = &said.body["assistantMessage"]["id"];
    let path = format!("POST conversations/{seen}/regenerate");
    desk.say(&path, json!({ "message": again })).await.is(422);
    let shown = desk
        .ask(&format!("GET conversations/{seen}/messages"))
        .await;
    assert_eq!(shown.is(200).body["items"].as_array().unwrap().len(), 2);

    // Text is for every model; it needs no words beside it.
    let text = say(
        &desk,
        &chat,
        json!({"attachments": [file("a.txt", b"Seven")]}),
    )
    .await;
    answer(&desk, &text.is(202)).await;
    let page = desk
        .ask(&format!("GET conversations/{chat}/messages"))
        .await;
    assert_eq!(page.is(200).body["items"].as_array().unwrap().len(), 2);
    let chat = desk.ask(&format!("GET conversations/{chat}")).await;
    assert_eq!(chat.body["title"], "a.txt");
    desk.close();
}
