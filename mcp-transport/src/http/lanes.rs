//! Few connections serve a quick server as well as many do, and hold less memory: each keeps what
//! it needed for its largest reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

/// So many requests go at once to a server that answers quickly.
const LANES: usize = 16;
/// A request that takes longer lets the next one go: nobody waits for a slow tool.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long one waits for a lane. Then it goes on without: those before it are perhaps held by
/// somebody who does not poll them.
const WAIT: Duration = Duration::from_millis(200);

/// The lanes of one connection.
#[derive(Debug)]
pub(crate) struct Lanes {
    free: Arc<Semaphore>,
}

/// The lane of one request, for a while.
#[derive(Debug)]
pub(crate) struct Lane {
    held: Option<OwnedSemaphorePermit>,
    until: Instant,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        let free = Arc::new(Semaphore::new(LANES));
        Self { free }
    }

    /// Waits for a lane, but not for ever; fails once they are closed.
    pub(crate) async fn enter(&self) -> Result<Lane, AcquireError> {
        let place = timeout(WAIT, self.free.clone().acquire_owned()).await;
        let held = place.ok().transpose()?;
        let until = Instant::now() + PATIENCE;
        Ok(Lane { held, until })
    }

    pub(crate) fn close(&self) {
        self.free.close();
    }
}

impl Lane {
    /// Does `work`, and leaves the lane to others if that takes long.
    pub(crate) async fn keep<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if self.held.is_some() {
            if let Ok(done) = timeout_at(self.until, &mut work).await {
                return done;
            }
            self.held = None;
        }
        work.await
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    async fn occupy(lanes: &Lanes) -> Vec<Lane> {
        let mut taken = Vec::new();
        for _ in 0..LANES {
            taken.push(lanes.enter().await.unwrap());
        }
        taken
    }

    /// How long it takes to get a lane.
    async fn waited(lanes: &Lanes) -> Duration {
        let began = Instant::now();
        let _lane = lanes.enter().await.unwrap();
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_goes_when_one_is_done() {
        let lanes = Lanes::new();
        let mut taken = occupy(&lanes).await;
        let quick = async {
            let mut lane = taken.remove(0);
            lane.keep(sleep(PATIENCE / 2)).await;
        };
        let (waited, ()) = tokio::join!(waited(&lanes), quick);
        assert_eq!(waited, PATIENCE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_work_goes_on_and_leaves_its_lane() {
        let lanes = Lanes::new();
        let mut taken = occupy(&lanes).await;
        let began = Instant::now();
        let slow = async {
            // The clock runs from the beginning, not from each part of the work.
            taken[0].keep(sleep(PATIENCE / 2)).await;
            taken[0].keep(sleep(PATIENCE * 100)).await;
            began.elapsed()
        };
        let (waited, worked) = tokio::join!(waited(&lanes), slow);
        assert_eq!((waited, worked), (PATIENCE, PATIENCE / 2 + PATIENCE * 100));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_nobody_polls_do_not_hold_up_others_for_ever() {
        let lanes = Lanes::new();
        let _taken = occupy(&lanes).await;
        assert_eq!(waited(&lanes).await, WAIT);
    }

    #[tokio::test]
    async fn closed_lanes_let_nobody_in() {
        let lanes = Lanes::new();
        let _taken = occupy(&lanes).await;
        let (next, ()) = tokio::join!(lanes.enter(), async { lanes.close() });
        assert!(next.is_err());
    }
}
