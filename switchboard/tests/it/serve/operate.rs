//! What operators see of a program that serves.

use super::House;

#[test]
fn a_program_that_stops_is_not_ready_first_and_serves_on_for_a_while() {
    let mut house = House::with(&["--drain-time", "300"]);
    let host = format!("127.0.0.1:{}", house.port);
    let ready = |house: &House| {
        let reply = house.send("GET", "/readyz", &[("Host", &host)], "");
        (reply.status, reply.json()["reason"].clone())
    };
    assert_eq!(ready(&house).0, 200);
    house.terminate();
    let seen = loop {
        match ready(&house) {
            (200, _) => std::thread::yield_now(),
            other => break other,
        }
    };
    assert_eq!(seen, (503, "it is being stopped".into()));
    assert_eq!(house.ask("GET", "/api/health", None).0, 200);
    // The second time it stops at once.
    house.stop();
}

#[test]
fn as_many_connections_come_in_as_the_system_allows() {
    let house = House::with_few_files(64);
    let readers: Vec<_> = (0..200).map(|_| house.events("")).collect();
    assert_eq!(house.ask("GET", "/api/health", None).0, 200);
    drop(readers);
}

#[test]
fn statements_that_are_sent_to_the_store_are_counted() {
    let house = House::open();
    let sent = || -> u64 {
        let reply = house.fetch("local", "GET", "/metrics", None);
        let text = String::from_utf8(reply.body).unwrap();
        let mut lines = text.lines();
        let name = "switchboard_store_statements_total ";
        let line = lines.find_map(|line| line.strip_prefix(name));
        line.unwrap().parse().unwrap()
    };
    let before = sent();
    house.post("/api/conversations", &serde_json::json!({}));
    assert!(sent() > before);
}
