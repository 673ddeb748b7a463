//! HTTP+SSE of 2024-11-05.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Plan};
use super::stdio::questions;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        ok("sse/baseline", "a server without a fault").check(Check::NothingRefused),
        ok(
            "sse/stream-crlf",
            "the syntax of event streams, WHATWG 9.2.6",
        ),
        ok("sse/version-older", "2024-11-05 is its own version"),
        ok("sse/cancel", "cancelling sends a notification")
            .plan(Plan::Cancel)
            .check(Check::Cancelled),
        either("sse/deep-unclosed", "a junk event of a million brackets").heavy(20, 200),
        either("sse/batch-junk", "empty and junk arrays before the answer"),
    ];
    cases.extend(questions("sse"));
    cases.extend(endpoints());
    cases.extend(streams());
    cases
}

fn endpoints() -> Vec<Case> {
    let astray = "an endpoint of another origin is refused, at once";
    let untouched = || Check::OtherOriginUntouched;
    vec![
        ok(
            "sse/endpoint-relative",
            "an endpoint is resolved against the stream's URL",
        ),
        ok("sse/endpoint-absolute", "a whole URL of the same origin"),
        error("sse/endpoint-cross", astray).check(untouched()),
        error("sse/endpoint-protocol-relative", astray).check(untouched()),
        error("sse/endpoint-userinfo", astray).check(untouched()),
        either(
            "sse/endpoint-backslash",
            "/\\host is //host to some parsers",
        )
        .check(untouched()),
        error("sse/endpoint-scheme", "an endpoint is HTTP"),
        error(
            "sse/endpoint-garbage",
            "an endpoint that is not a URL: at once",
        ),
        error(
            "sse/endpoint-missing",
            "the wait for the endpoint has a time-out",
        )
        .silent(2_500),
        either(
            "sse/endpoint-second-moves",
            "a later endpoint of another origin is not followed",
        )
        .check(untouched()),
    ]
}

fn streams() -> Vec<Case> {
    vec![
        error("sse/post-400", "the call fails at once, with its status").mentions(&["400"]),
        ok(
            "sse/post-500",
            "that call fails at once, the next one works",
        )
        .plan(Plan::Second),
        ok("sse/post-hang", "the answer on the stream is enough"),
        ok(
            "sse/post-body-answer",
            "the answer on the stream is the one",
        )
        .never("IN-POST-BODY"),
        error(
            "sse/drop-mid-call",
            "a stream that is lost fails its calls at once",
        ),
        either(
            "sse/drop-idle",
            "a stream that ended: opened again, or a clean error",
        )
        .plan(Plan::Second),
        error("sse/get-404", "no such stream: at once").mentions(&["404"]),
        error("sse/get-html", "a page is no stream: at once"),
        error("sse/get-hang", "opening the stream has a time-out")
            .fault("sse-get-hang")
            .silent(2_500),
        either("sse/bad-event", "a junk event before the answer"),
        error("sse/endless-event", "an event has a limit").heavy(30, 300),
        either("sse/redirect-cross", "no secret at another origin"),
        either("sse/post-redirect-cross", "no secret at another origin"),
    ]
}
