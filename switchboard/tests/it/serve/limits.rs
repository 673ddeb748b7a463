//! What ends by itself: tokens by their age, and what a user may use.

use serde_json::json;
use switchboard::store::{AccessToken, Change, LoginChange, Timestamp, TokenScope, UserId};

use super::House;
use super::team::{ask, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_too_old_is_refused_by_its_name() {
    let house = House::open();
    let put = async |name: &str, at: i64| {
        let now = Timestamp::now().as_millis() as i64;
        let ends = Timestamp::from_millis((now + at) as u64);
        let secret = format!("sbp_{name}-0123456789");
        let digest = <sha2::Sha256 as sha2::Digest>::digest(&secret);
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let row = AccessToken::new(UserId::local(), name, hash, TokenScope::Read, Some(ends));
        let put = Change::Login(LoginChange::PutToken(row));
        store(&house).await.commit(vec![put]).await.unwrap();
        secret
    };
    let (old, new) = (put("old", -1_000).await, put("new", 60_000).await);
    let health = |token: &str| {
        let bearer = format!("Bearer {token}");
        ask(
            &house,
            "GET",
            "/api/health",
            &[("Authorization", &bearer)],
            "",
        )
    };
    assert_eq!(health(&new).status, 200);
    let refused = health(&old);
    assert_eq!(refused.status, 401);
    let error = refused.json();
    assert_eq!(error["error"]["code"], "expired");
    assert!(
        error["error"]["message"]
            .to_string()
            .contains("\\\"old\\\""),
        "{error}"
    );
}

#[test]
fn a_user_with_as_many_answers_as_allowed_waits_and_another_does_not() {
    let house = House::with(&[
        "--user",
        "ann",
        "--user",
        "bob",
        "--limit-conversations",
        "1",
        "--demo-step",
        "300",
    ]);
    let talk = |user: &str| {
        let (_, chat) = house.ask_as(user, "POST", "/api/conversations", Some(&json!({})));
        let path = format!(
            "/api/conversations/{}/messages",
            chat["id"].as_str().unwrap()
        );
        house.ask_as(
            user,
            "POST",
            &path,
            Some(&json!({"content": "What can you do?"})),
        )
    };
    assert_eq!(talk("ann").0, 202);
    let (status, error) = talk("ann");
    assert_eq!(
        (status, &error["error"]["code"]),
        (429, &json!("user_limit"))
    );
    assert_eq!(talk("bob").0, 202);
}

#[test]
fn a_user_who_asks_too_often_waits_and_another_does_not() {
    let house = House::with(&["--user", "ann", "--user", "bob", "--limit-requests", "1"]);
    let health = |user: &str| house.fetch(user, "GET", "/api/health", None);
    let refused = (0..100).map(|_| health("ann")).find(|it| it.status != 200);
    let refused = refused.expect("a hundred requests are too many");
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(health("bob").status, 200);
}
