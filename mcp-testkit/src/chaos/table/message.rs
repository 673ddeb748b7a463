//! Message faults: the same for every kind of connection and both eras.

use super::super::case::{either, error, ok};
use super::super::{Case, Check, Count, Plan};
use crate::{Era, TransportKind};

/// The cases for one place: `stdio`, `http`, `sse`, `stdio-modern` or `http-modern`.
pub(super) fn cases(place: &str) -> Vec<Case> {
    let named = |name: &str| format!("{place}/{name}");
    [
        ids(&named),
        shapes(&named),
        texts(&named),
        lists(&named),
        floods(&named),
        greetings(&named),
    ]
    .concat()
    .into_iter()
    .map(suited)
    .collect()
}

/// Adapts a case to its place.
fn suited(case: Case) -> Case {
    let fault = case.name.rsplit('/').next().unwrap_or_default().to_owned();
    match (fault.as_str(), case.shape, case.era) {
        // An error without an id is ambiguous on a shared channel; over HTTP its exchange identifies the call.
        (
            "id-null-error" | "id-swapped-type" | "id-float" | "dup-keys",
            TransportKind::Stdio | TransportKind::Sse,
            _,
        ) => case.silent(2_500),
        // Over HTTP an error without an id may be taken for the response to its call.
        ("id-null-then-ok", TransportKind::Http, _) => case.or_error(),
        ("never-call", _, Era::Legacy) | ("never-call", TransportKind::Stdio, Era::Modern) => {
            case.check(Check::AtLeast(Count::Rpc("notifications/cancelled"), 1))
        }
        _ => case,
    }
}

type Named<'a> = &'a dyn Fn(&str) -> String;

fn ids(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("answers-twice"),
            "a second answer to one id is ignored",
        )
        .plan(Plan::Twice)
        .never("DUPLICATE"),
        ok(&named("unknown-id"), "answers to unknown ids are ignored").never("STRAY"),
        ok(
            &named("pre-answered"),
            "answers that come before their question answer nothing",
        )
        .never("POISON"),
        either(&named("id-swapped-type"), "\"1\" is not 1"),
        either(&named("id-float"), "1.0 may be taken for 1"),
        error(
            &named("id-null-error"),
            "an error without an id is matched by its place, or by time",
        ),
        ok(
            &named("id-null-then-ok"),
            "errors without an id do not end the session",
        ),
        error(&named("never-call"), "every request has a time-out").silent(2_500),
    ]
}

fn shapes(named: Named<'_>) -> Vec<Case> {
    let prompt = "a malformed answer with a readable id fails its call at once";
    vec![
        either(&named("both-result-and-error"), prompt),
        error(&named("neither-result-nor-error"), prompt),
        either(&named("jsonrpc-missing"), prompt),
        error(&named("error-malformed"), prompt),
        error(&named("error-object"), "an ordinary error, with its words")
            .mentions(&["tool exploded"]),
        error(&named("error-code-huge"), prompt),
        either(
            &named("content-missing"),
            "a result without content: empty, or an error",
        )
        .text(""),
        either(&named("content-null"), "content: null: empty, or an error").text(""),
        either(
            &named("content-unknown-type"),
            "unknown content beside the text",
        ),
        error(
            &named("iserror-no-content"),
            "isError must not look like success",
        ),
        error(&named("result-string"), "a result is an object"),
        error(&named("result-null"), "a result is an object"),
        error(&named("result-array"), "a result is an object"),
        either(
            &named("dup-keys"),
            "members that come twice: either one, at once",
        )
        .never("POISON"),
        either(
            &named("batch-response"),
            "arrays existed only in 2025-03-26",
        ),
        ok(
            &named("unknown-notification"),
            "unknown and malformed notifications are ignored",
        ),
        ok(
            &named("version-escaped"),
            "JSON may write any character as an escape",
        ),
        ok(&named("many-in-one-write"), "several messages in one read"),
    ]
}

fn texts(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("invalid-utf8-text"),
            "that call may fail, the next one works",
        )
        .plan(Plan::Second),
        ok(
            &named("lone-surrogate"),
            "that call may fail, the next one works",
        )
        .plan(Plan::Second),
        ok(
            &named("unicode-valid"),
            "valid JSON: NUL, line separator, surrogate pair, astral letter",
        )
        .text("a\0b\u{2028}c\u{1f600}\u{1f600}é"),
        ok(&named("line-4m"), "a result of 4 MiB is ordinary").letters(4 << 20, 20, 200),
        either(
            &named("line-64m"),
            "64 MiB are served or refused, in bounded time and memory",
        )
        .letters(64 << 20, 40, 700),
        ok(
            &named("huge-numbers"),
            "that call may fail, the next one works",
        )
        .plan(Plan::Second),
        ok(&named("deep-10k"), "no stack overflow; the next call works").plan(Plan::Second),
        ok(&named("deep-1m"), "no stack overflow; the next call works")
            .plan(Plan::Second)
            .heavy(20, 200),
    ]
}

fn lists(named: Named<'_>) -> Vec<Case> {
    let pages = Check::AtMost(Count::Rpc("tools/list"), 2_000);
    vec![
        either(&named("tools-null"), "tools: null: none, or an error"),
        either(
            &named("tools-missing"),
            "a list without a list: none, or an error",
        ),
        either(
            &named("tools-bad-entry"),
            "one bad tool does not hide the rest",
        ),
        ok(
            &named("tool-odd-schema"),
            "odd names and schemas do not stop listing and calling",
        ),
        ok(
            &named("pagination-ok"),
            "the cursor is opaque and goes back as it came",
        )
        .plan(Plan::ListAll),
        ok(
            &named("bad-cache-hint"),
            "a bad hint does not cost the list",
        ),
        ok(
            &named("deep-schema"),
            "a schema that nests too deep costs its own tool only",
        ),
        ok(&named("cursor-null"), "nextCursor: null is the end").plan(Plan::ListAll),
        either(
            &named("pagination-endless"),
            "listing all pages has a limit",
        )
        .plan(Plan::ListAll)
        .check(pages.clone())
        .heavy(30, 300),
        either(
            &named("pagination-repeated"),
            "a cursor that repeats is noticed",
        )
        .plan(Plan::ListAll)
        .check(pages)
        .heavy(30, 300),
    ]
}

fn floods(named: Named<'_>) -> Vec<Case> {
    vec![
        ok(
            &named("list-changed-storm"),
            "no storm of tools/list follows",
        )
        .check(Check::AtMost(Count::Rpc("tools/list"), 50))
        .heavy(20, 150),
        ok(
            &named("log-flood"),
            "100 MB of notifications in bounded memory",
        )
        .heavy(90, 150),
        ok(&named("progress-flood"), "50 000 notifications").heavy(40, 150),
        error(
            &named("progress-keeps-alive"),
            "a maximum applies, whatever progress says",
        )
        .silent(2_500),
    ]
}

fn greetings(named: Named<'_>) -> Vec<Case> {
    vec![
        error(&named("never-init"), "the handshake has a time-out").silent(2_500),
        error(
            &named("version-unknown"),
            "no common version: an error that names it",
        )
        .mentions(&["1999-01-01"]),
        error(
            &named("version-newer"),
            "no common version: an error that names it",
        )
        .mentions(&["2099-12-31"]),
        either(&named("version-missing"), "a handshake without a version"),
        either(&named("version-number"), "a version that is a number"),
        either(
            &named("capabilities-missing"),
            "a handshake without capabilities",
        ),
        either(&named("capabilities-odd"), "capabilities of odd types"),
        either(
            &named("no-tools-capability"),
            "only negotiated capabilities are used",
        ),
        either(&named("serverinfo-missing"), "a server without a name"),
        ok(
            &named("init-extra-fields"),
            "unknown members and 200 kB of instructions",
        ),
        error(&named("init-error"), "a refused handshake, with its words")
            .mentions(&["handshake is refused"]),
    ]
}
