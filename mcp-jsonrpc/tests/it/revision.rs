//! Each revision has what the table of the protocol says.

use std::fmt::Write as _;

use mcp_jsonrpc::{ErrorCode, Revision};

#[test]
fn revisions_are_ordered_and_named_by_their_dates() {
    let mut sorted = Revision::ALL;
    sorted.sort();
    assert_eq!(sorted, Revision::ALL);
    for revision in Revision::ALL {
        assert_eq!(revision.to_string().parse(), Ok(revision));
        let json = format!("\"{revision}\"");
        assert_eq!(serde_json::to_string(&revision).unwrap(), json);
        assert_eq!(serde_json::from_str::<Revision>(&json).unwrap(), revision);
    }
    assert_eq!(Revision::LATEST, Revision::ALL[4]);
    assert_eq!(Revision::LATEST_LEGACY, Revision::ALL[3]);
    assert!(Revision::LATEST.is_modern() && !Revision::LATEST_LEGACY.is_modern());
}

#[test]
fn an_unknown_revision_is_named_beside_the_known_ones() {
    let error = "2024-10-07".parse::<Revision>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown protocol revision \"2024-10-07\"; known are 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28"
    );
    assert!(serde_json::from_str::<Revision>("\"2027-01-01\"").is_err());
}

#[test]
fn the_table_of_revisions() {
    let mut table = String::new();
    let mut row = |name: &str, cell: fn(Revision) -> String| {
        let cells: Vec<String> = Revision::ALL.into_iter().map(cell).collect();
        writeln!(table, "{name:<28}{}", cells.join(" ")).unwrap();
    };
    macro_rules! flags {
        ($($name:ident)*) => {$(
            row(stringify!($name), |revision| {
                format!("{:<12}", if revision.$name() { "yes" } else { "-" })
            });
        )*};
    }
    row("", |revision| format!("{:<12}", revision.to_string()));
    flags! {
        is_modern has_handshake has_http_sse has_http_sessions has_stream_polling
        wants_version_header wants_method_headers has_batches has_server_requests
        has_input_required has_audio has_tool_annotations has_progress_message
        has_completions_capability has_elicitation has_url_elicitation has_rich_forms
        has_titles has_structured_output has_any_structured_output has_resource_links
        has_meta_on_objects has_last_modified has_completion_context has_icons
        has_sampling_tools has_default_dialect has_extensions has_result_type has_caching
        has_ping has_set_level has_resource_subscribe has_subscriptions_listen
        has_roots_list_changed
    }
    row("has_tasks", |revision| {
        format!("{:<12}", format!("{:?}", revision.has_tasks()))
    });
    row("resource_not_found", |revision| {
        format!("{:<12}", revision.resource_not_found().get())
    });
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn codes_say_what_they_mean() {
    assert_eq!(
        ErrorCode::HEADER_MISMATCH.to_string(),
        "-32020, header mismatch"
    );
    assert_eq!(ErrorCode::new(-32050).to_string(), "-32050");
    let named = [
        ErrorCode::PARSE_ERROR,
        ErrorCode::INVALID_REQUEST,
        ErrorCode::METHOD_NOT_FOUND,
        ErrorCode::INVALID_PARAMS,
        ErrorCode::INTERNAL_ERROR,
        ErrorCode::RESOURCE_NOT_FOUND,
        ErrorCode::HEADER_MISMATCH,
        ErrorCode::MISSING_CLIENT_CAPABILITY,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        ErrorCode::URL_ELICITATION_REQUIRED,
        ErrorCode::USER_REJECTED,
    ];
    let numbers = named.map(ErrorCode::get);
    assert_eq!(
        numbers,
        [
            -32700, -32600, -32601, -32602, -32603, -32002, -32020, -32021, -32022, -32042, -1
        ]
    );
    assert!(named.iter().all(|code| code.meaning().is_some()));
}
