//! What the outcome of `server/discover` says about a server's era. Pure.

use mcp_jsonrpc::{ErrorCode, Revision};
use mcp_transport::TransportKind;

/// How a probe ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Finding {
    /// A result that lists versions.
    Discovered {
        /// The server's versions.
        supported: Vec<String>,
    },
    /// A JSON-RPC error, with whatever HTTP status.
    Refused {
        /// Its code.
        code: ErrorCode,
        /// The versions its data lists, if it lists any.
        supported: Option<Vec<String>>,
    },
    /// An HTTP status other than success, without a JSON-RPC error in the body.
    Status(u16),
    /// A success with an invalid response: no JSON, no JSON-RPC, no list of versions.
    Nonsense,
    /// The server requires authorization that we do not have.
    Unauthorized,
    /// There was no response in time.
    Silence,
    /// The server's process ended, or closed its output.
    Gone,
    /// The network failed.
    Unreachable,
}

/// What to do next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Modern, with this revision.
    Modern(Revision),
    /// Modern, but the probe's version was refused: probe again with this one.
    Retry(Revision),
    /// Modern, and the probe's error is final: falling back would only hide it.
    Error,
    /// Modern, but without a common revision.
    Incompatible(Vec<String>),
    /// Legacy: `initialize` on the same connection.
    Legacy,
    /// Legacy: `initialize` on a new connection, since this one is unusable.
    Respawn,
    /// No verdict: report the failure itself.
    Unknown,
}

/// Judges a probe.
pub(crate) fn judge(shape: TransportKind, finding: &Finding) -> Verdict {
    match finding {
        Finding::Discovered { supported } => match mutual(supported) {
            Some(revision) => Verdict::Modern(revision),
            None if only_unknown(supported) => Verdict::Incompatible(supported.clone()),
            None => Verdict::Legacy,
        },
        Finding::Refused {
            code: ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            supported,
        } => {
            let supported = supported.as_deref().unwrap_or_default();
            match mutual(supported) {
                Some(revision) => Verdict::Retry(revision),
                None if only_unknown(supported) => Verdict::Incompatible(supported.to_vec()),
                None => Verdict::Legacy,
            }
        }
        Finding::Refused {
            code: ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CLIENT_CAPABILITY,
            ..
        } => Verdict::Error,
        Finding::Refused { .. } | Finding::Nonsense => Verdict::Legacy,
        Finding::Unauthorized => Verdict::Unknown,
        Finding::Status(status) if is_about_the_request(*status) => Verdict::Legacy,
        Finding::Status(_) | Finding::Unreachable => Verdict::Unknown,
        Finding::Silence | Finding::Gone if shape == TransportKind::Pipe => Verdict::Respawn,
        Finding::Silence | Finding::Gone => Verdict::Unknown,
    }
}

/// Whether an HTTP status without a JSON-RPC error rejects the request itself, as servers do that do
/// not know 2026-07-28.
///
/// The prose of 2026-07-28 falls back on 400 alone, and modelcontextprotocol/conformance#464 asks for
/// just that; its compatibility matrix falls back on any 4xx. Servers in the field use 404, 405, 406,
/// 415 or 422, from middleware and gateways that see an unknown method or header, and would be lost
/// with 400 alone, so we follow the matrix. A modern server is still recognized: its own errors have a
/// JSON-RPC body, which is checked first, and `initialize` does no harm. A status about authorization or
/// timing says nothing about the era; falling back would hide it. Nor does a 5xx, with a JSON-RPC error
/// or without: a gateway in trouble answers for any server. Only "method not found" is an answer even
/// there (`call/exchange`).
fn is_about_the_request(status: u16) -> bool {
    /// Unauthorized, payment required, forbidden, proxy authentication required, request time-out,
    /// too early, too many requests, unavailable for legal reasons.
    const WHO_OR_WHEN: [u16; 8] = [401, 402, 403, 407, 408, 425, 429, 451];
    (400..=499).contains(&status) && !WHO_OR_WHEN.contains(&status)
}

/// The newest modern revision that both sides speak.
pub(crate) fn mutual(supported: &[String]) -> Option<Revision> {
    known(supported)
        .filter(|revision| revision.is_modern())
        .max()
}

/// Whether a server lists versions, and none of them is one we know.
fn only_unknown(supported: &[String]) -> bool {
    !supported.is_empty() && known(supported).next().is_none()
}

fn known(supported: &[String]) -> impl Iterator<Item = Revision> {
    supported.iter().filter_map(|version| version.parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(finding: Finding, on_http: Verdict, on_a_pipe: Verdict) {
        assert_eq!(
            judge(TransportKind::Http, &finding),
            on_http,
            "{finding:?} over HTTP"
        );
        assert_eq!(
            judge(TransportKind::Pipe, &finding),
            on_a_pipe,
            "{finding:?} on a pipe"
        );
    }

    #[track_caller]
    fn both(finding: Finding, want: Verdict) {
        check(finding, want.clone(), want);
    }

    fn versions(list: &[&str]) -> Vec<String> {
        list.iter().map(|&version| version.to_owned()).collect()
    }

    fn discovered(list: &[&str]) -> Finding {
        Finding::Discovered {
            supported: versions(list),
        }
    }

    fn refused(code: i64, supported: Option<&[&str]>) -> Finding {
        Finding::Refused {
            code: ErrorCode::new(code),
            supported: supported.map(versions),
        }
    }

    const NEW: Revision = Revision::V2026_07_28;

    #[test]
    fn a_mutual_modern_version_is_modern() {
        both(discovered(&["2026-07-28"]), Verdict::Modern(NEW));
        both(
            discovered(&["2099-01-01", "2025-11-25", "2026-07-28"]),
            Verdict::Modern(NEW),
        );
    }

    #[test]
    fn only_legacy_versions_are_legacy() {
        both(discovered(&["2025-11-25"]), Verdict::Legacy);
        both(discovered(&["2025-11-25", "2099-01-01"]), Verdict::Legacy);
    }

    #[test]
    fn only_other_modern_versions_are_incompatible() {
        let other = versions(&["2099-01-01"]);
        both(
            discovered(&["2099-01-01"]),
            Verdict::Incompatible(other.clone()),
        );
        both(
            refused(-32022, Some(&["2099-01-01"])),
            Verdict::Incompatible(other),
        );
    }

    #[test]
    fn a_version_refused_with_a_mutual_one_is_asked_again() {
        both(refused(-32022, Some(&["2026-07-28"])), Verdict::Retry(NEW));
    }

    #[test]
    fn a_version_refused_with_legacy_ones_or_none_is_legacy() {
        both(refused(-32022, Some(&["2025-06-18"])), Verdict::Legacy);
        both(refused(-32022, Some(&[])), Verdict::Legacy);
        both(refused(-32022, None), Verdict::Legacy);
    }

    #[test]
    fn modern_errors_are_reported_not_hidden() {
        both(refused(-32020, None), Verdict::Error);
        both(refused(-32021, None), Verdict::Error);
    }

    #[test]
    fn any_other_error_is_legacy() {
        for code in [-32601, -32602, -32600, -32000, -32002, 0, 7] {
            both(refused(code, None), Verdict::Legacy);
        }
    }

    #[test]
    fn a_status_that_rejects_the_request_without_json_rpc_is_legacy() {
        for status in [400, 404, 405, 406, 410, 415, 422] {
            both(Finding::Status(status), Verdict::Legacy);
        }
    }

    #[test]
    fn a_status_about_authorization_or_timing_is_no_evidence() {
        for status in [401, 402, 403, 407, 408, 425, 429, 451] {
            both(Finding::Status(status), Verdict::Unknown);
        }
        both(Finding::Unauthorized, Verdict::Unknown);
    }

    #[test]
    fn no_other_status_is_evidence() {
        for status in [100, 202, 204, 301, 304, 500, 501, 502, 503, 504] {
            both(Finding::Status(status), Verdict::Unknown);
        }
    }

    #[test]
    fn a_network_in_trouble_gives_no_verdict() {
        both(Finding::Unreachable, Verdict::Unknown);
    }

    #[test]
    fn silence_or_death_on_a_pipe_is_legacy_on_a_fresh_one() {
        check(Finding::Silence, Verdict::Unknown, Verdict::Respawn);
        check(Finding::Gone, Verdict::Unknown, Verdict::Respawn);
    }

    #[test]
    fn an_answer_to_another_question_is_legacy() {
        both(discovered(&[]), Verdict::Legacy);
        both(Finding::Nonsense, Verdict::Legacy);
    }

    proptest! {
        /// No code but the three modern ones may decide anything: a server that knows nothing of
        /// 2026-07-28 uses codes as it likes.
        #[test]
        fn no_legacy_code_is_special(code in any::<i64>()) {
            prop_assume!(![-32020, -32021, -32022].contains(&code));
            prop_assert_eq!(judge(TransportKind::Http, &refused(code, None)), Verdict::Legacy);
        }

        /// A verdict of modern always names a revision the server listed.
        #[test]
        fn modern_means_the_server_said_so(
            list in prop::collection::vec(prop_oneof![
                Just("2026-07-28".to_owned()), Just("2025-11-25".to_owned()), "[0-9]{4}-[0-9]{2}",
            ], 0..4),
        ) {
            if let Verdict::Modern(revision) = judge(TransportKind::Http, &Finding::Discovered { supported: list.clone() }) {
                prop_assert!(list.contains(&revision.as_str().to_owned()) && revision.is_modern());
            }
        }
    }
}
