//! `requestState`: the state of a call so far, sealed so that only this server can have written it, and only for this
//! call of this caller.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_jsonrpc::RawMap;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::server::random;

/// What goes round with the client between two rounds of one call.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct RequestState {
    /// Seconds since the Unix epoch after which it is worthless.
    pub(crate) expires: u64,
    /// How many rounds there were; also makes each state differ from the last.
    pub(crate) round: u32,
    /// Answers used so far, by key.
    pub(crate) answers: RawMap,
    /// Results of steps that must not run again, by key.
    pub(crate) steps: RawMap,
    /// Where this process keeps what the call holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<String>,
}

/// Seals states with one key.
pub(crate) struct Sealer(LessSafeKey);

/// What a state belongs to.
pub(crate) struct Binding(digest::Digest);

impl Binding {
    /// The call of `method` with these params by this caller.
    pub(crate) fn new(method: &str, caller: Option<&str>, params: &Value) -> Self {
        let mut hash = digest::Context::new(&digest::SHA256);
        for part in [method, caller.unwrap_or_default()] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(&[u8::from(caller.is_some())]);
        canonical(params, &mut |text| hash.update(text.as_bytes()));
        Self(hash.finish())
    }
}

/// Feeds JSON in a form that neither whitespace nor the order of members changes.
fn canonical(value: &Value, feed: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| name.as_str());
            feed("{");
            for (name, value) in sorted {
                feed(&Value::from(name.as_str()).to_string());
                feed(":");
                canonical(value, feed);
                feed(",");
            }
            feed("}");
        }
        Value::Array(items) => {
            feed("[");
            for item in items {
                canonical(item, feed);
                feed(",");
            }
            feed("]");
        }
        scalar => feed(&scalar.to_string()),
    }
}

impl Sealer {
    /// With this key; without one, with a fresh key that dies with the process.
    pub(crate) fn new(key: Option<[u8; 32]>) -> Self {
        let key = key.unwrap_or_else(random::bytes);
        match UnboundKey::new(&CHACHA20_POLY1305, &key) {
            Ok(key) => Self(LessSafeKey::new(key)),
            // A key of 32 bytes is one of this algorithm's.
            Err(_) => std::process::abort(),
        }
    }

    /// The state as text for the client; `None` if it would be longer than `limit`.
    pub(crate) fn seal(
        &self,
        state: &RequestState,
        binding: &Binding,
        limit: usize,
    ) -> Option<String> {
        self.seal_value(state, binding, limit)
    }

    /// Any value as text for the client; `None` if it would be longer than `limit`.
    pub(crate) fn seal_value(
        &self,
        value: &impl Serialize,
        binding: &Binding,
        limit: usize,
    ) -> Option<String> {
        let mut sealed = serde_json::to_vec(value).ok()?;
        let nonce = random::bytes::<NONCE_LEN>();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(binding.0.as_ref()),
                &mut sealed,
            )
            .ok()?;
        sealed.splice(0..0, nonce);
        let text = URL_SAFE_NO_PAD.encode(&sealed);
        (text.len() <= limit).then_some(text)
    }

    /// Reads a state; `None` if it was not sealed here, for another call, or has expired.
    pub(crate) fn open(
        &self,
        text: &str,
        binding: &Binding,
        now: u64,
        limit: usize,
    ) -> Option<RequestState> {
        let state: RequestState = self.open_value(text, binding, limit)?;
        (now <= state.expires).then_some(state)
    }

    /// Reads what was sealed; `None` if that was not here, or for something else.
    pub(crate) fn open_value<T: DeserializeOwned>(
        &self,
        text: &str,
        binding: &Binding,
        limit: usize,
    ) -> Option<T> {
        if text.len() > limit {
            return None;
        }
        let mut sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let nonce: [u8; NONCE_LEN] = sealed.get(..NONCE_LEN)?.try_into().ok()?;
        let plain = self
            .0
            .open_within(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(binding.0.as_ref()),
                &mut sealed,
                NONCE_LEN..,
            )
            .ok()?;
        serde_json::from_slice(plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn state() -> RequestState {
        let mut state = RequestState {
            expires: 100,
            round: 1,
            ..RequestState::default()
        };
        state
            .answers
            .set("name", &json!({"action": "accept"}))
            .unwrap();
        state
    }

    fn binding(caller: &str, arguments: Value) -> Binding {
        Binding::new("tools/call", Some(caller), &arguments)
    }

    #[test]
    fn a_state_opens_for_its_call_and_caller_until_it_expires() {
        let sealer = Sealer::new(None);
        let ours = binding("ann", json!({"a": 1, "b": [2]}));
        let text = sealer.seal(&state(), &ours, 4096).unwrap();
        assert_eq!(sealer.open(&text, &ours, 100, 4096), Some(state()));
        let reordered = binding("ann", json!({"b": [2], "a": 1}));
        assert!(sealer.open(&text, &reordered, 100, 4096).is_some());
        assert!(sealer.open(&text, &ours, 101, 4096).is_none(), "expired");
        for other in [
            binding("bob", json!({"a": 1, "b": [2]})),
            binding("ann", json!({"a": 1, "b": [3]})),
            Binding::new("prompts/get", Some("ann"), &json!({"a": 1, "b": [2]})),
            Binding::new("tools/call", None, &json!({"a": 1, "b": [2]})),
        ] {
            assert!(sealer.open(&text, &other, 100, 4096).is_none());
        }
        assert!(Sealer::new(None).open(&text, &ours, 100, 4096).is_none());
        assert!(sealer.seal(&state(), &ours, 10).is_none(), "too large");
        assert!(sealer.open(&text, &ours, 100, 10).is_none(), "too large");
    }

    #[test]
    fn a_value_opens_for_its_caller_and_purpose_wherever_the_key_is_the_same() {
        let binding = |caller, purpose: &str| Binding::new("sealed", caller, &json!(purpose));
        let ours = binding(Some("ann"), "task");
        let sealer = Sealer::new(Some([7; 32]));
        let text = sealer.seal_value(&json!({"id": 1}), &ours, 4096).unwrap();
        let replica = Sealer::new(Some([7; 32]));
        let opened: Option<Value> = replica.open_value(&text, &ours, 4096);
        assert_eq!(opened, Some(json!({"id": 1})));
        for other in [
            binding(Some("bob"), "task"),
            binding(None, "task"),
            binding(Some("ann"), "output"),
        ] {
            let opened: Option<Value> = sealer.open_value(&text, &other, 4096);
            assert_eq!(opened, None);
        }
        let stranger = Sealer::new(Some([8; 32]));
        assert_eq!(stranger.open_value::<Value>(&text, &ours, 4096), None);
    }

    proptest! {
        #[test]
        fn no_other_text_opens(at in 0usize..200, byte in any::<u8>(), cut in 0usize..200) {
            let sealer = Sealer::new(Some([7; 32]));
            let ours = binding("ann", json!({}));
            let text = sealer.seal(&state(), &ours, 4096).unwrap();
            let mut forged = text.clone().into_bytes();
            let at = at % forged.len();
            forged[at] = byte;
            forged.truncate(forged.len() - cut % forged.len());
            if let Ok(forged) = String::from_utf8(forged) {
                prop_assert_eq!(sealer.open(&forged, &ours, 0, 4096).is_some(), forged == text);
            }
        }
    }
}
