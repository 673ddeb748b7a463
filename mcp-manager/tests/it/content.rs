//! Content as text.

use mcp_jsonrpc::model::ContentBlock;
use mcp_manager::flatten;

/// Text as is, the others as what they are, a line each.
#[test]
fn every_block_becomes_a_line() {
    let blocks: Vec<ContentBlock> = serde_json::from_str(
        r#"[
        {"type":"text","text":"two\nlines"},
        {"type":"image","data":"AA==","mimeType":"image/png"},
        {"type":"audio","data":"AA==","mimeType":"audio/wav"},
        {"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain"},
        {"type":"resource","resource":{"uri":"file:///b","text":"inside"}},
        {"type":"resource","resource":{"uri":"file:///c","blob":"AA=="}},
        {"type":"hologram","data":1}
    ]"#,
    )
    .unwrap();
    insta::assert_snapshot!(flatten(&blocks));
    assert_eq!(flatten(&[]), "");
}
