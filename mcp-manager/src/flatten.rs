//! Content as plain text, for models and logs that take nothing else.

use mcp_jsonrpc::model::{ContentBlock, ResourceContents};

/// Content as text: text as it is, `[Image: image/png]` and the like for the rest, a line
/// each. Lossy: keep the blocks, and flatten only where a model or a log accepts only text.
///
/// ```
/// use mcp_jsonrpc::model::{ContentBlock, ImageContent};
///
/// let blocks = [
///     ContentBlock::text("a plot:"),
///     ContentBlock::Image(ImageContent::new("iVBORw0=", "image/png")),
/// ];
/// assert_eq!(mcp_manager::flatten(&blocks), "a plot:\n[Image: image/png]");
/// ```
pub fn flatten(content: &[ContentBlock]) -> String {
    let lines: Vec<String> = content.iter().map(line).collect();
    lines.join("\n")
}

fn line(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[Image: {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[Audio: {}]", audio.mime_type),
        ContentBlock::ResourceLink(link) => {
            format!(
                "[Resource: {}]",
                named(&link.uri, link.mime_type.as_deref())
            )
        }
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        _ => "[Unknown content]".to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    match &contents.text {
        Some(text) => text.clone(),
        None => format!(
            "[Resource: {}]",
            named(&contents.uri, contents.mime_type.as_deref())
        ),
    }
}

fn named(uri: &str, mime_type: Option<&str>) -> String {
    match mime_type {
        Some(mime_type) => format!("{uri}, {mime_type}"),
        None => uri.to_owned(),
    }
}
