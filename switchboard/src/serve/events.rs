//! Live events: stored ones first, then new ones as they are appended.
//!
//! New events of a user are read once, for all who read them ([`feed`]), and kept for a while. A
//! reader reads on after the last number it has seen: what is kept if it can, the store if it is
//! late. So events arrive in order, exactly once, and a slow reader delays no one else.

mod feed;
mod window;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Sent, Sse};
use futures_util::Stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

pub(crate) use feed::Feeds;
use feed::{Feed, Room};
use window::Line;

use crate::serve::app::{App, closed};
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::identity::{Caller, is_still_in};
use crate::serve::input::Params;
use crate::store::{Conversation, ConversationId, Store, UserId};

/// Something is sent at least this often. The store is looked at as well: another process may
/// have written to it.
const BEAT: Duration = Duration::from_secs(15);
/// How many events are read at a time.
const PAGE: u32 = 200;
/// The name that some readers know a changed call by.
const ALIAS: &str = "tool.message.updated";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    conversation: Option<String>,
    after: Option<u64>,
    /// Whether a changed call is also sent under its other name.
    alias: Option<u8>,
}

pub(crate) async fn events(
    State(app): State<App>,
    axum::Extension(caller): axum::Extension<Caller>,
    Params(wish): Params<Wish>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Sent, Infallible>>>, ApiError> {
    let user = caller.user.clone();
    let conversation: Option<Conversation> = Owned::maybe(&app, &user, wish.conversation).await?;
    let conversation = conversation.map(|row| row.id);
    let feed = app.feeds.of(&app.store, &user).await?;
    let room = feed.enter().ok_or_else(|| ApiError::rate_limited(5))?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.trim().parse().ok());
    let bounds = app.store.event_bounds(&user).await?;
    let after: u64 = last.or(wish.after).unwrap_or(bounds.latest);
    let mut reader = Reader {
        store: Arc::clone(&app.store),
        caller,
        checked: Instant::now(),
        app: app.clone(),
        closing: app.closing.clone(),
        latest: feed.latest(),
        feed,
        user,
        conversation,
        after,
        alias: wish.alias == Some(1),
        queue: VecDeque::from([Sent::default().comment("open")]),
        _room: room,
    };
    if after < bounds.forgotten {
        // The missed events were pruned: the client must reload.
        reader.after = bounds.latest;
        let data = json!({ "latest": bounds.latest }).to_string();
        let reset = Sent::default().event("reset").data(data);
        reader.queue.push_back(reset.id(bounds.latest.to_string()));
    }
    let stream = futures_util::stream::unfold(reader, |mut reader| async move {
        let next = reader.next().await?;
        Some((Ok(next), reader))
    });
    Ok(Sse::new(stream))
}

struct Reader {
    store: Arc<dyn Store>,
    app: App,
    caller: Caller,
    /// When the caller was last known to be let in.
    checked: Instant,
    closing: watch::Receiver<bool>,
    feed: Arc<Feed>,
    latest: watch::Receiver<u64>,
    user: UserId,
    conversation: Option<ConversationId>,
    after: u64,
    alias: bool,
    queue: VecDeque<Sent>,
    _room: Room,
}

impl Reader {
    /// What is sent next; nothing once there will be nothing.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            if self.checked.elapsed() >= BEAT {
                self.checked = Instant::now();
                if !is_still_in(&self.app, &self.caller).await {
                    return None;
                }
            }
            if let Some(sent) = self.queue.pop_front() {
                return Some(sent);
            }
            // Everything up to here can be read.
            let known = *self.latest.borrow_and_update();
            match self.feed.read(self.after) {
                Some(lines) if lines.is_empty() => {}
                Some(lines) => {
                    lines.iter().for_each(|line| self.take(line));
                    continue;
                }
                None => {
                    self.catch_up(known).await?;
                    continue;
                }
            }
            tokio::select! {
                reported = self.latest.changed() => reported.ok()?,
                () = closed(&mut self.closing) => return None,
                () = tokio::time::sleep(BEAT) => {
                    self.queue.push_back(Sent::default().comment("still here"));
                }
            }
        }
    }

    /// Reads a page of what is not kept any more.
    async fn catch_up(&mut self, known: u64) -> Option<()> {
        let place = self.conversation.as_ref();
        let events = self.store.events(&self.user, place, self.after, PAGE).await;
        let events = events.ok()?;
        let full = events.len() == PAGE as usize;
        events.into_iter().for_each(|it| self.take(&it.into()));
        if !full {
            self.after = self.after.max(known);
        }
        Some(())
    }

    fn take(&mut self, line: &Line) {
        self.after = line.seq;
        if line.is_for(self.conversation.as_ref()) {
            self.send(line);
        }
    }

    fn send(&mut self, event: &Line) {
        let id = event.seq.to_string();
        let sent = |kind: &str| Sent::default().id(&id).event(kind).data(&event.data);
        if self.alias && event.kind == "assistant.toolCall.updated" {
            self.queue.push_back(sent(ALIAS));
        }
        self.queue.push_back(sent(&event.kind));
    }
}
