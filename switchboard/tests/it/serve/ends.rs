//! What a user may do no more ends, whatever is under way.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::House;
use super::team::{ask, store, token};
use crate::cli::Desk;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_user_may_do_no_more_ends_while_it_runs() {
    let desk = Desk::new().on_tested_store();
    let ann = token(&desk, "ann", "admin", "owner");
    let bob = token(&desk, "bob", "chat", "member");
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let (listen, public) = (
        format!("127.0.0.1:{port}"),
        format!("https://team.example:{port}"),
    );
    let slow = ["--demo-step", "500"];
    let house = House::at(
        desk,
        &[&["--listen", &listen, "--public-url", &public][..], &slow].concat(),
    );
    let say = |token: &str, method: &str, path: &str, body: Value| {
        let bearer = format!("Bearer {token}");
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let reply = ask(&house, method, path, &[("Authorization", &bearer)], &body);
        assert!(reply.status < 300, "{path}: {}", reply.status);
        reply.json()
    };
    let user = "/api/users/bob";
    say(&ann, "PATCH", user, json!({"usesHost": true}));
    let program = json!({
        "name": "demo", "command": crate::program::path(), "args": ["demo-server"],
        "env": {"SERVER_OF": house.desk.home()},
    });
    let server = say(&bob, "POST", "/api/mcp-servers", program);
    let server = format!("/api/mcp-servers/{}", server["id"].as_str().unwrap());
    let connected = say(&bob, "POST", &format!("{server}/connect"), json!({}));
    assert_eq!(connected["status"], "connected");
    let mark = format!("SERVER_OF={}", house.desk.home().display());
    let running = || crate::program::left_running(&mark).len();
    assert_eq!(running(), 1);
    say(&ann, "PATCH", user, json!({"usesHost": false}));
    let wait_for = |what: &str, is: &dyn Fn() -> bool| {
        for _ in 0..1000 {
            if is() {
                return;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
        panic!("{what}");
    };
    wait_for("the server ends", &|| running() == 0);
    // An answer under way ends with its user's right to come in.
    let chat = say(&bob, "POST", "/api/conversations", json!({}));
    let chat = chat["id"].as_str().unwrap().to_owned();
    let path = format!("/api/conversations/{chat}/messages");
    say(&bob, "POST", &path, json!({"content": "What can you do?"}));
    say(&ann, "PATCH", user, json!({"blocked": true}));
    let store = store(&house).await;
    let chat = switchboard::store::ConversationId::new(chat);
    for _ in 0..1000 {
        let run = store.latest_run(&chat).await.unwrap();
        if run.is_some_and(|run| run.finish.is_some()) {
            return;
        }
        tokio::task::block_in_place(|| {
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        });
    }
    panic!("the answer ends");
}
