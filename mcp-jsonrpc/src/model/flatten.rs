//! Content as plain text, for models and logs that accept nothing else.

use super::{ContentBlock, ResourceContents};

/// Converts content to text, a line for each block: text unchanged, anything else as a placeholder with its type or
/// address. The conversion is lossy: keep the blocks, and flatten only where nothing but text is accepted.
///
/// ```
/// use mcp_jsonrpc::model::{ContentBlock, ImageContent, flatten};
///
/// let image = ContentBlock::Image(ImageContent::new("iVBORw0=", "image/png"));
/// assert_eq!(flatten(&[ContentBlock::text("Done."), image]), "Done.\n[Image: image/png]");
/// ```
pub fn flatten(content: &[ContentBlock]) -> String {
    let lines: Vec<String> = content.iter().map(line).collect();
    lines.join("\n")
}

fn line(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(content) => content.text.clone(),
        ContentBlock::Image(content) => format!("[Image: {}]", content.mime_type),
        ContentBlock::Audio(content) => format!("[Audio: {}]", content.mime_type),
        ContentBlock::ResourceLink(link) => {
            let name = link.title.as_deref().unwrap_or(&link.name);
            format!("[Resource: {name} <{}>]", link.uri)
        }
        ContentBlock::Resource(content) => resource(&content.resource),
        _ => "[Content of an unknown kind]".to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    let mime_type = contents.mime_type.as_deref().unwrap_or_default();
    match (&contents.text, &contents.blob) {
        (Some(text), _) => text.clone(),
        (None, Some(_)) if mime_type.starts_with("image/") => format!("[Image: {mime_type}]"),
        (None, Some(_)) if mime_type.starts_with("audio/") => format!("[Audio: {mime_type}]"),
        (None, Some(_)) => format!("[File: {}]", contents.uri),
        (None, None) => format!("[Resource: {}]", contents.uri),
    }
}
