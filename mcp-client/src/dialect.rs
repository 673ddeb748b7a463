//! How a server is spoken to: the only place that knows what an era changes on the wire.

pub(crate) mod era_memory;
pub(crate) mod param_header;
pub(crate) mod verdict;

use std::sync::Arc;

use mcp_jsonrpc::model::{ClientCapabilities, Implementation, LoggingLevel, meta_key};
use mcp_jsonrpc::{EncodeError, ProgressToken, RawMap, RequestId, Revision, encode_request};
use mcp_transport::TransportKind;
use serde::Serialize;

use crate::call::caller::Caller;

/// Which era a client speaks to a server in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum EraMode {
    /// Finds out. Over HTTP by `server/discover`; on a pipe by `initialize`, which every server
    /// in the field takes, and which tells of a modern one by its refusal.
    #[default]
    Auto,
    /// As `Auto`, but on a pipe `server/discover` comes first too. A server that does not answer
    /// it is started anew before `initialize`, because old ones hang or die of it.
    PreferModern,
    /// `initialize`, and nothing else.
    Legacy,
    /// This revision, and nothing else.
    Pinned(Revision),
}

/// The revision in force, and what every request of it carries.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    revision: Option<Revision>,
    /// The members of `_meta` that every modern request has, as JSON; empty before.
    stamp: String,
}

/// What one request carries besides its params.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Who makes it: for us, never written.
    pub(crate) caller: Option<&'a Arc<Caller>>,
    /// Goes into `_meta`, behind what the protocol puts there.
    pub(crate) meta: Option<&'a RawMap>,
    /// The answers to what the server asked last time.
    pub(crate) responses: Option<&'a RawMap>,
    /// The server's state of last time.
    pub(crate) state: Option<&'a str>,
    /// From which level on the server shall log.
    pub(crate) log_level: Option<LoggingLevel>,
}

/// Params that can be written as JSON; the object-safe half of [`Serialize`].
pub(crate) trait Params: Sync {
    /// Appends the request with these params.
    fn encode(&self, out: &mut Vec<u8>, id: &RequestId, method: &str) -> Result<(), EncodeError>;
}

impl<P: Serialize + Sync> Params for P {
    fn encode(&self, out: &mut Vec<u8>, id: &RequestId, method: &str) -> Result<(), EncodeError> {
        encode_request(out, id, method, self)
    }
}

/// Why a request could not be written.
#[derive(Debug)]
pub(crate) enum StampError {
    /// The params are not JSON.
    Encode(EncodeError),
    /// The params are JSON, but not an object.
    NotAnObject,
}

impl Dialect {
    /// Before anything is known: the dialect of `initialize`.
    pub(crate) fn handshake() -> Self {
        Self {
            revision: None,
            stamp: String::new(),
        }
    }

    /// What both sides agreed on.
    pub(crate) fn legacy(revision: Revision) -> Self {
        Self {
            revision: Some(revision),
            stamp: String::new(),
        }
    }

    /// A modern revision: every request says who we are and what we can do.
    pub(crate) fn modern(
        revision: Revision,
        info: &Implementation,
        capabilities: &ClientCapabilities,
    ) -> Result<Self, serde_json::Error> {
        let stamp = format!(
            "\"{}\":\"{revision}\",\"{}\":{},\"{}\":{}",
            meta_key::PROTOCOL_VERSION,
            meta_key::CLIENT_INFO,
            serde_json::to_string(info)?,
            meta_key::CLIENT_CAPABILITIES,
            serde_json::to_string(capabilities)?,
        );
        Ok(Self {
            revision: Some(revision),
            stamp,
        })
    }

    /// The revision, once there is one.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Whether every request stands for itself.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.is_some_and(Revision::is_modern)
    }

    /// Whether the server may have given us a session, over HTTP.
    pub(crate) fn has_session(&self) -> bool {
        self.revision.is_some_and(Revision::has_http_sessions)
    }

    /// Whether the server learns of a cancelled request by a notification; where it does not, the
    /// closed reply stream tells it.
    pub(crate) fn cancels_by_message(&self, shape: TransportKind) -> bool {
        self.revision.is_some() && !(self.is_modern() && shape == TransportKind::Http)
    }

    /// Whether requests carry `Mcp-Name` and `Mcp-Param-*`.
    pub(crate) fn mirrors_params(&self, shape: TransportKind) -> bool {
        shape == TransportKind::Http && self.revision.is_some_and(Revision::wants_method_headers)
    }

    /// Writes a request. The id is its progress token, too.
    pub(crate) fn encode(
        &self,
        id: i64,
        method: &str,
        params: &dyn Params,
        extras: &Extras<'_>,
    ) -> Result<Vec<u8>, StampError> {
        let mut out = Vec::with_capacity(256 + self.stamp.len());
        params
            .encode(&mut out, &RequestId::from(id), method)
            .map_err(StampError::Encode)?;
        if self.revision.is_some() || extras.meta.is_some() {
            self.append(&mut out, id, extras)?;
        }
        Ok(out)
    }

    /// Appends our members to the params, which `encode_request` writes last.
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

/// Whether a key of `_meta` is set by us alone.
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
        // A key is written as JSON too: it may be the user's.
        let _ = serde_json::to_writer(&mut *self.out, key);
        self.out.push(b':');
    }

    fn json<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), StampError> {
        self.key(key);
        let start = self.out.len();
        serde_json::to_writer(&mut *self.out, value).map_err(|_| StampError::NotAnObject)?;
        // Raw JSON of the user's may hold line breaks, which only stand between tokens.
        for byte in self
            .out
            .iter_mut()
            .skip(start)
            .filter(|byte| matches!(byte, b'\n' | b'\r'))
        {
            *byte = b' ';
        }
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

    proptest! {
        /// Whatever the params and the state are, they arrive as they were, on one line.
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
