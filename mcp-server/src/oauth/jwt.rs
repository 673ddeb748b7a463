//! Verification of tokens: first the signature, then the claims (RFC 7519). No clock, no IO.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::jwk::Jwk;
use crate::handler::caller::Caller;

/// By how many seconds clocks may differ.
const LEEWAY: u64 = 60;

/// A token of which nothing may be believed yet.
pub(crate) struct Unverified<'a> {
    header: Header,
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Extensions that must be understood: none is.
    crit: Option<Value>,
}

/// What a token must claim.
pub(crate) struct Rules<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
}

impl<'a> Unverified<'a> {
    pub(crate) fn read(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        if header.crit.is_some() || !is_known_type(header.typ.as_deref()) {
            return None;
        }
        Some(Self {
            header,
            signed,
            payload,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The claims, if one of the keys has signed them.
    pub(crate) fn verify(&self, keys: &[Jwk]) -> Option<Map<String, Value>> {
        let named = |key: &&Jwk| self.header.kid.is_none() || key.id == self.header.kid;
        let verified = keys
            .iter()
            .filter(named)
            .any(|key| key.verifies(&self.header.alg, self.signed.as_bytes(), &self.signature));
        if !verified {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(self.payload).ok()?).ok()
    }
}

/// Whether a JWT of this type may be an access token (RFC 9068) or an ID token: a token for another
/// purpose, such as a proof or a logout, has a type of its own.
fn is_known_type(kind: Option<&str>) -> bool {
    let Some(kind) = kind.map(str::to_ascii_lowercase) else {
        return true;
    };
    let kind = kind.strip_prefix("application/").unwrap_or(&kind);
    matches!(kind, "jwt" | "at+jwt")
}

impl Rules<'_> {
    /// The caller that the claims name, at the time `now`, in seconds since the Unix epoch; nothing if
    /// they are not for us, or not for now.
    pub(crate) fn check(&self, claims: Map<String, Value>, now: u64) -> Option<Caller> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let time = |name: &str| claims.get(name).map(seconds);
        let expired = match time("exp") {
            Some(Some(exp)) => now >= exp.saturating_add(LEEWAY),
            _ => true,
        };
        let early = match time("nbf") {
            Some(Some(nbf)) => now.saturating_add(LEEWAY) < nbf,
            Some(None) => true,
            None => false,
        };
        let for_us = match claims.get("aud") {
            Some(Value::String(one)) => one == self.audience,
            Some(Value::Array(many)) => many.iter().any(|one| one == self.audience),
            _ => false,
        };
        let subject = text("sub").filter(|subject| !subject.is_empty());
        if expired || early || !for_us || text("iss") != Some(self.issuer) {
            return None;
        }
        let mut caller = Caller::new(subject?);
        caller.scopes = scopes(&claims);
        caller.claims = claims;
        Some(caller)
    }
}

/// A time in seconds; fractions are allowed and cut off.
fn seconds(value: &Value) -> Option<u64> {
    let float = |value: &Value| value.as_f64().filter(|n| (0.0..1e15).contains(n));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range, and the fraction does not matter"
    )]
    value.as_u64().or_else(|| float(value).map(|n| n as u64))
}

/// `scope` as the standard has it, or `scp` as some issuers write it.
fn scopes(claims: &Map<String, Value>) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    match (claims.get("scope"), claims.get("scp")) {
        (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => words(text),
        (None, Some(Value::Array(list))) => list
            .iter()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(change: Value, want: Option<&str>) {
        let mut claims = json!({
            "iss": "https://as", "aud": "https://rs/mcp", "sub": "ann", "exp": 1000, "scope": "a b",
        });
        for (name, value) in change.as_object().unwrap() {
            let claims = claims.as_object_mut().unwrap();
            match value {
                Value::Null => drop(claims.remove(name)),
                value => drop(claims.insert(name.clone(), value.clone())),
            }
        }
        let rules = Rules {
            issuer: "https://as",
            audience: "https://rs/mcp",
        };
        let got = rules.check(claims.as_object().cloned().unwrap(), 900);
        assert_eq!(
            got.map(|caller| caller.id),
            want.map(str::to_owned),
            "{change}"
        );
    }

    #[test]
    fn only_tokens_for_us_and_for_now_are_accepted() {
        check(json!({}), Some("ann"));
        check(
            json!({"aud": ["https://other", "https://rs/mcp"]}),
            Some("ann"),
        );
        check(json!({"exp": 841}), Some("ann"));
        check(json!({"exp": 899.5, "nbf": 960}), Some("ann"));
        check(json!({"scope": null, "scp": ["a"]}), Some("ann"));
        for invalid in [
            json!({"iss": "https://as/"}),
            json!({"iss": null}),
            json!({"aud": "https://rs/mcp/"}),
            json!({"aud": "https://rs"}),
            json!({"aud": null}),
            json!({"exp": 840}),
            json!({"exp": null}),
            json!({"exp": "1000"}),
            json!({"exp": -1}),
            json!({"nbf": 961}),
            json!({"nbf": "now"}),
            json!({"sub": null}),
            json!({"sub": ""}),
        ] {
            check(invalid, None);
        }
    }
}
