//! The dialect in use: the only module that knows how the eras differ on the wire.

pub(crate) mod era_memory;
pub(crate) mod verdict;

use std::sync::Arc;

use mcp_jsonrpc::model::experimental_task::TaskMetadata;
use mcp_jsonrpc::model::{ClientCapabilities, Implementation, LoggingLevel, meta_key};
use mcp_jsonrpc::{EncodeError, ProgressToken, RawMap, RequestId, Revision, encode_request};
use mcp_transport::TransportKind;
use serde::Serialize;

use crate::call::caller::Caller;

/// The era a client uses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum EraMode {
    /// Negotiates it: over HTTP with `server/discover`; on a pipe with `initialize`, which every server in the field
    /// handles, and which a modern one rejects.
    #[default]
    Auto,
    /// Like `Auto`, but `server/discover` is sent first on a pipe, too. A server that does not respond to it is
    /// restarted before `initialize`, because old ones hang or crash.
    PreferModern,
    /// `initialize` only.
    Legacy,
    /// This revision only.
    Pinned(Revision),
}

/// The revision in force, and the members that all its requests contain.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    revision: Option<Revision>,
    /// The members of `_meta` in every modern request, as JSON; empty in the legacy era.
    stamp: String,
    /// The capabilities the connection declares with each modern request, as JSON; empty in the legacy era.
    capabilities: String,
}

/// The content of one request besides its params.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Its caller; never sent.
    pub(crate) caller: Option<&'a Arc<Caller>>,
    /// Members of `_meta`, after the protocol's own.
    pub(crate) meta: Option<&'a RawMap>,
    /// The answers to the input requests of the last round.
    pub(crate) responses: Option<&'a RawMap>,
    /// The server's state of the last round.
    pub(crate) state: Option<&'a str>,
    /// The minimum level of log messages.
    pub(crate) log_level: Option<LoggingLevel>,
    /// The capabilities a modern request declares instead of the connection's.
    pub(crate) capabilities: Option<&'a ClientCapabilities>,
}

/// Params that can be encoded: the object-safe part of [`Serialize`].
pub(crate) trait Params: Sync {
    /// Appends the request with these params.
    fn encode(&self, out: &mut Vec<u8>, id: &RequestId, method: &str) -> Result<(), StampError>;
}

impl<P: Serialize + Sync> Params for P {
    fn encode(&self, out: &mut Vec<u8>, id: &RequestId, method: &str) -> Result<(), StampError> {
        encode_request(out, id, method, self).map_err(StampError::Encode)
    }
}

/// The params of `tools/call`. `arguments` must serialize to an object; `null`, such as `()`, means no arguments.
#[derive(Debug)]
pub(crate) struct ToolParams<'a, A> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a A,
    /// Requests a task (2025-11-25).
    pub(crate) task: Option<TaskMetadata>,
}

impl<A: Serialize + Sync> Params for ToolParams<'_, A> {
    fn encode(&self, out: &mut Vec<u8>, id: &RequestId, method: &str) -> Result<(), StampError> {
        #[derive(Serialize)]
        struct Rest<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            task: Option<&'a TaskMetadata>,
        }
        let rest = Rest {
            name: self.name,
            task: self.task.as_ref(),
        };
        encode_request(out, id, method, &rest).map_err(StampError::Encode)?;
        // The params end the request: reopen both to append the arguments, which are not copied.
        out.truncate(out.len().saturating_sub(2));
        let without = out.len();
        let mut members = Members { out, empty: false };
        members.json("arguments", self.arguments)?;
        let start = without + br#","arguments":"#.len();
        match out.get(start..).map(<[u8]>::trim_ascii) {
            Some([b'{', ..]) => {}
            Some(b"null") => out.truncate(without),
            _ => return Err(StampError::InvalidArguments),
        }
        out.extend_from_slice(b"}}");
        Ok(())
    }
}

/// The reason why a request could not be encoded.
#[derive(Debug)]
pub(crate) enum StampError {
    /// The params cannot be encoded as JSON.
    Encode(EncodeError),
    /// A part of the params cannot be encoded as JSON.
    Json(serde_json::Error),
    /// The params are JSON, but not an object.
    NotAnObject,
    /// A tool's arguments are not an object.
    InvalidArguments,
}

impl Dialect {
    /// The dialect of `initialize`, before a revision is agreed upon.
    pub(crate) fn handshake() -> Self {
        Self {
            revision: None,
            stamp: String::new(),
            capabilities: String::new(),
        }
    }

    /// An agreed legacy revision.
    pub(crate) fn legacy(revision: Revision) -> Self {
        Self {
            revision: Some(revision),
            stamp: String::new(),
            capabilities: String::new(),
        }
    }

    /// A modern revision: every request carries our info and capabilities.
    pub(crate) fn modern(
        revision: Revision,
        info: &Implementation,
        capabilities: &ClientCapabilities,
    ) -> Result<Self, serde_json::Error> {
        let stamp = format!(
            "\"{}\":\"{revision}\",\"{}\":{}",
            meta_key::PROTOCOL_VERSION,
            meta_key::CLIENT_INFO,
            serde_json::to_string(info)?,
        );
        let capabilities = format!(
            "\"{}\":{}",
            meta_key::CLIENT_CAPABILITIES,
            serde_json::to_string(capabilities)?,
        );
        Ok(Self {
            revision: Some(revision),
            stamp,
            capabilities,
        })
    }

    /// The revision, once there is one.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Whether every request is self-contained.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.is_some_and(Revision::is_modern)
    }

    /// Whether the server may have assigned a session, over HTTP.
    pub(crate) fn has_session(&self) -> bool {
        self.revision.is_some_and(Revision::has_http_sessions)
    }

    /// Whether a request is cancelled by a notification rather than by closing its reply stream.
    pub(crate) fn cancels_by_message(&self, shape: TransportKind) -> bool {
        self.revision.is_some() && !(self.is_modern() && shape == TransportKind::Http)
    }

    /// Whether requests carry `Mcp-Name` and `Mcp-Param-*`.
    pub(crate) fn mirrors_params(&self, shape: TransportKind) -> bool {
        shape == TransportKind::Http && self.revision.is_some_and(Revision::wants_method_headers)
    }

    /// Encodes a request. The id is its progress token, too.
    pub(crate) fn encode(
        &self,
        id: i64,
        method: &str,
        params: &dyn Params,
        extras: &Extras<'_>,
    ) -> Result<Vec<u8>, StampError> {
        let mut out = Vec::with_capacity(256 + self.stamp.len() + self.capabilities.len());
        params.encode(&mut out, &RequestId::from(id), method)?;
        if self.revision.is_some() || extras.meta.is_some() {
            self.append(&mut out, id, extras)?;
        }
        Ok(out)
    }

    /// Appends our members to the params, which are last in an encoded request.
    fn append(&self, out: &mut Vec<u8>, id: i64, extras: &Extras<'_>) -> Result<(), StampError> {
        if !out.ends_with(b"}}") {
            return Err(StampError::NotAnObject);
        }
        out.truncate(out.len() - 2);
        let mut members = Members {
            empty: out.trim_ascii_end().ends_with(b"{"),
            out,
        };
        if let Some(responses) = extras.responses {
            members.json("inputResponses", responses)?;
        }
        if let Some(state) = extras.state {
            members.json("requestState", state)?;
        }
        members.key("_meta");
        members.out.push(b'{');
        members.empty = true;
        if !self.stamp.is_empty() {
            members.raw(&self.stamp);
            match extras.capabilities {
                Some(own) => members.json(meta_key::CLIENT_CAPABILITIES, own)?,
                None => members.raw(&self.capabilities),
            }
        }
        if self.is_modern()
            && let Some(level) = &extras.log_level
        {
            members.json(meta_key::LOG_LEVEL, level)?;
        }
        for (key, value) in extras.meta.into_iter().flat_map(RawMap::iter) {
            if !is_ours(key) {
                members.json(key, value)?;
            }
        }
        if self.revision.is_some() {
            members.json(meta_key::PROGRESS_TOKEN, &ProgressToken::from(id))?;
        }
        out.extend_from_slice(b"}}}");
        Ok(())
    }
}

/// Whether only this crate may set this member of `_meta`.
fn is_ours(key: &str) -> bool {
    let ours = [
        meta_key::PROTOCOL_VERSION,
        meta_key::CLIENT_INFO,
        meta_key::CLIENT_CAPABILITIES,
        meta_key::PROGRESS_TOKEN,
    ];
    ours.contains(&key)
}

/// Writes members into an open JSON object.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl Members<'_> {
    fn raw(&mut self, members: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
        self.out.extend_from_slice(members.as_bytes());
    }

    fn key(&mut self, key: &str) {
        self.raw("");
        // A key is encoded, too: it may come from the caller.
        let _ = serde_json::to_writer(&mut *self.out, key);
        self.out.push(b':');
    }

    fn json<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), StampError> {
        self.key(key);
        let start = self.out.len();
        serde_json::to_writer(&mut *self.out, value).map_err(StampError::Json)?;
        // The caller's raw JSON may contain line breaks, but only between tokens.
        mcp_jsonrpc::make_one_line(self.out.get_mut(start..).unwrap_or_default());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::RawJson;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn modern() -> Dialect {
        let info = Implementation::new("us", "1");
        Dialect::modern(Revision::LATEST, &info, &ClientCapabilities::default()).unwrap()
    }

    fn encode(dialect: &Dialect, params: &Value, extras: &Extras<'_>) -> Result<Value, StampError> {
        let bytes = dialect.encode(7, "m", params, extras)?;
        assert!(!bytes.contains(&b'\n'), "one line");
        Ok(serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn a_handshake_is_left_as_it_is() {
        let got = encode(&Dialect::handshake(), &json!({"a": 1}), &Extras::default()).unwrap();
        assert_eq!(
            got,
            json!({"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"a": 1}})
        );
    }

    #[test]
    fn a_legacy_request_carries_its_progress_token() {
        let legacy = Dialect::legacy(Revision::V2024_11_05);
        for params in [json!({}), json!({"a": {}}), json!({"a": "{"})] {
            let got = encode(&legacy, &params, &Extras::default()).unwrap();
            assert_eq!(got["params"]["_meta"], json!({"progressToken": 7}));
            assert_eq!(got["params"]["a"], params["a"]);
        }
    }

    #[test]
    fn the_callers_meta_is_added_but_replaces_nothing_of_ours() {
        let mut meta = RawMap::new();
        meta.insert(
            "traceparent",
            RawJson::from_text("\"00-1\"".to_owned()).unwrap(),
        );
        meta.insert("progressToken", RawJson::from_text("1".to_owned()).unwrap());
        meta.insert(
            meta_key::PROTOCOL_VERSION,
            RawJson::from_text("\"x\"".to_owned()).unwrap(),
        );
        let extras = Extras {
            meta: Some(&meta),
            log_level: Some(LoggingLevel::Info),
            ..Extras::default()
        };
        let got = encode(&modern(), &json!({}), &extras).unwrap();
        let want = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "us", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/logLevel": "info",
            "traceparent": "00-1",
            "progressToken": 7,
        });
        assert_eq!(got["params"]["_meta"], want);
    }

    #[test]
    fn params_that_are_no_object_are_refused() {
        for params in [json!(null), json!([{}]), json!("}}"), json!(1)] {
            let refused = encode(&modern(), &params, &Extras::default());
            assert!(matches!(refused, Err(StampError::NotAnObject)), "{params}");
        }
    }

    #[test]
    fn arguments_are_an_object_or_left_out() {
        let encode = |arguments: &Value| {
            let params = ToolParams {
                name: "t",
                arguments,
                task: None,
            };
            let bytes = modern().encode(7, "tools/call", &params, &Extras::default())?;
            let mut got: Value = serde_json::from_slice(&bytes).unwrap();
            got["params"].as_object_mut().unwrap().remove("_meta");
            Ok::<_, StampError>(got["params"].take())
        };
        let with = encode(&json!({"a": [1]})).unwrap();
        assert_eq!(with, json!({"name": "t", "arguments": {"a": [1]}}));
        assert_eq!(encode(&json!(null)).unwrap(), json!({"name": "t"}));
        for bad in [json!([1, 2]), json!("x"), json!(7), json!(true)] {
            let refused = encode(&bad);
            assert!(
                matches!(refused, Err(StampError::InvalidArguments)),
                "{bad}"
            );
        }
    }

    proptest! {
        /// Whatever the params and the state are, they arrive unchanged, on one line.
        #[test]
        fn stamping_changes_nothing_that_was_there(
            params in prop::collection::btree_map("[a-z]{1,3}", "[ -~\n\u{e9}]{0,8}", 0..4),
            state in "[ -~\n\u{e9}{}\"]{0,12}",
        ) {
            let spaced = RawJson::from_text(serde_json::to_string_pretty(&params).unwrap()).unwrap();
            let extras = Extras { state: Some(&state), ..Extras::default() };
            let bytes = modern().encode(7, "m", &spaced, &extras).unwrap();
            prop_assert!(!bytes.contains(&b'\n'));
            let mut got: Value = serde_json::from_slice(&bytes).unwrap();
            let got = got["params"].as_object_mut().unwrap();
            prop_assert_eq!(got.remove("requestState"), Some(json!(state)));
            prop_assert!(got.remove("_meta").is_some());
            prop_assert_eq!(Value::from(got.clone()), json!(params));
        }
    }
}
