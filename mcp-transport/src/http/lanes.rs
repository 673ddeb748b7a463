//! Few connections serve a quick server as well as many do, and hold less memory: each keeps what
//! it needed for its largest reply.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// So many requests go at once to a server that answers quickly.
const LANES: usize = 14;
/// A request that takes longer does not count any more: nobody waits for a slow tool, or for a
/// request that nobody polls.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long one waits in all.
const WAIT: Duration = Duration::from_millis(200);

/// The lanes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Who took one and when, the oldest first.
    taken: VecDeque<(u64, Instant)>,
    last: u64,
    /// Who waits for one, in order.
    waiting: VecDeque<oneshot::Sender<Lane>>,
    closed: bool,
}

/// What one gets who wants a lane.
#[derive(Debug)]
enum Entry {
    Lane(u64),
    /// One will be handed over; by this time there may be one in any case.
    Wait(oneshot::Receiver<Lane>, Instant),
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
        let mut entry = self.state.lock().enter(began);
        loop {
            let (mut handed, until) = match entry {
                Entry::Lane(number) => return Ok(self.lane(number)),
                Entry::Wait(handed, until) => (handed, until.min(began + WAIT)),
                Entry::Closed => return Err(LanesClosed),
            };
            if let Ok(handed) = timeout_at(until, &mut handed).await {
                return handed.map_err(|_| LanesClosed);
            }
            // From here on none can be handed over.
            handed.close();
            if let Ok(lane) = handed.try_recv() {
                return Ok(lane);
            }
            entry = self.state.lock().enter_late(Instant::now(), began + WAIT);
        }
    }

    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.waiting.clear();
    }

    fn lane(self: &Arc<Self>, number: u64) -> Lane {
        let lanes = Arc::clone(self);
        Lane { lanes, number }
    }
}

impl State {
    /// Takes a lane, if nobody waits already.
    fn enter(&mut self, now: Instant) -> Entry {
        let is_free = self.waiting.is_empty() && self.has_room(now);
        self.take_or_wait(is_free, now)
    }

    /// Takes a lane after some time of waiting; in any case, if it is so late.
    fn enter_late(&mut self, now: Instant, late: Instant) -> Entry {
        self.waiting.retain(|waiting| !waiting.is_closed());
        let is_free = self.has_room(now) || now >= late;
        self.take_or_wait(is_free, now)
    }

    fn has_room(&mut self, now: Instant) -> bool {
        let is_old = |(_, since): &&(u64, Instant)| *since + PATIENCE <= now;
        let old = self.taken.iter().take_while(is_old).count();
        self.taken.drain(..old);
        self.taken.len() < LANES
    }

    fn take_or_wait(&mut self, is_free: bool, now: Instant) -> Entry {
        let oldest = self.taken.front().map(|(_, since)| *since);
        match oldest {
            _ if self.closed => Entry::Closed,
            Some(oldest) if !is_free => {
                let (hand_over, handed) = oneshot::channel();
                self.waiting.push_back(hand_over);
                Entry::Wait(handed, oldest + PATIENCE)
            }
            _ => Entry::Lane(self.take(now)),
        }
    }

    fn take(&mut self, now: Instant) -> u64 {
        self.last += 1;
        self.taken.push_back((self.last, now));
        self.last
    }

    /// Leaves a lane; to whom waits first, if it still counts.
    fn leave(&mut self, number: u64) -> Option<(oneshot::Sender<Lane>, u64)> {
        let place = self.taken.iter().position(|(taken, _)| *taken == number)?;
        self.taken.remove(place);
        let next = self.waiting.pop_front()?;
        Some((next, self.take(Instant::now())))
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let left = self.lanes.state.lock().leave(self.number);
        if let Some((next, number)) = left {
            // Should nobody wait there any more, the lane is dropped, and goes to the next.
            drop(next.send(self.lanes.lane(number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

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
    async fn who_waits_goes_before_who_comes_later() {
        let lanes = Arc::default();
        let mut taken = occupy(&lanes).await;
        let first = lanes.enter();
        let again = async {
            taken.pop();
            // At once, before the one that waits learns of it.
            lanes.enter().await.unwrap()
        };
        let mut first = pin!(first);
        tokio::select! {
            biased;
            lane = &mut first => drop(lane),
            _ = again => panic!("overtaken"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lane_is_not_lost_with_one_that_waits_no_more() {
        let lanes = Arc::default();
        let mut taken = occupy(&lanes).await;
        let began = Instant::now();
        let mut gone = Some(Box::pin(lanes.enter()));
        let waits = gone.as_mut().unwrap().as_mut();
        assert!(
            waits
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        let next = lanes.enter();
        let leave = async {
            // Handed over to one that never looks at it.
            taken.pop();
            gone = None;
        };
        let (next, ()) = tokio::join!(next, leave);
        drop(next.unwrap());
        assert!(gone.is_none());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_more_than_so_long() {
        let lanes: Arc<Lanes> = Arc::default();
        let began = Instant::now();
        let mut taken = occupy(&lanes).await;
        let waits: Vec<_> = (0..20 * LANES)
            .map(|_| {
                let lanes = lanes.clone();
                tokio::spawn(async move {
                    let lane = lanes.enter().await.unwrap();
                    (lane, began.elapsed())
                })
            })
            .collect();
        for wait in waits {
            let (lane, waited) = wait.await.unwrap();
            assert!(waited <= WAIT, "{waited:?}");
            taken.push(lane);
        }
        assert!(lanes.state.lock().waiting.is_empty());
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
