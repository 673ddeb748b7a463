//! The reference server of 2025, which lists its resources in ten pages.

use mcp_client::EraMode;

use crate::installed;
use crate::session::Session;

#[tokio::test]
async fn a_list_in_pages_comes_whole_and_in_order() {
    let command = installed::node("../server-everything-2025");
    let session = Session::start(command, EraMode::Auto).await;
    let list = session.client.list_resources().await.unwrap();
    assert_eq!((list.skipped, list.truncated), (vec![], None));
    let names: Vec<String> = list.items.into_iter().map(|it| it.name).collect();
    let all: Vec<String> = (1..=100).map(|n| format!("Resource {n}")).collect();
    assert_eq!(names, all);
    assert_eq!(session.how_often("resources/list"), 10);
    session.close().await;
}
