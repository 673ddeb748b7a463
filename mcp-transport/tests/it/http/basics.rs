//! One message out, its reply in (seeds T6).

use super::*;

#[tokio::test]
async fn t6_a_json_reply_is_one_message() {
    let server = Server::start(legacy(|_| Answer::json(&result(1)))).await;
    let transport = open(config(&server)).await;
    assert!(server.seen().is_empty(), "connecting is lazy");
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
    assert!(next(&transport).await.starts_with("1 ended"));
}
