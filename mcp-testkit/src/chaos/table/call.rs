//! HTTP responses to calls, in either era: statuses, bodies, event streams, sizes.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Count, Plan};

pub(super) fn cases(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    [
        statuses(&named),
        bodies(&named),
        events(&named),
        sizes(&named),
    ]
    .concat()
}

type Named<'a> = &'a dyn Fn(&str) -> String;

fn statuses(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("500-then-ok"),
            "that call fails, the session lives, and no call is repeated",
        )
        .plan(Plan::Second)
        .check(Check::AtMost(Count::Rpc("tools/call"), 2)),
        ok(
            &named("503-then-ok"),
            "that call may fail, the next one works",
        )
        .plan(Plan::Second),
        either(&named("503-init-then-ok"), "an error, or another try"),
        error(
            &named("502-html"),
            "a proxy's page: at once, with its status",
        )
        .mentions(&["502"]),
        ok(
            &named("429-retry-after"),
            "a retry waits as long as the server asks",
        )
        .plan(Plan::Second)
        .check(Check::RetryAfterKept),
        error(
            &named("429-forever"),
            "Retry-After: 86400 does not put the call to sleep",
        )
        .mentions(&["429"]),
        error(
            &named("401-init"),
            "authorization is wanted: a clean error, few requests",
        )
        .mentions(&["401"])
        .check(Check::AtMost(Count::Requests, 12)),
        error(
            &named("401-call"),
            "a token that is no longer good: a clean error",
        )
        .mentions(&["401"])
        .check(Check::AtMost(Count::Requests, 20)),
        error(&named("403-call"), "forbidden: a clean error").mentions(&["403"]),
        error(&named("404-init"), "there is no MCP here").mentions(&["404"]),
        error(
            &named("202-for-request"),
            "the reply ended without a response: at once",
        ),
        error(
            &named("204-for-request"),
            "the reply ended without a response: at once",
        ),
    ]
}

fn bodies(named: Named<'_>) -> Vec<Case> {
    vec![
        error(&named("html-200"), "a page is no answer: at once").mentions(&["text/html"]),
        error(&named("empty-json"), "an empty body is no answer: at once"),
        either(&named("no-content-type"), "JSON without a content type"),
        ok(
            &named("content-type-case"),
            "content types are compared without case",
        ),
        error(&named("truncated-body"), "a body that is cut: at once"),
        error(&named("truncated-json"), "half a document: at once"),
        either(&named("json-array"), "arrays existed only in 2025-03-26"),
        error(
            &named("json-wrong-id"),
            "another id is not this call's answer: at once",
        )
        .never("STRAY"),
        error(
            &named("json-notification-only"),
            "a notification is no answer: at once",
        ),
        ok(&named("gzip-ok"), "gzip if and only if it was asked for"),
        error(
            &named("gzip-unasked"),
            "gzip that is not announced: at once",
        ),
        error(&named("bad-chunks"), "a bad chunk size: at once"),
        ok(
            &named("http10-close"),
            "a body that ends with its connection",
        ),
        ok(&named("interim-1xx"), "answers before the answer"),
    ]
}

fn events(named: Named<'_>) -> Vec<Case> {
    let syntax = "the syntax of event streams, WHATWG 9.2.6";
    vec![
        ok(&named("sse-cr"), syntax),
        ok(&named("sse-crlf"), syntax),
        ok(&named("sse-crlf-split"), syntax),
        ok(&named("sse-comments"), syntax),
        ok(&named("sse-multiline"), syntax),
        ok(&named("sse-bom"), syntax),
        ok(&named("sse-fields"), syntax),
        ok(&named("sse-no-colon"), syntax),
        ok(&named("sse-bad-retry"), syntax),
        ok(&named("sse-other-events"), syntax),
        ok(&named("sse-one-byte"), syntax),
        ok(&named("sse-utf8-split"), syntax).text("héllo 😀 你好"),
        ok(
            &named("sse-priming"),
            "an event with an id and no data is no message",
        ),
        either(&named("sse-bad-json"), "a junk event before the answer"),
        ok(
            &named("sse-left-open"),
            "the answer is there: the end of its stream is not waited for",
        ),
        error(
            &named("sse-no-response"),
            "a stream that ends without the answer: at once",
        ),
        error(&named("truncated-sse"), "a stream that is cut: at once"),
        ok(
            &named("reset-mid-sse"),
            "that call fails at once, the next one works",
        )
        .plan(Plan::Second),
    ]
}

fn sizes(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(&named("json-4m"), "a result of 4 MiB is ordinary").letters(4 << 20, 20, 200),
        ok(&named("sse-event-4m"), "a result of 4 MiB is ordinary").letters(4 << 20, 20, 200),
        error(&named("endless-json"), "a body has a limit")
            .check(Check::FloodStopped)
            .heavy(30, 300),
        error(
            &named("content-length-huge"),
            "no memory is taken for a promise",
        )
        .silent(2_500),
        error(&named("endless-error-body"), "an error's body has a limit")
            .check(Check::FloodStopped)
            .heavy(30, 300),
        error(&named("endless-sse-event"), "an event has a limit")
            .check(Check::FloodStopped)
            .heavy(30, 300),
        error(&named("endless-sse-lines"), "an event has a limit")
            .check(Check::FloodStopped)
            .heavy(30, 300),
        error(&named("gzip-bomb"), "what is unpacked has a limit").heavy(30, 300),
        ok(
            &named("sse-comment-flood"),
            "60 MB of comments in bounded memory",
        )
        .heavy(40, 150),
        error(&named("endless-headers"), "a head has a limit")
            .check(Check::FloodStopped)
            .heavy(30, 150),
    ]
}
