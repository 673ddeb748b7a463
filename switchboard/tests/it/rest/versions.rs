//! Versions of messages: answered anew, edited, switched between.

use serde_json::{Value, json};

use super::desk::{Desk, Reply};

async fn begin(desk: &Desk) -> String {
    desk.say("POST conversations", json!({})).await.is(201).id()
}

async fn post(desk: &Desk, chat: &str, verb: &str, body: Value) -> Reply {
    desk.say(&format!("POST conversations/{chat}/{verb}"), body)
        .await
}

/// Waits until an answer is over.
async fn over(desk: &Desk, begun: &Reply) {
    let id = &begun.body["assistantMessage"]["id"];
    let over = json!({"message": {"id": id, "finish": "done"}});
    desk.events_until("message.completed", over).await;
}

/// What is shown: the words of the user's, and each message's versions.
async fn shown(desk: &Desk, chat: &str) -> Vec<Value> {
    let page = desk
        .ask(&format!("GET conversations/{chat}/messages"))
        .await
        .is(200);
    page.body["items"].as_array().unwrap().clone()
}

fn words(shown: &[Value]) -> Vec<&str> {
    let mine = shown.iter().filter(|it| it["role"] == "user");
    mine.map(|it| it["content"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_answer_and_a_question_have_versions_and_one_can_go_back() {
    let desk = Desk::open();
    let chat = begin(&desk).await;
    let one = post(&desk, &chat, "messages", json!({"content": "One."})).await;
    over(&desk, &one.is(202)).await;
    let two = post(&desk, &chat, "messages", json!({"content": "Two."})).await;
    over(&desk, &two.is(202)).await;
    let first = shown(&desk, &chat).await;
    assert!(first.iter().all(|it| it["versions"] == json!([])));
    let (answer, question) = (first[1]["id"].clone(), first[2]["id"].clone());

    // Another answer to the first question: what followed the other one is set aside.
    let again = post(&desk, &chat, "regenerate", json!({"message": answer})).await;
    let again = again.is(202);
    over(&desk, &again).await;
    let second = shown(&desk, &chat).await;
    assert_eq!(words(&second), ["One."]);
    let new = &again.body["assistantMessage"]["id"];
    assert_eq!(second[1]["id"], *new);
    assert_eq!(second[1]["versions"], json!([answer, new]));

    // And back: with what followed.
    post(&desk, &chat, "show", json!({"message": answer}))
        .await
        .is(204);
    desk.events_until("conversation.switched", json!({"conversationId": chat}))
        .await;
    let third = shown(&desk, &chat).await;
    assert_eq!(words(&third), ["One.", "Two."]);

    // Another question in place of the second one, and the chat goes on from there.
    let edited = json!({"content": "Three.", "instead": question});
    let edited = post(&desk, &chat, "messages", edited).await.is(202);
    over(&desk, &edited).await;
    let next = post(&desk, &chat, "messages", json!({"content": "Four."})).await;
    over(&desk, &next.is(202)).await;
    let fourth = shown(&desk, &chat).await;
    assert_eq!(words(&fourth), ["One.", "Three.", "Four."]);
    assert_eq!(fourth[2]["versions"][0], question);

    // The model got what is shown, and nothing else.
    let export = format!("GET conversations/{chat}/export?format=md");
    let export = desk.ask(&export).await.is(200).text;
    assert!(!export.contains("Two."), "{export}");
    let copy = post(&desk, &chat, "fork", json!({})).await.is(201).id();
    assert_eq!(
        words(&shown(&desk, &copy).await),
        ["One.", "Three.", "Four."]
    );
    let found = desk.ask("GET search?q=Two.").await.is(200);
    assert_eq!(found.body["items"], json!([]));

    // Of another chat, or not of the user's.
    let theirs = json!({"message": shown(&desk, &copy).await[1]["id"]});
    for verb in ["regenerate", "show"] {
        post(&desk, &chat, verb, theirs.clone()).await.is(404);
        post(&desk, &chat, verb, json!({"message": "none"}))
            .await
            .is(404);
    }
    let wrong = json!({"content": "Five.", "instead": answer});
    post(&desk, &chat, "messages", wrong).await.is(404);
    assert_eq!(shown(&desk, &chat).await, fourth);
    desk.close();
}

#[tokio::test]
async fn the_first_message_can_be_edited_and_an_answer_that_waits_is_not_replaced() {
    let desk = Desk::open();
    let chat = begin(&desk).await;
    let one = post(&desk, &chat, "messages", json!({"content": "One."})).await;
    let one = one.is(202);
    over(&desk, &one).await;
    let first = one.body["userMessage"]["id"].clone();
    let edited = json!({"content": "Write a note: milk", "instead": first});
    let edited = post(&desk, &chat, "messages", edited).await.is(202);
    desk.events_until(
        "conversation.updated",
        json!({"conversation": {"waiting": 1}}),
    )
    .await;
    let asked = shown(&desk, &chat).await;
    assert_eq!(words(&asked), ["Write a note: milk"]);
    assert_eq!(asked[0]["versions"].as_array().unwrap().len(), 2);
    for (verb, body) in [
        (
            "regenerate",
            json!({"message": edited.body["assistantMessage"]["id"]}),
        ),
        ("show", json!({"message": first})),
        ("messages", json!({"content": "Hm.", "instead": first})),
    ] {
        let refused = post(&desk, &chat, verb, body).await.is(409).body;
        assert_eq!(refused["error"]["code"], "running");
    }
    post(&desk, &chat, "cancel", json!({})).await.is(200);
    post(&desk, &chat, "show", json!({"message": first}))
        .await
        .is(204);
    assert_eq!(words(&shown(&desk, &chat).await), ["One."]);
    desk.close();
}
