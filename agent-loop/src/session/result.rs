//! Results that are too big for the model: stored whole, shown in part.

use std::collections::VecDeque;
use std::fmt;

use async_trait::async_trait;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use parking_lot::Mutex;

use crate::run::limits::RunLimits;
use crate::run::messages;

/// How much of the beginning of a stored text is shown, in bytes.
const HEAD: usize = 2 << 10;
/// How much of its end.
const TAIL: usize = 1 << 10;

/// A store for texts that are too long to show.
#[async_trait]
pub trait ResultStore: Send + Sync {
    /// Stores a text under a new id. `None` if it cannot: the model is then shown only the beginning and the end of the
    /// text.
    async fn keep(&self, text: &str) -> Option<String>;

    /// Stores a whole result, of which the model is shown a part, as JSON under a new id, so that a user can save it.
    /// `None` if it is not stored. Not called for a result that contains only text, with or without the same structured
    /// content: its text is the whole result.
    async fn keep_result(&self, json: &str) -> Option<String> {
        let _ = json;
        None
    }

    /// The text of this id, if it is still there.
    async fn read(&self, id: &str) -> Option<String>;
}

/// Keeps texts in memory: the newest, within a limit.
#[derive(Debug)]
pub struct MemoryStore {
    bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    next: u64,
    texts: VecDeque<(u64, String)>,
}

impl Default for MemoryStore {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl MemoryStore {
    /// Creates a store of at most `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        Self {
            bytes,
            kept: Mutex::default(),
        }
    }
}

#[async_trait]
impl ResultStore for MemoryStore {
    async fn keep(&self, text: &str) -> Option<String> {
        if text.len() > self.bytes {
            return None;
        }
        let mut kept = self.kept.lock();
        kept.next += 1;
        let id = kept.next;
        kept.texts.push_back((id, text.to_owned()));
        let size = |kept: &Kept| kept.texts.iter().map(|(_, text)| text.len()).sum::<usize>();
        while size(&kept) > self.bytes {
            kept.texts.pop_front();
        }
        Some(format!("output-{id}"))
    }

    async fn read(&self, id: &str) -> Option<String> {
        let id: u64 = id.strip_prefix("output-")?.parse().ok()?;
        let kept = self.kept.lock();
        let found = kept.texts.iter().find(|(other, _)| *other == id);
        found.map(|(_, text)| text.clone())
    }
}

impl fmt::Debug for dyn ResultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResultStore")
    }
}

/// What of a result was stored.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Whether the model can read on in its text.
    pub(crate) readable: bool,
    /// The id of the whole result.
    pub(crate) whole: Option<String>,
}

/// Makes a result fit: text beyond the limits is stored, and its head and tail stay. Images and
/// sound are never cut.
pub(crate) async fn fit(
    result: &mut CallToolResult,
    limits: &RunLimits,
    store: &dyn ResultStore,
) -> Stored {
    // Structured content is the same in another form: servers are to send it as text as well.
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    let is_text = result.content.iter().all(is_text);
    if result.content.is_empty() {
        // Structured content without content is shown as text if it must be cut.
        let Some(structured) = &result.structured_content else {
            return Stored::default();
        };
        if !is_big(structured.get(), limits) {
            return Stored::default();
        }
        let text = structured.get().to_owned();
        result.content.push(ContentBlock::text(text));
    }
    let mut text = String::new();
    for block in &result.content {
        if let Some(piece) = text_of(block) {
            text.push_str(piece);
            text.push('\n');
        }
    }
    text.pop();
    if !is_big(&text, limits) {
        return Stored::default();
    }
    let id = store.keep(&text).await;
    let whole = match is_text {
        true => id.clone(),
        false => match serde_json::to_string(result) {
            Ok(json) => store.keep_result(&json).await,
            Err(_) => None,
        },
    };
    let shown = ContentBlock::text(preview(&text, id.as_deref()));
    let mut first = Some(shown);
    let blocks = std::mem::take(&mut result.content);
    result.content = blocks
        .into_iter()
        .filter_map(|block| match text_of(&block) {
            Some(_) => first.take(),
            None => Some(block),
        })
        .collect();
    // The text has it already.
    result.structured_content = None;
    Stored {
        readable: id.is_some(),
        whole,
    }
}

fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(content) => Some(&content.text),
        ContentBlock::Resource(content) => content.resource.text.as_deref(),
        _ => None,
    }
}

fn is_big(text: &str, limits: &RunLimits) -> bool {
    // A token is at least a byte: short texts need no count.
    text.len() > limits.result_bytes
        || (text.len() > limits.result_tokens
            && tool_schema::estimate_tokens(text) > limits.result_tokens)
}

/// Head and tail of a text, and where the rest is.
fn preview(text: &str, id: Option<&str>) -> String {
    let head = slice(text, 0, HEAD);
    let from = text.len().saturating_sub(TAIL).max(head.len());
    let tail = slice(text, from, TAIL + 4);
    let rest = match id {
        Some(id) => messages::read_rest(id),
        None => "the rest could not be kept".to_owned(),
    };
    let (length, left) = (text.len(), text.len() - head.len() - tail.len());
    format!("{head}\n[… {left} of {length} bytes left out here: {rest} …]\n{tail}")
}

/// At most `length` bytes of `text` from `offset` on, cut between characters.
fn slice(text: &str, offset: usize, length: usize) -> &str {
    let boundary =
        |at: usize| (at.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at));
    let from = boundary(offset).unwrap_or(text.len());
    let to = (from..=from.saturating_add(length).min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.get(from..to.unwrap_or(from)).unwrap_or_default()
}

/// Reads a piece of a stored text, with its position.
pub(crate) async fn read(
    store: &dyn ResultStore,
    id: &str,
    offset: usize,
    length: usize,
) -> Result<String, String> {
    let Some(text) = store.read(id).await else {
        return Err(format!("There is no stored output {id:?} (any more)."));
    };
    let piece = slice(&text, offset, length);
    let end = offset.saturating_add(piece.len()).min(text.len());
    Ok(format!(
        "[bytes {offset} to {end} of {}]\n{piece}",
        text.len()
    ))
}
