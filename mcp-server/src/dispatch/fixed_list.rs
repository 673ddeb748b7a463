//! A list of tools that never changes: its pages are encoded once for each revision.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::PageParams;
use parking_lot::Mutex;

use crate::dispatch::{Exchange, Outcome};

/// The most pages that are kept, over all revisions.
const MAX_PAGES: usize = 64;

/// The longest cursor, in bytes, of a page that is kept.
const MAX_CURSOR: usize = 256;

/// A page's revision and cursor.
type Key = (Revision, Option<String>);

/// The pages that were asked for so far.
#[derive(Default)]
pub(crate) struct FixedList(Mutex<HashMap<Key, Bytes>>);

/// `tools/list`.
pub(crate) async fn tools(exchange: &Exchange) -> Outcome {
    let params: PageParams = exchange.params()?;
    let handler = Arc::clone(&exchange.shared.handler);
    let kept = handler
        .has_fixed_tools()
        .then_some(&exchange.shared.fixed_tools);
    let is_short = params
        .cursor
        .as_ref()
        .is_none_or(|it| it.len() <= MAX_CURSOR);
    let kept = kept.filter(|_| is_short);
    let key = (exchange.client.revision, params.cursor.clone());
    if let Some(page) = kept.and_then(|kept| kept.0.lock().get(&key).cloned()) {
        return Ok(page);
    }
    let cx = exchange.context(params.meta.clone());
    let listing = async move { handler.list_tools(params, cx).await };
    let page = exchange.plain(listing).await?;
    if let Some(kept) = kept {
        let mut pages = kept.0.lock();
        if pages.len() < MAX_PAGES {
            pages.insert(key, page.clone());
        }
    }
    Ok(page)
}
