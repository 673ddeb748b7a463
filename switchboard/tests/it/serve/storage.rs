//! A store that another process locks, and one that may not get larger.

use serde_json::{Value, json};

use super::House;

#[test]
fn a_locked_store_is_read_and_a_write_to_it_may_be_tried_again() {
    let house = House::open();
    let other = rusqlite::Connection::open(house.desk.home().join("switchboard.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let body = json!({"name": "Coder"});
    let refused = std::thread::scope(|scope| {
        let write = scope.spawn(|| house.fetch("local", "POST", "/api/assistants", Some(&body)));
        // The write waits for the lock; a read does not.
        assert_eq!(house.get("/api/assistants")["items"], json!([]));
        write.join().unwrap()
    });
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("2"));
    assert_eq!(refused.json()["error"]["code"], "busy");
    other.execute_batch("ROLLBACK").unwrap();
    house.post("/api/assistants", &body);
}

/// Without a limit for the tests, the limit of a file's size is the disk that is full.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_get_larger_is_reported_and_ends_nothing() {
    let house = House::limited(crate::cli::Desk::new().on_tested_store(), 2 << 20);
    let add = |number: usize| {
        let body = json!({"name": format!("{number}"), "system": "x".repeat(500_000)});
        house.ask("POST", "/api/assistants", Some(&body))
    };
    let full = (0..20).map(add).find(|(status, _)| *status != 201);
    let (status, value) = full.expect("a write that fails");
    assert_eq!(
        (status, &value["error"]["code"]),
        (507, &json!("storage_full")),
        "{value}"
    );
    let hint = value["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("Nothing was changed"), "{hint}");
    // It is still there, and what was stored before is.
    let names = house.get("/api/assistants")["items"].clone();
    assert!(!names.as_array().unwrap().is_empty());
    assert!(names.as_array().unwrap().iter().all(Value::is_object));
}
