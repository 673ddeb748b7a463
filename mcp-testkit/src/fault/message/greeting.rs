//! Invalid handshakes.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::{Asked, Times};
use crate::protocol::{Piece, error};

pub(super) const FAULTS: &[Fault] = &[
    Fault::greeting("never-init", "never answers a handshake", |_| Vec::new()),
    Fault::greeting("version-unknown", "settles on 1999-01-01", |asked| {
        vec![version(asked, Some("1999-01-01".into()))]
    }),
    Fault::greeting("version-newer", "settles on 2099-12-31", |asked| {
        vec![version(asked, Some("2099-12-31".into()))]
    }),
    Fault::greeting(
        "version-older",
        "settles on 2024-11-05 (no fault)",
        |asked| vec![version(asked, Some("2024-11-05".into()))],
    ),
    Fault::greeting("version-missing", "names no version", |asked| {
        vec![version(asked, None)]
    }),
    Fault::greeting("version-number", "names its version as a number", |asked| {
        vec![version(asked, Some(20_251_125.into()))]
    }),
    Fault::greeting(
        "capabilities-missing",
        "has no capabilities member",
        |asked| vec![asked.with("capabilities", None)],
    ),
    Fault::greeting(
        "capabilities-odd",
        "has capabilities of odd types",
        |asked| {
            let odd = json!({"tools": true, "experimental": {"x": 1}, "future": []});
            vec![asked.with("capabilities", Some(odd))]
        },
    ),
    Fault::greeting(
        "no-tools-capability",
        "has tools but does not declare the capability",
        |asked| vec![asked.with("capabilities", Some(json!({})))],
    ),
    Fault::greeting("serverinfo-missing", "does not name itself", |asked| {
        let mut message = asked.good.clone();
        if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
            result.shift_remove("serverInfo");
            result.shift_remove("_meta");
        }
        vec![(&message).into()]
    }),
    Fault::greeting(
        "init-extra-fields",
        "adds unknown members and 200 kB of instructions to its handshake (no fault)",
        |asked| {
            let mut message = asked.good.clone();
            if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
                result.insert("instructions".to_owned(), "x".repeat(200_000).into());
                result.insert("unknownField".to_owned(), json!({"a": [1, 2]}));
            }
            vec![(&message).into()]
        },
    ),
    Fault::greeting(
        "init-error",
        "answers the handshake with an error",
        |asked| {
            let refusal = Refusal::new(-32602, "the handshake is refused")
                .with_data(json!({"supported": ["1.0"], "requested": "?"}));
            vec![(&error(asked.id(), &refusal)).into()]
        },
    ),
    Fault::twist(
        "discover-empty",
        "answers server/discover with an empty result",
        &["server/discover"],
        Times::Every,
        |asked| vec![asked.raw(r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#)],
    ),
    Fault::twist(
        "unsupported-version-loop",
        "refuses every modern request for its version, and names that very version as supported",
        &["server/discover", "tools/list", "tools/call"],
        Times::Every,
        |asked| {
            let refusal = Refusal::new(-32022, "Unsupported protocol version")
                .with_data(json!({"supported": ["2026-07-28"], "requested": "2026-07-28"}));
            vec![(&error(asked.id(), &refusal)).into()]
        },
    ),
];

/// The handshake's response with another version, in the form of its era.
fn version(asked: &Asked<'_>, version: Option<Value>) -> Piece {
    match asked.request.get("method").and_then(Value::as_str) {
        Some("server/discover") => {
            asked.with("supportedVersions", version.map(|version| json!([version])))
        }
        _ => asked.with("protocolVersion", version),
    }
}
