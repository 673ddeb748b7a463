//! Resumption in virtual time: when the client reconnects, and after which event.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::*;
use crate::HttpFailure;
use crate::http::HttpLimits;
use crate::http::listen::{Over, listen};

/// A server with these streams to send, one after the other.
struct Server {
    start: Instant,
    streams: Mutex<VecDeque<Result<&'static str, TransportError>>>,
    /// When a stream was requested, and after which event.
    asked: Mutex<Vec<(Duration, String)>>,
}

impl Server {
    fn new(streams: impl IntoIterator<Item = Result<&'static str, TransportError>>) -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            streams: Mutex::new(streams.into_iter().collect()),
            asked: Mutex::default(),
        })
    }

    /// The times in milliseconds, with the event ids.
    fn asked(&self) -> Vec<(u128, String)> {
        self.asked
            .lock()
            .iter()
            .map(|(at, id)| (at.as_millis(), id.clone()))
            .collect()
    }
}

impl Open for Arc<Server> {
    async fn open(&self, last_event_id: Option<&str>) -> Result<EventStream, TransportError> {
        let id = last_event_id.unwrap_or("-").to_owned();
        self.asked.lock().push((self.start.elapsed(), id));
        match self.streams.lock().pop_front() {
            Some(stream) => stream.map(events),
            None => Err(refused(405)),
        }
    }
}

fn events(text: &'static str) -> EventStream {
    let limits = HttpLimits::default();
    let response = http::Response::new(text).into();
    EventStream::new(
        response,
        ReadRate::new(&limits, crate::ReplyTimeout::Normal),
        limits.message_bytes,
    )
}

fn refused(status: u16) -> TransportError {
    let url = "http://localhost/mcp".to_owned();
    TransportError::Http(HttpFailure {
        status,
        url,
        body: Vec::new(),
        retry_after: None,
    })
}

/// Plays a reply that begins with `first`; returns when the stream was reopened, and how it ended.
async fn reply(
    first: &'static str,
    more: impl IntoIterator<Item = Result<&'static str, TransportError>>,
) -> (Vec<(u128, String)>, String) {
    let server = Server::new(more);
    let limits = HttpLimits::default();
    let plan = Reconnect::new(&limits, limits.resumptions);
    let mut reply = ReplyStream {
        request: 1.into(),
        stream: events(first),
        inbox: Arc::new(Inbox::new(100, 100_000)),
        limits: DecodeLimits::default(),
        resume: Some((server.clone(), plan)),
    };
    let end = match reply.response().await {
        Ok(_) => {
            reply.drain().await;
            over()
        }
        Err(error) => error,
    };
    (server.asked(), end.to_string())
}

/// Reads a reply; returns its response, with whether it may bypass the inbox, and what the inbox
/// received.
async fn read(text: &'static str) -> (Option<(String, bool)>, Vec<String>) {
    let inbox = Arc::new(Inbox::new(100, 100_000));
    let mut reply = ReplyStream {
        request: 1.into(),
        stream: events(text),
        inbox: inbox.clone(),
        limits: DecodeLimits::default(),
        resume: None::<(Arc<Server>, Reconnect)>,
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let response = reply.response().await.ok();
    let response = response.map(|response| (text(response.body), response.is_direct));
    reply.drain().await;
    inbox.end(crate::Closed::clean());
    let mut received = Vec::new();
    while let Incoming::Message { body, .. } = inbox.recv().await {
        received.push(text(body));
    }
    (response, received)
}

#[tokio::test]
async fn a_response_that_comes_first_may_bypass_the_inbox() {
    let response = ANSWER.trim().strip_prefix("data: ").unwrap();
    assert_eq!(
        read(ANSWER).await,
        (Some((response.to_owned(), true)), vec![])
    );
}

#[tokio::test]
async fn a_response_does_not_overtake_what_came_before_it() {
    let text = "data: {\"method\":\"a\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    let (response, received) = read(text).await;
    assert!(matches!(response, Some((_, false))), "{response:?}");
    assert_eq!(received, [r#"{"method":"a"}"#]);
}

#[tokio::test]
async fn what_follows_the_response_and_responses_to_others_go_to_the_inbox() {
    let text = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\ndata: {\"method\":\"a\"}\n\n";
    let (response, received) = read(text).await;
    assert!(matches!(response, Some((_, true))), "{response:?}");
    assert_eq!(received, [r#"{"method":"a"}"#]);
    let text = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n";
    let (response, received) = read(text).await;
    assert_eq!((response, received.len()), (None, 1));
}

const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";

#[tokio::test(start_paused = true)]
async fn a_reply_is_resumed_exactly_when_the_server_said() {
    let (asked, _) = reply("id: e1\nretry: 500\ndata:\n\n", [Ok(ANSWER)]).await;
    assert_eq!(asked, [(500, "e1".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn each_resumption_starts_after_the_last_event() {
    let again = "id: e2\ndata:\n\n";
    let (asked, _) = reply("id: e1\nretry: 1500\ndata:\n\n", [Ok(again), Ok(ANSWER)]).await;
    assert_eq!(asked, [(1500, "e1".to_owned()), (3000, "e2".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_one_millisecond_makes_no_storm() {
    let empty = std::iter::repeat_with(|| Ok("")).take(5);
    let (asked, _) = reply("id: e1\nretry: 1\ndata:\n\n", empty.chain([Ok(ANSWER)])).await;
    let times: Vec<u128> = asked.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [100, 300, 700, 1500, 2500, 3500]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_beyond_all_bounds_ends_the_request_at_once() {
    let (asked, error) = reply("id: e1\nretry: 1000000000000000\ndata:\n\n", [Ok(ANSWER)]).await;
    assert_eq!(asked, []);
    assert!(error.contains("asks to wait"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_event_ids_is_not_resumed() {
    let (asked, error) = reply("retry: 100\ndata: {}\n\n", [Ok(ANSWER)]).await;
    assert_eq!(asked, []);
    assert_eq!(
        error,
        "the reply ended without a response: the event stream is over"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answered_request_is_not_resumed() {
    let (asked, _) = reply(
        "id: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
        [Ok("")],
    )
    .await;
    assert_eq!(asked, []);
}

#[tokio::test(start_paused = true)]
async fn resumptions_that_fail_back_off_and_end() {
    let failing = std::iter::repeat_with(|| Err(refused(500))).take(100);
    let (asked, error) = reply("id: e1\ndata:\n\n", failing).await;
    let times: Vec<u128> = asked.iter().map(|(at, _)| at / 1000).collect();
    assert_eq!(times, [1, 3, 7, 15]);
    assert!(error.contains("HTTP 500"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_resumption_refused_for_good_is_not_tried_again() {
    let (asked, error) = reply("id: e1\ndata:\n\n", [Err(refused(400)), Ok(ANSWER)]).await;
    assert_eq!(asked.len(), 1);
    assert!(error.contains("HTTP 400"), "{error}");
}

/// Listens to a server with these streams that refuses afterwards; returns what happened.
async fn listened(
    streams: impl IntoIterator<Item = Result<&'static str, TransportError>>,
) -> (Vec<(u128, String)>, usize, Over) {
    let server = Server::new(streams);
    let inbox = Inbox::new(1000, 100_000);
    let limits = HttpLimits::default();
    let plan = Reconnect::new(&limits, limits.reconnects);
    let reachable = tokio::sync::Notify::new();
    let (ready, _is_ready) = tokio::sync::oneshot::channel();
    let over = listen(server.clone(), plan, &inbox, &reachable, ready).await;
    inbox.end(crate::Closed::clean());
    let mut gaps = 0;
    loop {
        match inbox.recv().await {
            Incoming::Gap => gaps += 1,
            Incoming::Closed(_) => return (server.asked(), gaps, over),
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_stream_is_asked_once() {
    for status in [400, 404, 405] {
        let (asked, gaps, over) = listened([Err(refused(status))]).await;
        assert_eq!((asked.len(), gaps, over), (1, 0, Over::Refused));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_asked_with_growing_pauses_and_then_left_alone() {
    let failing = std::iter::repeat_with(|| Err(refused(503))).take(1000);
    let (asked, _, over) = listened(failing).await;
    let times: Vec<u128> = asked.iter().map(|(at, _)| at / 1000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 61, 91]);
    assert_eq!(over, Over::Refused);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_at_once_again_and_again_makes_no_storm() {
    let ending = std::iter::repeat_with(|| Ok("")).take(6);
    let (asked, gaps, _) = listened(ending.chain([Err(refused(404))])).await;
    let times: Vec<u128> = asked.iter().map(|(at, _)| at / 1000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 61]);
    assert_eq!(gaps, 5);
}

#[tokio::test(start_paused = true)]
async fn a_stream_the_server_closes_for_polling_has_no_gap() {
    let poll = "id: e1\nretry: 2000\ndata:\n\n";
    let (asked, gaps, _) = listened([Ok(poll), Ok(poll), Err(refused(404))]).await;
    assert_eq!(
        asked,
        [(0, "-".into()), (2000, "e1".into()), (4000, "e1".into())]
    );
    assert_eq!(gaps, 0);
}

#[tokio::test(start_paused = true)]
async fn a_404_for_a_stream_that_was_open_means_the_session_is_gone() {
    let (_, _, over) = listened([Ok(""), Err(refused(404))]).await;
    assert_eq!(over, Over::SessionGone);
}
