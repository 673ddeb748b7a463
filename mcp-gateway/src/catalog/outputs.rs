//! Results over the cap: their text is kept for a while, for `read_output`.

use std::collections::VecDeque;
use std::sync::Arc;

use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use mcp_server::{Context, Error};
use parking_lot::Mutex;

const PURPOSE: &str = "output";
/// Bytes that are kept of all results together; the oldest are forgotten first.
const MAX_KEPT: usize = 64 << 20;

/// The texts of results over the cap.
pub(crate) struct Outputs {
    cap: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    texts: VecDeque<(u64, Arc<str>)>,
    bytes: usize,
    next: u64,
}

impl Outputs {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap,
            kept: Mutex::default(),
        }
    }

    /// The result itself, or, if it is over the cap, its beginning and how to read on.
    pub(crate) fn fit(
        &self,
        result: CallToolResult,
        cx: &Context,
    ) -> Result<CallToolResult, Error> {
        let json = serde_json::to_string(&result)?;
        if json.len() <= self.cap {
            return Ok(result);
        }
        let texts: Option<Vec<&str>> = result.content.iter().map(ContentBlock::as_text).collect();
        let text = match (texts, &result.structured_content) {
            (Some(texts), None) => texts.join("\n"),
            // What is more than text is read as JSON.
            _ => json,
        };
        let head = text.get(..floor(&text, self.cap / 2));
        let (head, length) = (head.unwrap_or_default().to_owned(), text.len());
        let id = cx
            .seal(PURPOSE, &self.keep(text))
            .ok_or_else(|| Error::internal("the id of an output is too long"))?;
        let note = format!(
            "{head}\n[… the first {} of {length} bytes: read on with read_output, id {id:?}, offset \
             {} …]",
            head.len(),
            head.len(),
        );
        let mut short = CallToolResult::new(vec![ContentBlock::text(note)]);
        short.is_error = result.is_error;
        short.meta = result.meta;
        Ok(short)
    }

    fn keep(&self, mut text: String) -> u64 {
        text.truncate(floor(&text, MAX_KEPT));
        let mut kept = self.kept.lock();
        kept.bytes += text.len();
        while kept.bytes > MAX_KEPT
            && let Some((_, oldest)) = kept.texts.pop_front()
        {
            kept.bytes -= oldest.len();
        }
        kept.next += 1;
        let id = kept.next;
        kept.texts.push_back((id, text.into()));
        id
    }

    /// A part of a text that is kept, for the caller that it was kept for.
    pub(crate) fn read(
        &self,
        id: &str,
        offset: usize,
        length: usize,
        cx: &Context,
    ) -> Result<CallToolResult, Error> {
        let number: Option<u64> = cx.open_sealed(PURPOSE, id);
        let text = number.and_then(|number| {
            let kept = self.kept.lock();
            let mut texts = kept.texts.iter();
            let found = texts.find(|(it, _)| *it == number);
            found.map(|(_, text)| Arc::clone(text))
        });
        let Some(text) = text else {
            let message = "there is no output of this id, or it is not kept any more; call the \
                           tool again";
            return Err(Error::failed(message));
        };
        let start = floor(&text, offset);
        let end = ceil(&text, start.saturating_add(length));
        let part = text.get(start..end).unwrap_or_default();
        let note = match end < text.len() {
            true => format!(
                "\n[… bytes {start} to {end} of {}; read on at offset {end} …]",
                text.len()
            ),
            false => format!("\n[… the end, at byte {end} …]"),
        };
        let part = ContentBlock::text(format!("{part}{note}"));
        Ok(CallToolResult::new(vec![part]))
    }
}

/// The last boundary between characters at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let mut before = (0..=at).rev();
    before.find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first boundary between characters at or after a byte.
fn ceil(text: &str, at: usize) -> usize {
    let mut after = at.min(text.len())..=text.len();
    let found = after.find(|at| text.is_char_boundary(*at));
    found.unwrap_or(text.len())
}
