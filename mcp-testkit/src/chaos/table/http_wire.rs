//! Connections and redirects, in either era.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Count, Plan, Target};

pub(super) fn cases(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    [redirects(&named), connections(&named)].concat()
}

type Named<'a> = &'a dyn Fn(&str) -> String;

fn redirects(named: Named<'_>) -> Vec<Case> {
    let secret = "no secret at another origin";
    vec![
        either(&named("redirect-307-cross"), secret),
        either(&named("redirect-302-cross"), secret),
        either(
            &named("redirect-call-cross"),
            "no secret, no session id at another origin",
        ),
        error(&named("redirect-loop"), "redirects have a limit")
            .check(Check::AtMost(Count::Http("POST"), 60)),
        either(
            &named("redirect-same-origin"),
            "another path of the same origin",
        ),
        error(&named("redirect-file"), "a redirect leads to HTTP only"),
        error(&named("redirect-garbage"), "a redirect that is not a URL"),
    ]
}

fn connections(named: Named<'_>) -> Vec<Case> {
    vec![
        error(&named("init-hang"), "connecting has a time-out").silent(2_500),
        error(&named("call-hang"), "every request has a time-out").silent(2_500),
        error(
            &named("slow-headers"),
            "a head that never ends has a time-out",
        )
        .silent(2_500),
        ok(&named("slow-body"), "a body of one byte every 20 ms"),
        ok(
            &named("reset-mid-body"),
            "that call fails at once, the next one works",
        )
        .plan(Plan::Second),
        ok(
            &named("keepalive-closed"),
            "an idle connection that was closed is not used",
        )
        .plan(Plan::Pause),
        ok(
            &named("keepalive-stale"),
            "that call may fail, the next one works",
        )
        .plan(Plan::Second),
        ok(
            &named("restart"),
            "a server that is away for 0.8 s: that call may fail, the next one works",
        )
        .plan(Plan::Second),
        either(
            &named("response-desync"),
            "an unsolicited answer answers nothing",
        )
        .plan(Plan::Twice)
        .never("POISON"),
        error(
            &named("refused"),
            "connection refused: the error names the address",
        )
        .target(Target::ClosedPort)
        .mentions(&["127.0.0.1"]),
        error(
            &named("not-http"),
            "the port speaks something else: at once",
        ),
        error(
            &named("accept-then-close"),
            "at once, and no storm of connections",
        )
        .check(Check::AtMost(Count::Connections, 20)),
        error(
            &named("accept-then-reset"),
            "at once, and no storm of connections",
        )
        .check(Check::AtMost(Count::Connections, 20)),
        ok(
            &named("concurrent-50"),
            "50 calls at once are 50 calls under way",
        )
        .plan(Plan::Concurrent(50))
        .check(Check::Together(50))
        .heavy(20, 100),
    ]
}
