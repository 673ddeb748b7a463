//! Streamable HTTP of the legacy era only: sessions, the GET stream, resumption.

use std::time::Duration;

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Count, Plan};
use super::stdio::questions;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        ok("http/baseline-json", "a server without a fault")
            .check(Check::NothingRefused)
            .check(Check::HeadersRight)
            .check(Check::AtLeast(Count::Http("DELETE"), 1)),
        ok("http/baseline-sse", "answers as event streams")
            .option(&["--replies", "sse"])
            .check(Check::NothingRefused),
        ok("http/stateless", "a server that assigns no session id").check(Check::NothingRefused),
        ok("http/version-older", "2024-11-05 is still common"),
        ok(
            "http/cancel",
            "cancelling sends a notification, and other calls go on",
        )
        .plan(Plan::Cancel)
        .check(Check::AtLeast(Count::Rpc("notifications/cancelled"), 1)),
        either("http/deep-unclosed", "a junk event of a million brackets").heavy(20, 200),
        either("http/batch-junk", "empty and junk arrays before the answer"),
        either("http/notify-400", "notifications refused with 400"),
        ok(
            "http/notify-json-200",
            "notifications answered with 200 and a body",
        ),
        ok(
            "http/discover-404",
            "a 404 without a modern error means a legacy server",
        ),
    ];
    cases.extend(questions("http"));
    cases.extend(sessions());
    cases.extend(get_streams());
    cases.extend(resumption());
    cases
}

fn sessions() -> Vec<Case> {
    vec![
        ok("http/404-session", "404: a new initialize, without the id")
            .plan(Plan::Second)
            .check(Check::InitializedAgain),
        ok("http/404-session-empty-body", "the same without a body")
            .plan(Plan::Second)
            .check(Check::InitializedAgain),
        error(
            "http/404-session-loop",
            "sessions that die at once are not begun for ever",
        )
        .check(Check::AtMost(Count::Rpc("initialize"), 6)),
        ok(
            "http/session-odd-chars",
            "the session id goes back as it came",
        )
        .check(Check::NothingRefused),
        ok("http/session-long", "a session id of 6000 characters").check(Check::NothingRefused),
        either(
            "http/session-non-ascii",
            "a session id that is not visible ASCII",
        ),
        ok("http/session-changes", "only initialize assigns a session")
            .check(Check::NothingRefused),
        ok("http/delete-405", "DELETE may be refused"),
        ok("http/delete-hang", "DELETE has a time-out of its own"),
    ]
}

fn get_streams() -> Vec<Case> {
    vec![
        ok("http/get-500", "no storm of GETs").check(Check::AtMost(Count::Http("GET"), 10)),
        ok(
            "http/get-hang",
            "a GET that hangs delays neither calls nor the end",
        ),
        ok("http/get-closes-at-once", "no storm of GETs")
            .check(Check::AtMost(Count::Http("GET"), 15)),
        ok("http/get-storm", "no storm of tools/list follows")
            .check(Check::AtMost(Count::Rpc("tools/list"), 50)),
        either(
            "http/redirect-get-cross",
            "no secret, no session id at another origin",
        ),
    ]
}

fn resumption() -> Vec<Case> {
    vec![
        ok("http/sse-resume", "a stream with an event id is resumed").check(Check::Resumed),
        ok("http/sse-resume-retry", "retry is kept")
            .check(Check::Resumed)
            .check(Check::RetryWaited(Duration::from_millis(1_500))),
        either(
            "http/sse-resume-huge-retry",
            "no timer overflows; the time-out ends the call",
        )
        .silent(3_000)
        .check(Check::RetryWaited(Duration::from_millis(2_500))),
        error(
            "http/sse-resume-fails",
            "resuming is tried a few times, not for ever",
        )
        .silent(10_000)
        .heavy(20, 100)
        .check(Check::AtMost(Count::Milestone("resume"), 12)),
        error("http/sse-resume-endless", "retry: 1 does not make a storm")
            .silent(3_000)
            .check(Check::AtMost(Count::Milestone("resume"), 60)),
    ]
}
