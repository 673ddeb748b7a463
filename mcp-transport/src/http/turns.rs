//! Large replies are read in turns, so that not many are held at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// From so many bytes on a reply is large.
const LARGE: usize = 64 * 1024;
/// So many large replies are read at once.
const AT_ONCE: usize = 1;
/// How long one waits for its turn. Then it goes on without: a reply that comes slowly, or never
/// to its end, does not keep others from theirs.
const PATIENCE: Duration = Duration::from_millis(50);

/// The turns of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    places: Arc<Semaphore>,
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
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { places }
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
            let place = self.turns.places.clone().acquire_owned();
            let place = timeout(PATIENCE, place).await;
            self.held = Some(Held(place.ok().and_then(Result::ok)));
        }
    }

    /// The message is handed on.
    pub(crate) fn end(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        next.end();
        large.pop();
        next.wait(LARGE).await;
        assert_eq!(began.elapsed(), PATIENCE);
    }
}
