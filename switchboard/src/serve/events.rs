//! Live events: what the store has, and then what it gets.
//!
//! A reader is woken by a mark and reads the store after the last number it has seen: always in
//! order, nothing doubled, nothing lost. A slow reader reads later; nobody waits for it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Sent, Sse};
use futures_util::Stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::serve::app::{App, closed};
use crate::serve::error::ApiError;
use crate::serve::input::{Params, User};
use crate::serve::own::Own;
use crate::store::{Conversation, ConversationId, Event, Marks, Store, UserId};

/// Something is sent at least this often. The store is looked at as well: another process may
/// have written to it.
const BEAT: Duration = Duration::from_secs(15);
/// How many events are read at a time.
const PAGE: u32 = 200;
/// The most readers at a time.
pub(crate) const READERS: usize = 256;
/// The name that some readers know a changed call by.
const ALIAS: &str = "tool.message.updated";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    conversation: Option<String>,
    after: Option<u64>,
    /// Whether a changed call is told by its other name as well.
    alias: Option<u8>,
}

pub(crate) async fn events(
    State(app): State<App>,
    User(user): User,
    Params(wish): Params<Wish>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Sent, Infallible>>>, ApiError> {
    let conversation: Option<Conversation> = Own::maybe(&app, &user, wish.conversation).await?;
    let conversation = conversation.map(|row| row.id);
    let permit = Arc::clone(&app.readers).try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::rate_limited(5))?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.trim().parse().ok());
    // Marks first: what is appended from here on is heard of.
    let marks = app.store.marks();
    let bounds = app.store.event_bounds(&user).await?;
    let after: u64 = last.or(wish.after).unwrap_or(bounds.latest);
    let mut reader = Reader {
        store: Arc::clone(&app.store),
        closing: app.closing.clone(),
        marks,
        user,
        conversation,
        after,
        alias: wish.alias == Some(1),
        queue: VecDeque::from([Sent::default().comment("open")]),
        _permit: permit,
    };
    if after < bounds.forgotten {
        // What was missed is gone: load everything anew.
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
    closing: watch::Receiver<bool>,
    marks: Marks,
    user: UserId,
    conversation: Option<ConversationId>,
    after: u64,
    alias: bool,
    queue: VecDeque<Sent>,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    /// What is sent next; nothing once there will be nothing.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some(sent) = self.queue.pop_front() {
                return Some(sent);
            }
            let place = self.conversation.clone();
            let events = self
                .store
                .events(&self.user, place.as_ref(), self.after, PAGE)
                .await
                .ok()?;
            for event in &events {
                self.after = event.seq;
                self.send(event);
            }
            if !events.is_empty() {
                continue;
            }
            let heard = self.marks.heard(&self.user, place.as_ref());
            tokio::select! {
                heard = heard => if !heard { return None },
                () = closed(&mut self.closing) => return None,
                () = tokio::time::sleep(BEAT) => {
                    self.queue.push_back(Sent::default().comment("still here"));
                }
            }
        }
    }

    fn send(&mut self, event: &Event) {
        let (id, data) = (event.seq.to_string(), event.data.to_string());
        let sent = |kind: &str| Sent::default().id(&id).event(kind).data(&data);
        if self.alias && event.kind == "assistant.toolCall.updated" {
            self.queue.push_back(sent(ALIAS));
        }
        self.queue.push_back(sent(&event.kind));
    }
}
