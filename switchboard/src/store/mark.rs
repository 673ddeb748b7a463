//! Word of new events.

use std::fmt;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::store::change::Change;
use crate::store::id::{ConversationId, UserId};

/// Marks that wait for a listener; one that is slower misses some, and reads the store instead.
const WAITING: usize = 1024;

/// Whose event was appended.
type Mark = (UserId, Option<ConversationId>);

/// Tells listeners of new events: what a back end needs for [`Store::marks`].
///
/// [`Store::marks`]: crate::store::Store::marks
#[derive(Clone)]
pub struct Marker {
    marks: broadcast::Sender<Mark>,
}

impl Default for Marker {
    fn default() -> Self {
        let (marks, _) = broadcast::channel(WAITING);
        Self { marks }
    }
}

impl Marker {
    /// Tells of the events among changes that have just been committed.
    pub fn tell(&self, changes: &[Change]) {
        for change in changes {
            if let Change::AppendEvent(event) = change {
                // Nobody may be listening.
                let _ = self
                    .marks
                    .send((event.user_id.clone(), event.conversation_id.clone()));
            }
        }
    }

    /// Listens from now on.
    pub fn marks(&self) -> Marks {
        let marks = self.marks.subscribe();
        Marks { marks }
    }
}

impl fmt::Debug for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Marker")
            .field("listeners", &self.marks.receiver_count())
            .finish()
    }
}

/// Hears of new events. Whoever listens never holds up whoever writes.
#[derive(Debug)]
pub struct Marks {
    marks: broadcast::Receiver<Mark>,
}

impl Marks {
    /// Waits until there may be new events of a user: of one conversation and of none, or of all.
    /// False once there will be no more. Cancel safe.
    pub async fn heard(&mut self, user: &UserId, conversation: Option<&ConversationId>) -> bool {
        loop {
            match self.marks.recv().await {
                Ok((whose, place)) => {
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
