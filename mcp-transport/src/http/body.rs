//! The body of a reply, with limits on time and size.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::http::HttpLimits;
use crate::http::body_budget::Reservation;
use crate::http::redirect::shown;
use crate::{ReplyTimeout, TransportError};

/// The maximum allocation up front for a reply that announces its length.
pub(crate) const MAX_PREALLOCATION: usize = 4 << 20;

/// The bytes of a reply as they arrive.
#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    watch: Watch,
}

/// The limits on the pauses and the total duration of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadRate {
    idle: Option<Duration>,
    total: Option<(Duration, Instant)>,
}

impl ReadRate {
    /// The limits for a reply of this kind, counted from now.
    pub(crate) fn new(limits: &HttpLimits, timeout: ReplyTimeout) -> Self {
        match timeout {
            ReplyTimeout::Normal => Self {
                idle: Some(limits.idle_timeout),
                total: Instant::now()
                    .checked_add(limits.total_timeout)
                    .map(|until| (limits.total_timeout, until)),
            },
            ReplyTimeout::Stream => Self {
                idle: None,
                total: None,
            },
        }
    }

    /// A reply that must be complete within `limit`.
    pub(crate) fn within(limit: Duration) -> Self {
        let total = Instant::now()
            .checked_add(limit)
            .map(|until| (limit, until));
        Self { idle: None, total }
    }

    /// The deadline of the next bytes, and the limit that sets it.
    fn deadline(&self) -> Option<(Instant, &'static str, Duration)> {
        let idle = self.idle.and_then(|limit| {
            Some((
                Instant::now().checked_add(limit)?,
                "a pause in the reply",
                limit,
            ))
        });
        let total = self
            .total
            .map(|(limit, until)| (until, "the whole reply", limit));
        idle.into_iter()
            .chain(total)
            .min_by_key(|(until, ..)| *until)
    }
}

/// Enforces the time limits of one reply, with one timer.
#[derive(Debug)]
struct Watch {
    pace: ReadRate,
    /// Never later than the next limit; reset when it fires.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Watch {
    fn new(pace: ReadRate) -> Self {
        Self { pace, timer: None }
    }

    /// Runs `work` within the limits.
    async fn keep<T>(
        &mut self,
        work: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let Some((until, phase, limit)) = self.pace.deadline() else {
            return work.await;
        };
        let mut work = pin!(work);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            let timer = &mut self.timer;
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
            while timer.as_mut().poll(cx).is_ready() {
                if Instant::now() >= until {
                    return Poll::Ready(Err(TransportError::Timeout { phase, limit }));
                }
                timer.as_mut().reset(until);
            }
            Poll::Pending
        })
        .await
    }
}

impl Body {
    pub(crate) fn new(response: Response, pace: ReadRate) -> Self {
        let watch = Watch::new(pace);
        Self { response, watch }
    }

    pub(crate) fn set_pace(&mut self, pace: ReadRate) {
        self.watch = Watch::new(pace);
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        let response = &mut self.response;
        self.watch
            .keep(async {
                response.chunk().await.map_err(|error| TransportError::Io {
                    action: format!("reading the reply of {}", shown(response.url())),
                    source: error.without_url().into(),
                })
            })
            .await
    }

    /// The announced length; 0 if there is none.
    pub(crate) fn announced(&self) -> usize {
        let length = self.response.content_length().unwrap_or(0);
        usize::try_from(length).unwrap_or(usize::MAX)
    }

    /// The whole body, if it has at most `limit` bytes. A large one waits for its reservation.
    pub(crate) async fn whole(
        mut self,
        limit: usize,
        mut reservation: Reservation,
    ) -> Result<Vec<u8>, TransportError> {
        let too_large = || TransportError::TooLarge {
            what: "the reply",
            limit,
        };
        let length = self.announced();
        if length > limit {
            return Err(too_large());
        }
        reservation.reserve(length).await;
        let mut whole = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.len().saturating_add(chunk.len()) > limit {
                return Err(too_large());
            }
            if whole.is_empty() && chunk.len() >= length {
                whole = Vec::from(chunk);
                continue;
            }
            reservation.reserve(whole.len() + chunk.len()).await;
            if whole.is_empty() {
                whole.reserve_exact(length.min(MAX_PREALLOCATION));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole)
    }

    /// The part of the body that arrives in time and fits.
    pub(crate) async fn start(mut self, limit: usize) -> Vec<u8> {
        let mut start = Vec::new();
        while start.len() < limit
            && let Ok(Some(chunk)) = self.chunk().await
        {
            let room = limit.saturating_sub(start.len()).min(chunk.len());
            start.extend_from_slice(chunk.get(..room).unwrap_or_default());
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limits() -> HttpLimits {
        HttpLimits::default()
            .with_idle_timeout(10 * SECOND)
            .with_total_timeout(60 * SECOND)
    }

    async fn pause(watch: &mut Watch, time: Duration) -> Result<(), String> {
        let waited = watch.keep(async {
            sleep(time).await;
            Ok(())
        });
        waited.await.map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_limited_anew_each_time_and_the_whole_once() {
        let mut watch = Watch::new(ReadRate::new(&limits(), ReplyTimeout::Normal));
        for _ in 0..6 {
            assert_eq!(pause(&mut watch, 9 * SECOND).await, Ok(()));
        }
        let error = pause(&mut watch, 9 * SECOND).await.unwrap_err();
        assert_eq!(error, "the whole reply took longer than 60s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_pause_ends_the_reply() {
        let mut watch = Watch::new(ReadRate::new(&limits(), ReplyTimeout::Normal));
        // The timer of an earlier pause must not apply to a later one.
        assert_eq!(pause(&mut watch, SECOND).await, Ok(()));
        let began = Instant::now();
        let error = pause(&mut watch, 11 * SECOND).await.unwrap_err();
        assert_eq!(error, "a pause in the reply took longer than 10s");
        assert_eq!(began.elapsed(), 10 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_pause_for_a_year() {
        let mut watch = Watch::new(ReadRate::new(&limits(), ReplyTimeout::Stream));
        assert_eq!(pause(&mut watch, 365 * 86_400 * SECOND).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn limits_beyond_all_clocks_are_no_limits() {
        let limits = limits()
            .with_idle_timeout(Duration::MAX)
            .with_total_timeout(Duration::MAX);
        let mut watch = Watch::new(ReadRate::new(&limits, ReplyTimeout::Normal));
        assert_eq!(pause(&mut watch, 365 * 86_400 * SECOND).await, Ok(()));
    }
}
