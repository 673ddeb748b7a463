//! Random strings and digests.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::AuthError;

/// 256 bits from the operating system, as 43 URL-safe characters: a state, a PKCE verifier (RFC 7636 requires at least
/// 43), a token's id.
pub(crate) fn unguessable() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| AuthError::config("the operating system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// SHA-256, as URL-safe text: a PKCE challenge (S256), an access token's hash in a DPoP proof.
pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_rfc_7636_appendix_b() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(
            sha256(verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn no_two_values_are_alike() {
        let values: std::collections::BTreeSet<_> =
            (0..100).map(|_| unguessable().unwrap()).collect();
        assert_eq!(values.len(), 100);
        assert!(values.iter().all(|value| value.len() == 43));
    }
}
