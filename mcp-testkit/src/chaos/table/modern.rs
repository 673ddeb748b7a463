//! Cases of the modern era only.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Count, Plan};
use super::stdio::both_eras;

/// Message faults that only modern servers can have.
pub(super) fn cases(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    let rounds = || Check::AtMost(Count::Rpc("tools/call"), 60);
    vec![
        ok(&named("baseline"), "a modern server without a fault").check(Check::NothingRefused),
        error(&named("modern-rounds"), "rounds have a limit").check(rounds()),
        error(
            &named("modern-rounds-asking"),
            "rounds have a limit; what cannot be answered is an error",
        )
        .check(rounds()),
        error(
            &named("input-required-empty"),
            "nothing is asked and nothing is given: at once",
        )
        .check(rounds()),
        error(
            &named("input-required-unknown"),
            "an unknown question is an error",
        )
        .check(rounds()),
        error(&named("input-required-for-list"), "a list asks nothing"),
        either(&named("modern-result-type"), "an unknown resultType"),
        ok(
            &named("result-type-missing"),
            "a result without resultType is complete",
        ),
        error(
            &named("task-never-ends"),
            "a task has a time-out, or was not asked for",
        )
        .silent(2_500),
        error(
            &named("task-result-not-complete"),
            "a result that is not complete is no success",
        ),
        ok(
            &named("cancels-our-call"),
            "a server may cancel subscriptions only",
        ),
        error(
            &named("unsupported-version-loop"),
            "a version that is refused and offered is not tried for ever",
        )
        .check(Check::AtMost(Count::Rpc("server/discover"), 10)),
        error(
            &named("header-mismatch-loop"),
            "a request that is refused for its headers is not tried for ever",
        )
        .check(Check::AtMost(Count::Rpc("tools/call"), 10)),
        error(
            &named("discover-empty"),
            "a discovery without versions, and no handshake either",
        ),
        ok(
            &named("init-refused-oddly"),
            "whatever its code, a refusal of initialize may be a modern server's",
        ),
        ok(
            &named("header-hint-stale"),
            "a refusal for headers is repaired by a fresh list, past the cache",
        )
        .check(Check::AtLeast(Count::Rpc("tools/list"), 2))
        .check(Check::AtMost(Count::Rpc("tools/call"), 2)),
        ok(
            &named("foreign-subscription"),
            "changes on foreign subscriptions are ignored",
        )
        .check(Check::AtMost(Count::Rpc("tools/list"), 1)),
        ok(
            &named("unknown-request"),
            "a modern server asks nothing: no answer",
        )
        .check(Check::NotAnswered("vendor/doStuff")),
        ok(
            &named("ping-during-call"),
            "a modern server asks nothing: no answer",
        )
        .check(Check::NotAnswered("ping")),
    ]
}

/// Lines and processes.
pub(super) fn stdio() -> Vec<Case> {
    let mut cases = both_eras("stdio-modern");
    cases.push(ok(
        "stdio-modern/batch-junk",
        "empty and junk arrays do not end the session",
    ));
    cases.push(
        ok(
            "stdio-modern/discover-slow",
            "a slow discovery has the whole time to connect",
        )
        .heavy(20, 100),
    );
    cases
}

/// Streamable HTTP without sessions.
pub(super) fn http() -> Vec<Case> {
    vec![
        ok("http-modern/baseline-sse", "answers as event streams")
            .option(&["--replies", "sse"])
            .check(Check::NothingRefused)
            .check(Check::HeadersRight)
            .check(Check::AtMost(Count::Http("GET"), 0))
            .check(Check::AtMost(Count::Http("DELETE"), 0)),
        ok(
            "http-modern/cancel",
            "closing the stream cancels, and other calls go on",
        )
        .plan(Plan::Cancel)
        .check(Check::Cancelled),
        refused("listen-401", "a refused subscription is an error").mentions(&["401"]),
        refused("listen-404", "a refused subscription is an error").mentions(&["404"]),
        refused("listen-503", "a refused subscription is an error").mentions(&["503"]),
        refused("listen-202", "a subscription needs an answer").mentions(&["202"]),
        refused("listen-reset", "a lost subscription is an error"),
        refused("listen-result", "a subscription is acknowledged"),
        refused("listen-hang", "a subscription has a time-out").silent(2_500),
    ]
}

fn refused(fault: &str, reason: &'static str) -> Case {
    error(&format!("http-modern/{fault}"), reason)
        .plan(Plan::Subscribe)
        .check(Check::AtMost(Count::Rpc("subscriptions/listen"), 10))
}
