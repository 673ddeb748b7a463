//! Lines and processes, and cases of the legacy era only.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Plan, Target};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        ok("stdio/baseline", "a server without a fault")
            .check(Check::NothingRefused)
            .check(Check::EnvironmentWithout("ANTHROPIC_API_KEY")),
        error(
            "stdio/command-missing",
            "the command does not exist: the error names it",
        )
        .target(Target::MissingCommand)
        .mentions(&["no-such-command"]),
        ok("stdio/version-older", "2024-11-05 is still common"),
        ok(
            "stdio/deep-unclosed",
            "a junk line of a million brackets is skipped",
        )
        .heavy(20, 200),
        ok(
            "stdio/batch-junk",
            "empty and junk arrays do not end the session",
        ),
        ok(
            "stdio/ping-before-init",
            "ping is answered before the handshake is over",
        )
        .check(Check::Answered("ping", None)),
        ok(
            "stdio/discover-silent",
            "a server that ignores unknown first requests is a legacy one",
        )
        .silent(5_000),
        either(
            "stdio/discover-exit",
            "a server that dies of unknown first requests is a legacy one",
        ),
    ];
    cases.extend(questions("stdio"));
    cases.extend(both_eras("stdio"));
    cases
}

/// The server's own requests, in the legacy era.
pub(super) fn questions(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    vec![
        ok(
            &named("unknown-request"),
            "an unknown method is answered with -32601",
        )
        .check(Check::Answered("vendor/doStuff", Some(-32601))),
        ok(
            &named("sampling-unadvertised"),
            "what was not offered is answered with an error",
        )
        .check(Check::AnsweredWithError("sampling/createMessage")),
        ok(
            &named("request-bad-params"),
            "whatever has an id and a method gets an answer",
        )
        .check(Check::Answered("roots/list", None)),
        ok(&named("ping-during-call"), "ping is answered at once")
            .check(Check::Answered("ping", None)),
        ok(
            &named("request-id-collision"),
            "ids of the two directions do not meet",
        )
        .check(Check::Answered("ping", None)),
    ]
}

/// Lines and processes, in either era.
pub(super) fn both_eras(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    [framing(&named), lives(&named), order(&named)].concat()
}

type Named<'a> = &'a dyn Fn(&str) -> String;

fn framing(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("log-garbage"),
            "lines that are no messages are skipped",
        ),
        ok(&named("blank-lines"), "blank lines are skipped"),
        either(
            &named("bom"),
            "a byte order mark may be ignored, or be an error, at once",
        ),
        ok(&named("crlf"), "CR is white space in JSON"),
        ok(
            &named("invalid-utf8-log"),
            "a junk line that is not UTF-8 is skipped",
        ),
        ok(&named("one-byte-writes"), "a pipe is a stream of bytes"),
        error(&named("line-endless"), "a line has a limit").heavy(30, 300),
        either(
            &named("no-newline-eof"),
            "the last line without an end: delivered, or an error, at once",
        ),
    ]
}

fn lives(named: Named<'_>) -> Vec<Case> {
    vec![
        error(
            &named("exit-at-start"),
            "the error has the exit status and the last stderr lines, at once",
        )
        .mentions(&["3", "API_KEY is not set"]),
        error(&named("exit-mid-call"), "an exit fails its calls at once"),
        error(&named("exit-mid-line"), "an exit fails its calls at once"),
        ok(
            &named("exit-after-response"),
            "what was written before the exit is delivered",
        ),
        error(
            &named("crash-second-call"),
            "an exit fails its calls at once",
        )
        .plan(Plan::Twice),
        ok(
            &named("ignore-sigterm"),
            "stdin closes, then SIGTERM, then SIGKILL; nothing stays",
        ),
        ok(&named("ignore-eof"), "SIGTERM comes before SIGKILL").check(Check::Terminated),
        ok(&named("slow-exit"), "a server gets time to exit by itself")
            .check(Check::ExitedByItself),
        ok(
            &named("flood-at-exit"),
            "output after the end of input does not block the end",
        ),
        ok(
            &named("grandchild-holds-stdout"),
            "closing does not wait for the end of the output",
        )
        .leaving("sleep"),
        error(
            &named("grandchild-exit-mid-call"),
            "an exit is noticed though the output stays open",
        )
        .leaving("sleep"),
        ok(&named("wrapper-tree"), "the whole tree of processes ends"),
        ok(
            &named("stderr-flood"),
            "100 MB on standard error neither block nor bloat",
        )
        .heavy(30, 150),
        error(
            &named("stdin-closed-early"),
            "a closed input is an error, not a death by SIGPIPE",
        )
        .silent(2_500),
        error(
            &named("stdout-closed-early"),
            "no answer can come any more: at once",
        ),
    ]
}

fn order(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("cancel-race"),
            "the cancelled call's late answer is ignored",
        )
        .plan(Plan::Cancel)
        .never("TOO LATE")
        .check(Check::Cancelled),
        ok(
            &named("cancel"),
            "cancelling is sent, and other calls go on",
        )
        .plan(Plan::Cancel)
        .check(Check::Cancelled),
        ok(
            &named("reorder-1000"),
            "a thousand calls answered out of order",
        )
        .plan(Plan::Concurrent(1_000))
        .heavy(40, 150),
        ok(&named("slow-drip"), "an answer of one byte every 20 ms"),
        ok(&named("slow-reader"), "8 MiB of arguments to a slow reader")
            .plan(Plan::Big(8 << 20))
            .heavy(30, 200),
        ok(&named("pipe-deadlock"), "reading does not wait for writing")
            .plan(Plan::Big(8 << 20))
            .heavy(30, 200),
    ]
}
