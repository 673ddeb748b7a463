//! Large replies are read in turns, so that not many are held at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::heap;

/// From so many bytes on a reply is large.
pub(crate) const LARGE: usize = 64 * 1024;
/// So many large replies are read at once.
const AT_ONCE: usize = 1;
/// How long one waits for its turn. Then it goes on without: a reply that comes slowly, or never
/// to its end, does not keep others from theirs.
const PATIENCE: Duration = Duration::from_millis(50);

/// The turns of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    places: Arc<Semaphore>,
    /// The size of the last large message: the next one may well be as large.
    last: Arc<AtomicUsize>,
}

/// What one reader of replies holds: a turn, or nothing.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Turns,
    held: Option<Held>,
}

/// A turn, or the leave to go on without.
#[derive(Debug)]
struct Held(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl Turns {
    pub(crate) fn new() -> Self {
        heap::keep_for_one();
        Self {
            places: Arc::new(Semaphore::new(AT_ONCE)),
            last: Arc::default(),
        }
    }

    /// For a reader that holds nothing yet.
    pub(crate) fn reader(&self) -> Turn {
        let turns = self.clone();
        Turn { turns, held: None }
    }
}

impl Turn {
    /// Waits for a turn where so many bytes of a message are in hand already, once for a message.
    pub(crate) async fn wait(&mut self, bytes: usize) {
        if bytes >= LARGE && self.held.is_none() {
            if self.turns.places.available_permits() == 0 {
                heap::keep_for_many();
            }
            let place = self.turns.places.clone().acquire_owned();
            let place = timeout(PATIENCE, place).await;
            self.held = Some(Held(place.ok().and_then(Result::ok)));
        }
    }

    /// A message of this size is handed on.
    pub(crate) fn end(&mut self, bytes: usize) {
        self.held = None;
        if bytes >= LARGE {
            self.turns.last.store(bytes, Ordering::Relaxed);
        }
    }

    /// How many bytes a message may have that is large already.
    pub(crate) fn expected(&self) -> usize {
        self.turns.last.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_large_message_may_be_as_large_as_the_last() {
        let turns = Turns::new();
        let (mut one, other) = (turns.reader(), turns.reader());
        assert_eq!(other.expected(), 0);
        for (size, expected) in [(LARGE, LARGE), (2 * LARGE, 2 * LARGE), (7, 2 * LARGE)] {
            one.end(size);
            assert_eq!(other.expected(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn small_replies_never_wait() {
        let turns = Turns::new();
        let mut large: Vec<Turn> = (0..AT_ONCE).map(|_| turns.reader()).collect();
        for turn in &mut large {
            turn.wait(LARGE).await;
        }
        let began = tokio::time::Instant::now();
        turns.reader().wait(LARGE - 1).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_reply_waits_for_a_turn_but_not_for_ever() {
        let turns = Turns::new();
        let mut large: Vec<Turn> = (0..AT_ONCE).map(|_| turns.reader()).collect();
        for turn in &mut large {
            turn.wait(LARGE).await;
        }
        let mut next = turns.reader();
        let began = tokio::time::Instant::now();
        next.wait(LARGE).await;
        assert_eq!(began.elapsed(), PATIENCE);
        // It has waited once: that is enough for one message.
        next.wait(LARGE).await;
        assert_eq!(began.elapsed(), PATIENCE);
        next.end(LARGE);
        large.pop();
        next.wait(LARGE).await;
        assert_eq!(began.elapsed(), PATIENCE);
    }
}
