//! Few connections serve a quick server as well as many do, and hold less memory: each keeps what
//! it needed for its largest reply.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// So many requests go at once to a server that answers quickly.
const LANES: usize = 16;
/// A request that takes longer does not count any more: nobody waits for a slow tool, or for a
/// request that nobody polls.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long one waits in all, should others always be faster to take what is free.
const WAIT: Duration = Duration::from_millis(200);

/// The lanes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    state: Mutex<State>,
    /// Rings when one is left.
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Who took one and when, the oldest first.
    taken: VecDeque<(u64, Instant)>,
    last: u64,
    closed: bool,
}

/// Why there is no lane.
#[derive(Debug, Eq, PartialEq)]
enum Busy {
    /// There will be one at this time at the latest.
    Until(Instant),
    Closed,
}

/// The lane of one request.
#[derive(Debug)]
pub(crate) struct Lane {
    lanes: Arc<Lanes>,
    number: u64,
}

/// There are no lanes any more.
#[derive(Debug)]
pub(crate) struct LanesClosed;

impl Lanes {
    /// Waits for a lane, but not for long; fails once they are closed.
    pub(crate) async fn enter(self: &Arc<Self>) -> Result<Lane, LanesClosed> {
        let began = Instant::now();
        loop {
            let left = self.left.notified();
            let now = Instant::now();
            let lanes = if now < began + WAIT {
                LANES
            } else {
                usize::MAX
            };
            let entered = self.state.lock().enter(now, lanes);
            match entered {
                Ok(number) => {
                    let lanes = Arc::clone(self);
                    return Ok(Lane { lanes, number });
                }
                Err(Busy::Closed) => return Err(LanesClosed),
                Err(Busy::Until(until)) => {
                    let _ = timeout_at(until.min(began + WAIT), left).await;
                }
            }
        }
    }

    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.left.notify_waiters();
    }
}

impl State {
    /// Takes one of so many lanes.
    fn enter(&mut self, now: Instant, lanes: usize) -> Result<u64, Busy> {
        if self.closed {
            return Err(Busy::Closed);
        }
        let old = self
            .taken
            .iter()
            .take_while(|(_, since)| *since + PATIENCE <= now);
        self.taken.drain(..old.count());
        if let Some((_, since)) = self.taken.front().filter(|_| self.taken.len() >= lanes) {
            return Err(Busy::Until(*since + PATIENCE));
        }
        self.last += 1;
        self.taken.push_back((self.last, now));
        Ok(self.last)
    }

    fn leave(&mut self, number: u64) {
        self.taken.retain(|(taken, _)| *taken != number);
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.lanes.state.lock().leave(self.number);
        self.lanes.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    async fn occupy(lanes: &Arc<Lanes>) -> Vec<Lane> {
        let mut taken = Vec::new();
        for _ in 0..LANES {
            taken.push(lanes.enter().await.unwrap());
        }
        taken
    }

    /// How long it takes to get a lane.
    async fn waited(lanes: &Arc<Lanes>) -> Duration {
        let began = Instant::now();
        let _lane = lanes.enter().await.unwrap();
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_goes_when_one_is_done() {
        let lanes = Arc::default();
        let mut taken = occupy(&lanes).await;
        let quick = async {
            let _lane = taken.remove(0);
            sleep(PATIENCE / 2).await;
        };
        let (waited, ()) = tokio::join!(waited(&lanes), quick);
        assert_eq!(waited, PATIENCE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_take_long_do_not_hold_up_others() {
        let lanes = Arc::default();
        let mut slow = occupy(&lanes).await;
        assert_eq!(waited(&lanes).await, PATIENCE);
        // That they end after all makes no more room than there is.
        let mut others = occupy(&lanes).await;
        slow.clear();
        assert_eq!(waited(&lanes).await, PATIENCE);
        advance(PATIENCE / 2).await;
        others.clear();
        assert_eq!(waited(&lanes).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever_where_others_are_faster() {
        let lanes = Arc::default();
        let mut taken = VecDeque::from(occupy(&lanes).await);
        let overtaken = waited(&lanes);
        let faster = async {
            loop {
                sleep(Duration::from_millis(1)).await;
                taken.pop_front();
                // Before the one that waits learns of it.
                taken.push_back(lanes.enter().await.unwrap());
            }
        };
        tokio::select! {
            waited = overtaken => assert_eq!(waited, WAIT),
            () = faster => {}
        }
    }

    #[tokio::test]
    async fn closed_lanes_let_nobody_in() {
        let lanes = Arc::default();
        let _taken = occupy(&lanes).await;
        let (next, ()) = tokio::join!(lanes.enter(), async { lanes.close() });
        assert!(next.is_err());
        assert!(lanes.enter().await.is_err());
    }
}
