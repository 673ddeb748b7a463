//! Proofs of possession of the key a token is bound to (RFC 9449).

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use mcp_transport::Secret;
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Map, Value, json};
use url::Url;

use crate::identity::jwt::PrivateKey;
use crate::random::{sha256, unguessable};
use crate::{AuthError, clock};

/// The key that tokens are bound to. It is stored along with them.
#[derive(Clone)]
pub(crate) struct DpopKey {
    key: PrivateKey,
    stored: Secret,
}

impl DpopKey {
    pub(crate) fn generate() -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| AuthError::config("the operating system gives no random numbers"))?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// Reads the output of [`stored`](Self::stored).
    pub(crate) fn restore(stored: &Secret) -> Result<Self, AuthError> {
        let pkcs8 = STANDARD_NO_PAD
            .decode(stored.expose())
            .map_err(|_| AuthError::config("a stored key is damaged"))?;
        Self::from_pkcs8(&pkcs8)
    }

    /// The key as text, for the token store.
    pub(crate) fn stored(&self) -> &Secret {
        &self.stored
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, AuthError> {
        let key = PrivateKey::from_p256(pkcs8)?;
        Ok(Self {
            key,
            stored: Secret::new(STANDARD_NO_PAD.encode(pkcs8)),
        })
    }

    /// A new proof for one request.
    pub(crate) fn proof(&self, request: &Proof<'_>) -> Result<Secret, AuthError> {
        let mut claims = json!({
            "jti": unguessable()?,
            "htm": request.method,
            "htu": bare(request.url),
            "iat": clock::now(),
        });
        if let Value::Object(claims) = &mut claims {
            if let Some(token) = request.token {
                claims.insert("ath".to_owned(), json!(sha256(token.expose())));
            }
            if let Some(nonce) = &request.nonce {
                claims.insert("nonce".to_owned(), json!(nonce));
            }
        }
        let mut header = Map::new();
        header.insert("typ".to_owned(), json!("dpop+jwt"));
        header.insert("jwk".to_owned(), self.public_jwk());
        self.key.sign(header, &claims).map(Secret::new)
    }

    fn public_jwk(&self) -> Value {
        let point = self.key.public_point().get(1..).unwrap_or_default();
        let (x, y) = point.split_at(point.len() / 2);
        json!({
            "kty": "EC", "crv": "P-256",
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        })
    }
}

/// The request a proof is for.
#[derive(Debug)]
pub(crate) struct Proof<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    /// The access token sent along; none at the token endpoint.
    pub(crate) token: Option<&'a Secret>,
    pub(crate) nonce: Option<String>,
}

/// The latest nonce of each origin. Authorization server and resource have separate ones.
#[derive(Debug, Default)]
pub(crate) struct Nonces {
    by_origin: Mutex<BTreeMap<String, String>>,
}

impl Nonces {
    /// The number of origins remembered: more than any legitimate login involves.
    const MAX_NONCES: usize = 16;

    /// Stores the nonce of a response.
    pub(crate) fn note(&self, url: &str, nonce: &str) {
        let legal =
            !nonce.is_empty() && nonce.len() <= 1024 && nonce.bytes().all(|b| b.is_ascii_graphic());
        let mut nonces = self.by_origin.lock();
        let origin = origin(url);
        if legal && (nonces.len() < Self::MAX_NONCES || nonces.contains_key(&origin)) {
            nonces.insert(origin, nonce.to_owned());
        }
    }

    /// The nonce for the origin of `url`.
    pub(crate) fn get(&self, url: &str) -> Option<String> {
        self.by_origin.lock().get(&origin(url)).cloned()
    }
}

/// Whether a proof we sent had this nonce.
pub(crate) fn carries(proof: &Secret, nonce: &str) -> bool {
    let claims = proof
        .expose()
        .split('.')
        .nth(1)
        .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let claims = claims.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    claims.is_some_and(|claims| claims.get("nonce").and_then(Value::as_str) == Some(nonce))
}

fn origin(url: &str) -> String {
    Url::parse(url)
        .map(|url| url.origin().ascii_serialization())
        .unwrap_or_default()
}

/// The URL without query and fragment, as it was written.
fn bare(url: &str) -> &str {
    url.find(['?', '#'])
        .and_then(|end| url.get(..end))
        .unwrap_or(url)
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DpopKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn parts(proof: &Secret) -> (Value, Value, Vec<u8>, String) {
        let text = proof.expose();
        let (signed, signature) = text.rsplit_once('.').unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let read = |part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        (
            read(header),
            read(claims),
            URL_SAFE_NO_PAD.decode(signature).unwrap(),
            signed.to_owned(),
        )
    }

    #[test]
    fn a_proof_verifies_with_the_key_in_its_header() {
        let key = DpopKey::generate().unwrap();
        let token = Secret::new("T");
        let request = Proof {
            method: "POST",
            url: "https://h/mcp?x=1#y",
            token: Some(&token),
            nonce: Some("N".into()),
        };
        let proof = key.proof(&request).unwrap();
        let (header, claims, signature, signed) = parts(&proof);
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["alg"], "ES256");
        assert!(header["jwk"].get("d").is_none());
        assert_eq!(claims["htm"], "POST");
        assert_eq!(claims["htu"], "https://h/mcp");
        assert_eq!(claims["ath"], sha256("T"));
        assert_eq!(claims["nonce"], "N");
        let coordinate = |name: &str| {
            URL_SAFE_NO_PAD
                .decode(header["jwk"][name].as_str().unwrap())
                .unwrap()
        };
        let point = [vec![4], coordinate("x"), coordinate("y")].concat();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
            .verify(signed.as_bytes(), &signature)
            .unwrap();
        assert!(carries(&proof, "N") && !carries(&proof, "M"));
    }

    #[test]
    fn every_proof_is_fresh_and_a_restored_key_is_the_same_key() {
        let key = DpopKey::generate().unwrap();
        let again = DpopKey::restore(key.stored()).unwrap();
        let request = Proof {
            method: "GET",
            url: "https://h/",
            token: None,
            nonce: None,
        };
        let (first, second) = (
            parts(&key.proof(&request).unwrap()),
            parts(&again.proof(&request).unwrap()),
        );
        assert_ne!(first.1["jti"], second.1["jti"]);
        assert_eq!(first.0["jwk"], second.0["jwk"]);
        assert!(first.1.get("ath").is_none() && first.1.get("nonce").is_none());
        assert!(!format!("{key:?}").contains(key.stored().expose()));
    }

    #[test]
    fn nonces_are_kept_per_origin() {
        let nonces = Nonces::default();
        nonces.note("https://as/token", "a");
        nonces.note("https://rs/mcp", "r1");
        nonces.note("https://rs/other", "r2");
        nonces.note("https://rs/other", "with space");
        assert_eq!(nonces.get("https://as/x").as_deref(), Some("a"));
        assert_eq!(nonces.get("https://rs/mcp").as_deref(), Some("r2"));
        assert_eq!(nonces.get("https://elsewhere/"), None);
    }
}
