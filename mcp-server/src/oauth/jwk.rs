//! Public keys in the format issuers publish (RFC 7517), and their signatures.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;

/// Most keys that are kept of one set.
const MAX_KEYS: usize = 64;

/// One public key for signatures.
#[derive(Clone, Debug)]
pub(crate) struct Jwk {
    pub(crate) id: Option<String>,
    /// The only algorithm it is for, if it names one.
    algorithm: Option<String>,
    key: Key,
}

#[derive(Clone, Debug)]
enum Key {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct RawSet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct RawKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The signature keys of a set; others are passed over.
pub(crate) fn read_set(text: &str) -> Result<Vec<Jwk>, serde_json::Error> {
    let set: RawSet = serde_json::from_str(text)?;
    let keys = set
        .keys
        .into_iter()
        .filter_map(|key| read(serde_json::from_value(key).ok()?));
    Ok(keys.take(MAX_KEYS).collect())
}

fn read(raw: RawKey) -> Option<Jwk> {
    if raw.usage.as_deref().is_some_and(|usage| usage != "sig") {
        return None;
    }
    let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
    let point = |size: usize| {
        let (x, y) = (bytes(&raw.x)?, bytes(&raw.y)?);
        // Uncompressed, as SEC 1 writes it.
        (x.len() == size && y.len() == size).then(|| [&[4][..], &x, &y].concat())
    };
    let key = match (raw.kty.as_str(), raw.crv.as_deref()) {
        ("RSA", _) => Key::Rsa {
            n: bytes(&raw.n)?,
            e: bytes(&raw.e)?,
        },
        ("EC", Some("P-256")) => Key::P256(point(32)?),
        ("EC", Some("P-384")) => Key::P384(point(48)?),
        ("OKP", Some("Ed25519")) => Key::Ed25519(bytes(&raw.x)?),
        _ => return None,
    };
    Some(Jwk {
        id: raw.kid,
        algorithm: raw.alg,
        key,
    })
}

impl Jwk {
    /// Whether `signature` is this key's for `message`, by this algorithm.
    pub(crate) fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        if self
            .algorithm
            .as_deref()
            .is_some_and(|only| only != algorithm)
        {
            return false;
        }
        let plain = |by: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(by, key)
                .verify(message, signature)
                .is_ok()
        };
        match (&self.key, algorithm) {
            (Key::Rsa { n, e }, "RS256" | "RS384" | "RS512") => {
                let by = match algorithm {
                    "RS256" => &RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &RSA_PKCS1_2048_8192_SHA384,
                    _ => &RSA_PKCS1_2048_8192_SHA512,
                };
                RsaPublicKeyComponents { n, e }
                    .verify(by, message, signature)
                    .is_ok()
            }
            (Key::P256(key), "ES256") => plain(&ECDSA_P256_SHA256_FIXED, key),
            (Key::P384(key), "ES384") => plain(&ECDSA_P384_SHA384_FIXED, key),
            (Key::Ed25519(key), "EdDSA") => plain(&ED25519, key),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7515, appendix A.2.
    #[test]
    fn a_published_rsa_signature_is_verified() {
        let set = r#"{"keys":[{"kty":"oct","k":"AA"},{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}]}"#;
        let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
        let keys = read_set(set).unwrap();
        assert_eq!(keys.len(), 1);
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let good = keys.first().unwrap();
        assert!(good.verifies("RS256", token.as_bytes(), &signature));
        assert!(!good.verifies("RS384", token.as_bytes(), &signature));
        assert!(!good.verifies("none", token.as_bytes(), &signature));
        assert!(!good.verifies("HS256", token.as_bytes(), &signature));
        assert!(!good.verifies("RS256", b"another", &signature));
    }
}
