//! Reads a user's new events once for all of the user's readers.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::AbortHandle;

use super::window::{Line, Window};
use super::{BEAT, PAGE};
use crate::serve::listen::max_connections;
use crate::store::{EventCursor, Store, StoreError, UserId};

/// Maximum number of readers per user, where there are connections for eight such users.
const READERS: usize = 256;
/// Maximum number and bytes of recent events kept for readers.
const LINES: usize = 2048;
const BYTES: usize = 4 << 20;

/// The users' feeds. Cloning is cheap. A feed lives as long as it has readers.
#[derive(Clone)]
pub(crate) struct Feeds {
    feeds: Arc<Mutex<HashMap<UserId, Weak<Feed>>>>,
    /// Readers of one user.
    most: usize,
    /// Room for readers of all users.
    room: Arc<Semaphore>,
}

/// Room for a reader: among its user's, and among all.
pub(super) type Room = [OwnedSemaphorePermit; 2];

/// A user's latest events.
pub(super) struct Feed {
    window: Arc<Mutex<Window>>,
    latest: watch::Receiver<u64>,
    room: [Arc<Semaphore>; 2],
    task: AbortHandle,
}

impl Default for Feeds {
    fn default() -> Self {
        Self::among(max_connections())
    }
}

impl Feeds {
    /// For a service with this many connections: a user's readers take an eighth of them at most,
    /// and all readers leave a quarter to other requests.
    fn among(connections: usize) -> Self {
        Self {
            feeds: Arc::default(),
            most: READERS.min(connections / 8).max(1),
            room: Arc::new(Semaphore::new(connections - connections / 4)),
        }
    }

    /// A user's feed, started if there is none.
    pub(super) async fn of(
        &self,
        store: &Arc<dyn Store>,
        user: &UserId,
    ) -> Result<Arc<Feed>, StoreError> {
        if let Some(feed) = self.find(user) {
            return Ok(feed);
        }
        // EventCursor first: what is appended from here on is heard of.
        let cursor = store.event_cursor();
        let latest = store.event_bounds(user).await?.latest;
        let mut feeds = self.feeds.lock();
        // Another task may have started it meanwhile.
        if let Some(feed) = feeds.get(user).and_then(live) {
            return Ok(feed);
        }
        let room = [Arc::new(Semaphore::new(self.most)), Arc::clone(&self.room)];
        let feed = Feed::begin(store, user, (cursor, latest), room);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        feeds.insert(user.clone(), Arc::downgrade(&feed));
        Ok(feed)
    }

    fn find(&self, user: &UserId) -> Option<Arc<Feed>> {
        self.feeds.lock().get(user).and_then(live)
    }
}

/// A feed that is read, and has not failed.
fn live(feed: &Weak<Feed>) -> Option<Arc<Feed>> {
    feed.upgrade().filter(|feed| !feed.task.is_finished())
}

impl Feed {
    fn begin(
        store: &Arc<dyn Store>,
        user: &UserId,
        (cursor, latest): (EventCursor, u64),
        room: [Arc<Semaphore>; 2],
    ) -> Arc<Self> {
        let (reported, heard) = watch::channel(latest);
        let window = Arc::new(Mutex::new(Window::new(latest, LINES, BYTES)));
        let kept = Arc::downgrade(&window);
        let reading = follow(kept, Arc::clone(store), user.clone(), cursor, reported);
        Arc::new(Self {
            window,
            latest: heard,
            room,
            task: tokio::spawn(reading).abort_handle(),
        })
    }

    /// Room for another reader, if there is any.
    pub(super) fn enter(&self) -> Option<Room> {
        let [own, shared] = &self.room;
        let own = Arc::clone(own).try_acquire_owned().ok()?;
        let shared = Arc::clone(shared).try_acquire_owned().ok()?;
        Some([own, shared])
    }

    /// The number of the latest event, whenever there is a new one; it ends if the store fails.
    pub(super) fn latest(&self) -> watch::Receiver<u64> {
        self.latest.clone()
    }

    /// At most a page of the events after this number; nothing if some of them are in the store only.
    pub(super) fn read(&self, after: u64) -> Option<Vec<Arc<Line>>> {
        self.window.lock().read(after, PAGE as usize)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Feeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feeds")
            .field("users", &self.feeds.lock().len())
            .finish()
    }
}

/// Reads new events until there are no readers or the store fails.
async fn follow(
    window: Weak<Mutex<Window>>,
    store: Arc<dyn Store>,
    user: UserId,
    mut cursor: EventCursor,
    reported: watch::Sender<u64>,
) {
    let mut latest = *reported.borrow();
    loop {
        let Ok(events) = store.events(&user, None, latest, PAGE).await else {
            return;
        };
        let Some(window) = window.upgrade() else {
            return;
        };
        let full = events.len() == PAGE as usize;
        if !events.is_empty() {
            let mut window = window.lock();
            events
                .into_iter()
                .for_each(|event| window.push(event.into()));
            latest = window.latest();
            drop(window);
            reported.send_replace(latest);
        }
        drop(window);
        if full {
            continue;
        }
        // Another process may have written as well: that is not heard of.
        tokio::select! {
            heard = cursor.appended(&user, None) => if !heard { return },
            () = tokio::time::sleep(BEAT) => {}
        }
        // What came meanwhile is read together.
        while cursor.appended(&user, None).now_or_never() == Some(true) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Limits, SqliteStore};

    #[tokio::test]
    async fn readers_leave_connections_to_their_user_to_others_and_to_other_requests() {
        let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        for (connections, own, all) in [(1, 1, 1), (16, 2, 12), (512, 64, 384), (2048, 256, 1536)] {
            let feeds = Feeds::among(connections);
            let (mut held, mut rooms, mut first) = (Vec::new(), Vec::new(), 0);
            for user in 0..8 {
                let user = UserId::new(format!("user{user}"));
                let feed = feeds.of(&store, &user).await.unwrap();
                rooms.extend(std::iter::from_fn(|| feed.enter()));
                first = first.max(rooms.len() * usize::from(held.is_empty()));
                held.push(feed);
            }
            assert_eq!((first, rooms.len()), (own, all), "{connections}");
            drop(rooms);
            assert!(held.iter().all(|feed| feed.enter().is_some()));
        }
    }
}
