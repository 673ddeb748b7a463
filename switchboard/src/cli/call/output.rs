//! A result in a file.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::model::CallToolResult;
use serde_json::{Value, json};

use crate::cli::failure::unwritable;
use crate::display::out::Out;
use crate::exit::Failure;

/// Writes a result to a file: the bytes of a single picture, sound or file, else its text; with
/// `--json` the whole result.
pub(super) fn save(
    path: &Path,
    result: &CallToolResult,
    text: &str,
    mut value: Value,
    out: &Out,
) -> Result<(), Failure> {
    let bytes = match out.is_json() {
        true => format!("{:#}\n", json!(result)).into_bytes(),
        false => bytes(result).unwrap_or_else(|| text.as_bytes().to_vec()),
    };
    std::fs::write(path, &bytes).map_err(|error| unwritable(path, error))?;
    let shown = path.display().to_string();
    if let Some(members) = value.as_object_mut() {
        members.remove("result");
        members.insert("file".to_owned(), json!(shown));
        members.insert("bytes".to_owned(), json!(bytes.len()));
    }
    out.result(&value, format!("{} bytes in {shown}", bytes.len()));
    Ok(())
}

/// The bytes of a result that is one block of them.
fn bytes(result: &CallToolResult) -> Option<Vec<u8>> {
    let [block] = result.content.as_slice() else {
        return None;
    };
    let block = serde_json::to_value(block).ok()?;
    let data = block.get("data").or(block.pointer("/resource/blob"))?;
    STANDARD.decode(data.as_str()?).ok()
}
