//! Checks of what a server must, or must not, have seen.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::SECRET;
use crate::{Event, Origin, Seen};

/// A check of what the server saw.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Check {
    /// The client answered the server's request of this method, with this error code if one is given.
    Answered(&'static str, Option<i64>),
    /// The client answered the server's request of this method with some error.
    AnsweredWithError(&'static str),
    /// The client did not answer the server's request of this method.
    NotAnswered(&'static str),
    /// The client cancelled the call to `slow`, in the way of its era.
    Cancelled,
    /// At most this many.
    AtMost(Count, usize),
    /// At least this many.
    AtLeast(Count, usize),
    /// Nothing arrived at the other origin.
    OtherOriginUntouched,
    /// A second `initialize` arrived, without the dead session's id.
    InitializedAgain,
    /// The server rejected nothing: session ids, `_meta`, headers and order were right.
    NothingRefused,
    /// Calls had the protocol version in their headers, listed both content types, and carried the configured headers.
    HeadersRight,
    /// A GET with `Last-Event-ID: ev-1` arrived.
    Resumed,
    /// The client reconnected this long after the stream ended, not sooner.
    RetryWaited(Duration),
    /// After a 429 the next call arrived only when it was allowed.
    RetryAfterKept,
    /// SIGTERM arrived.
    Terminated,
    /// The server could exit by itself.
    ExitedByItself,
    /// The server could not write all of its flood.
    FloodStopped,
    /// This many calls were in flight at once.
    Together(u64),
    /// This environment variable did not reach the server.
    EnvironmentWithout(&'static str),
}

/// A countable event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Count {
    /// Messages of this JSON-RPC method.
    Rpc(&'static str),
    /// HTTP requests of this HTTP method.
    Http(&'static str),
    /// HTTP requests.
    Requests,
    /// Connections.
    Connections,
    /// Milestones of this name.
    Milestone(&'static str),
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rpc(name) | Self::Http(name) | Self::Milestone(name) => f.write_str(name),
            Self::Requests => f.write_str("HTTP requests"),
            Self::Connections => f.write_str("connections"),
        }
    }
}

impl Count {
    fn of(self, events: &[Event]) -> usize {
        let counts = |event: &&Event| match (&event.seen, self) {
            (Seen::Message { message, .. }, Self::Rpc(name)) => {
                message.get("method").is_some_and(|method| method == name)
            }
            (Seen::Http { method, .. }, Self::Http(name)) => method == name,
            (Seen::Http { .. }, Self::Requests) => true,
            (Seen::Connected { origin, .. }, Self::Connections) => *origin == Origin::First,
            (Seen::Milestone { name, .. }, Self::Milestone(wanted)) => name == wanted,
            _ => false,
        };
        events.iter().filter(counts).count()
    }
}

impl Check {
    /// The failure, if there is one.
    pub(super) fn failure(&self, events: &[Event]) -> Option<String> {
        match self {
            Self::Answered(method, code) => match (answer(events, method), code) {
                (None, _) => Some(format!("no answer to the server's {method}")),
                (Some(answer), Some(code)) if error_code(answer) != Some(*code) => Some(format!(
                    "answered the server's {method} with {answer}, not with {code}"
                )),
                _ => None,
            },
            Self::AnsweredWithError(method) => match answer(events, method) {
                Some(answer) if error_code(answer).is_some() => None,
                Some(answer) => Some(format!("answered the server's {method} with {answer}")),
                None => Some(format!("no answer to the server's {method}")),
            },
            Self::NotAnswered(method) => answer(events, method)
                .map(|answer| format!("answered the server's {method} with {answer}")),
            Self::Cancelled => fails(
                !any(events, |seen| {
                    matches!(seen, Seen::Cancelled { .. } | Seen::Abandoned { .. })
                }),
                "the call was not cancelled on the wire",
            ),
            Self::AtMost(what, most) => {
                let count = what.of(events);
                (count > *most).then(|| format!("{count} × {what}, more than {most}"))
            }
            Self::AtLeast(what, least) => {
                let count = what.of(events);
                (count < *least).then(|| format!("{count} × {what}, less than {least}"))
            }
            Self::OtherOriginUntouched => fails(
                any(events, |seen| {
                    matches!(
                        seen,
                        Seen::Http {
                            origin: Origin::Second,
                            ..
                        }
                    )
                }),
                "the other origin was contacted",
            ),
            Self::InitializedAgain => initialized_again(events),
            Self::NothingRefused => refusal(events),
            Self::HeadersRight => events.iter().find_map(|event| wrong_headers(&event.seen)),
            Self::Resumed => fails(
                !any(events, |seen| match seen {
                    Seen::Http { method, .. } if method == "GET" => {
                        header(seen, "last-event-id") == Some("ev-1")
                    }
                    _ => false,
                }),
                "no GET with Last-Event-ID: ev-1",
            ),
            Self::RetryWaited(wait) => {
                let waited = mark(events, "resume")? - mark(events, "dropped")?;
                let wait = wait.as_secs_f64() * 1000.0;
                // The two ends of the wait are observed by two processes.
                (waited < wait - 60.0)
                    .then(|| format!("came back after {waited:.0} ms, asked to wait {wait:.0}"))
            }
            Self::RetryAfterKept => {
                let refused = mark(events, "429")?;
                let next = events
                    .iter()
                    .find(|event| event.at_ms > refused && is_call(&event.seen))?;
                let waited = next.at_ms - refused;
                (waited < 950.0)
                    .then(|| format!("called again after {waited:.0} ms, Retry-After was 1 s"))
            }
            Self::Terminated => fails(
                !any(
                    events,
                    |seen| matches!(seen, Seen::Signal { name } if name == "SIGTERM"),
                ),
                "killed without a SIGTERM before",
            ),
            Self::ExitedByItself => fails(
                mark(events, "clean-exit").is_none(),
                "the server was killed before it could finish",
            ),
            Self::FloodStopped => fails(
                mark(events, "flood-complete").is_some(),
                "read the whole flood: there is no limit",
            ),
            Self::Together(wanted) => {
                let most = events.iter().filter_map(|event| match &event.seen {
                    Seen::Milestone { name, number } if name == "together" => Some(*number),
                    _ => None,
                });
                let most = most.max().unwrap_or(0);
                (most < *wanted).then(|| format!("at most {most} calls were under way at once"))
            }
            Self::EnvironmentWithout(name) => fails(
                any(events, |seen| match seen {
                    Seen::Started { environment, .. } => {
                        environment.iter().any(|known| known == name)
                    }
                    _ => false,
                }),
                &format!("{name} reached the server's environment"),
            ),
        }
    }
}

/// Secrets and session ids at the other origin are never allowed.
pub(super) fn leak(events: &[Event]) -> Option<String> {
    events.iter().find_map(|event| match &event.seen {
        Seen::Http {
            origin: Origin::Second,
            headers,
            path,
            ..
        } => headers
            .iter()
            .find(|(name, value)| value.contains(SECRET) || name == "mcp-session-id")
            .map(|(name, _)| format!("SECRET LEAK: {name} reached the other origin ({path})")),
        _ => None,
    })
}

fn fails(bad: bool, why: &str) -> Option<String> {
    bad.then(|| why.to_owned())
}

fn any(events: &[Event], fits: impl Fn(&Seen) -> bool) -> bool {
    events.iter().any(|event| fits(&event.seen))
}

fn mark(events: &[Event], wanted: &str) -> Option<f64> {
    let found = events
        .iter()
        .find(|event| matches!(&event.seen, Seen::Milestone { name, .. } if name == wanted));
    found.map(|event| event.at_ms)
}

fn answer<'a>(events: &'a [Event], wanted: &str) -> Option<&'a Value> {
    events.iter().find_map(|event| match &event.seen {
        Seen::Answered { method, answer } if method == wanted => answer.as_ref(),
        _ => None,
    })
}

fn error_code(answer: &Value) -> Option<i64> {
    answer.get("code").and_then(Value::as_i64)
}

fn header<'a>(seen: &'a Seen, wanted: &str) -> Option<&'a str> {
    let Seen::Http { headers, .. } = seen else {
        return None;
    };
    headers
        .iter()
        .find(|(name, _)| name == wanted)
        .map(|(_, value)| value.as_str())
}

pub(super) fn is_call(seen: &Seen) -> bool {
    match seen {
        Seen::Message { message, .. } => message
            .get("method")
            .is_some_and(|method| method == "tools/call"),
        _ => false,
    }
}

fn initialized_again(events: &[Event]) -> Option<String> {
    let mut greetings = events
        .iter()
        .map(|event| &event.seen)
        .filter(|seen| matches!(seen, Seen::Http { rpc: Some(rpc), .. } if rpc == "initialize"));
    greetings.next();
    match greetings.next() {
        None => Some("no new initialize after the 404".to_owned()),
        Some(second) => fails(
            header(second, "mcp-session-id").is_some(),
            "the new initialize carried the dead session's id",
        ),
    }
}

/// The codes that may reject a probe of the other era do not count as rejections.
fn refusal(events: &[Event]) -> Option<String> {
    events.iter().find_map(|event| match &event.seen {
        Seen::Refused { code, message } if !matches!(code, -32000 | -32601 | -32022) => {
            Some(format!("the server refused: {message} ({code})"))
        }
        _ => None,
    })
}

fn wrong_headers(seen: &Seen) -> Option<String> {
    let Seen::Http { rpc: Some(rpc), .. } = seen else {
        return None;
    };
    if rpc != "tools/call" {
        return None;
    }
    let accept = header(seen, "accept").unwrap_or_default();
    let secret = |name| header(seen, name).is_some_and(|value| value.contains(SECRET));
    if !accept.contains("application/json") || !accept.contains("text/event-stream") {
        return Some(format!("Accept does not list both types: {accept}"));
    }
    if header(seen, "mcp-protocol-version").is_none() {
        return Some("no MCP-Protocol-Version on a call".to_owned());
    }
    fails(
        !secret("authorization") || !secret("x-api-key"),
        "the configured headers did not arrive",
    )
}
