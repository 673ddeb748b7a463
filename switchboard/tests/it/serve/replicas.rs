//! Two replicas on one PostgreSQL database, whatever the back end of the other tests: what is asked of
//! one reaches the one that drives the conversation.

use serde_json::json;

use super::House;
use super::two::running;
use crate::cli::Desk;
use crate::program::path;

/// Two at desks of their own.
fn replicas() -> Option<(House, House)> {
    let desk = Desk::new().on_postgres()?;
    let beside = desk.beside();
    desk.run(&[
        "servers",
        "add",
        "asks",
        "--",
        path(),
        "demo-server",
        "--era",
        "legacy",
    ]);
    Some((House::at(desk, &[]), House::at(beside, &[])))
}

#[test]
fn an_answer_is_stopped_at_another_replica_than_the_one_that_gives_it() {
    let Some((first, second)) = replicas() else {
        return;
    };
    let chat = running(&first);
    let path = format!("/api/conversations/{}/cancel", chat.id);
    let (status, error) = second.ask("POST", &path, None);
    assert_eq!(status, 200, "{error}");
    for house in [&first, &second] {
        let message = house.latest(&chat);
        assert_eq!(message["finish"], "cancelled", "{message}");
        assert_eq!(message["toolCalls"][0]["status"], "cancelled");
    }
}

#[test]
fn a_conversation_is_changed_at_another_replica_while_it_is_answered() {
    let Some((first, second)) = replicas() else {
        return;
    };
    let chat = running(&first);
    let path = format!("/api/conversations/{}", chat.id);
    let title = json!({"title": "changed elsewhere"});
    let (status, error) = second.ask("PATCH", &path, Some(&title));
    assert_eq!(status, 200, "{error}");
    assert_eq!(first.get(&path)["title"], title["title"]);
    assert_eq!(first.latest(&chat)["toolCalls"][0]["status"], "invoking");
}

#[test]
fn a_question_of_a_call_is_answered_at_another_replica_even_while_its_own_one_ends() {
    for ends in [false, true] {
        let Some((mut first, second)) = replicas() else {
            return;
        };
        let mut events = second.events("");
        let chat = first.say(&json!({"approvalMode": "auto"}), "ask my name");
        let asked = events.until("elicitation.requested").pop().unwrap().data;
        if ends {
            first.terminate();
            first.until_it_refuses_connections();
        }
        let path = format!("/api/elicitations/{}", asked["id"].as_str().unwrap());
        let name = json!({"action": "accept", "content": {"name": "Ada"}});
        let (status, error) = second.ask("POST", &path, Some(&name));
        assert_eq!(status, 204, "{error}");
        events.until("run.finished");
        let message = second.latest(&chat);
        assert_eq!(message["toolCalls"][0]["status"], "done", "{message}");
        assert!(
            message["content"].as_str().unwrap().contains("Hello, Ada!"),
            "{message}"
        );
        if ends {
            first.ended();
        }
    }
}
