//! Wake-ups for new events.

use std::fmt;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::store::change::Change;
use crate::store::id::{ConversationId, UserId};

/// Capacity of the channel. A slower listener misses signals and reads the store instead.
const CAPACITY: usize = 1024;

/// Whose event was appended; nothing if it may have been anyone's.
type Appended = Option<(UserId, Option<ConversationId>)>;

/// Signals new events to listeners, for back ends that implement [`Store::event_cursor`].
///
/// [`Store::event_cursor`]: crate::store::Store::event_cursor
#[derive(Clone)]
pub struct EventSignal {
    channel: broadcast::Sender<Appended>,
}

impl Default for EventSignal {
    fn default() -> Self {
        let (channel, _) = broadcast::channel(CAPACITY);
        Self { channel }
    }
}

impl EventSignal {
    /// Signals the events among committed changes.
    pub fn notify(&self, changes: &[Change]) {
        for change in changes {
            if let Change::AppendEvent(event) = change {
                self.appended(event.user_id.clone(), event.conversation_id.clone());
            }
        }
    }

    /// Signals an event of a user, in a conversation or none.
    pub fn appended(&self, user: UserId, conversation: Option<ConversationId>) {
        // There may be no listeners.
        let _ = self.channel.send(Some((user, conversation)));
    }

    /// Signals that anything may have been appended.
    pub fn notify_all(&self) {
        let _ = self.channel.send(None);
    }

    /// Subscribes from now on.
    pub fn cursor(&self) -> EventCursor {
        let channel = self.channel.subscribe();
        EventCursor { channel }
    }
}

impl fmt::Debug for EventSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSignal")
            .field("listeners", &self.channel.receiver_count())
            .finish()
    }
}

/// Receives signals of new events. A listener never blocks a writer.
#[derive(Debug)]
pub struct EventCursor {
    channel: broadcast::Receiver<Appended>,
}

impl EventCursor {
    /// Waits until a user may have new events: of one conversation and of none, or of all. `false`
    /// once there will be no more. Cancel safe.
    pub async fn appended(&mut self, user: &UserId, conversation: Option<&ConversationId>) -> bool {
        loop {
            match self.channel.recv().await {
                Ok(None) => return true,
                Ok(Some((whose, place))) => {
                    let place = place.as_ref();
                    let here = conversation.is_none() || place.is_none() || place == conversation;
                    if whose == *user && here {
                        return true;
                    }
                }
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}
