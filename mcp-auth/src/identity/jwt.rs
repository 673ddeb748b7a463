//! JSON Web Tokens (RFC 7515, RFC 7519). This crate only signs them and never verifies any.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding,
    RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Map, Value, json};

use crate::AuthError;

/// A signature algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// RSA-PSS with SHA-256.
    Ps256,
    /// Ed25519.
    EdDsa,
}

/// A client's private key for `private_key_jwt`.
#[derive(Clone)]
pub struct PrivateKey {
    pair: Arc<Pair>,
    algorithm: Algorithm,
    id: Option<String>,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl Algorithm {
    /// Finds an algorithm by its registered name, for example `ES256`.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Es256,
            Self::Es384,
            Self::Rs256,
            Self::Ps256,
            Self::EdDsa,
        ]
        .into_iter()
        .find(|algorithm| algorithm.name() == name)
    }

    /// The registered name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl PrivateKey {
    /// Reads a key in PEM form: PKCS#8 (`BEGIN PRIVATE KEY`), or PKCS#1 for RSA.
    pub fn from_pem(pem: &str, algorithm: Algorithm) -> Result<Self, AuthError> {
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| AuthError::config("the private key is not in PEM form"))?;
        let unfit = |why: &dyn fmt::Display| {
            AuthError::config(format!(
                "the private key does not fit {}: {why}",
                algorithm.name()
            ))
        };
        let pair = match (algorithm, &der) {
            (Algorithm::Es256, PrivateKeyDer::Pkcs8(der)) => {
                ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING, der.secret_pkcs8_der())
            }
            (Algorithm::Es384, PrivateKeyDer::Pkcs8(der)) => {
                ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING, der.secret_pkcs8_der())
            }
            (Algorithm::EdDsa, PrivateKeyDer::Pkcs8(der)) => {
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
                    .map(Pair::Ed25519)
            }
            (Algorithm::Rs256 | Algorithm::Ps256, PrivateKeyDer::Pkcs8(der)) => {
                RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).map(Pair::Rsa)
            }
            (Algorithm::Rs256 | Algorithm::Ps256, PrivateKeyDer::Pkcs1(der)) => {
                RsaKeyPair::from_der(der.secret_pkcs1_der()).map(Pair::Rsa)
            }
            _ => return Err(unfit(&"convert it with `openssl pkcs8 -topk8 -nocrypt`")),
        };
        let pair = Arc::new(pair.map_err(|why| unfit(&why))?);
        Ok(Self {
            pair,
            algorithm,
            id: None,
        })
    }

    /// Sets the key's id, for authorization servers that know several keys.
    #[must_use]
    pub fn with_key_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(crate) fn from_p256(pkcs8: &[u8]) -> Result<Self, AuthError> {
        let pair = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8)
            .map_err(|why| AuthError::config(format!("a stored key is damaged: {why}")))?;
        Ok(Self {
            pair: Arc::new(pair),
            algorithm: Algorithm::Es256,
            id: None,
        })
    }

    /// The public half of a key on an elliptic curve: 4, then both coordinates.
    pub(crate) fn public_point(&self) -> &[u8] {
        use ring::signature::KeyPair as _;
        match self.pair.as_ref() {
            Pair::Ecdsa(pair) => pair.public_key().as_ref(),
            Pair::Ed25519(_) | Pair::Rsa(_) => &[],
        }
    }

    /// A compact token with these claims; `header` is added to the usual header.
    pub(crate) fn sign(
        &self,
        header: Map<String, Value>,
        claims: &Value,
    ) -> Result<String, AuthError> {
        let mut full = Map::new();
        full.insert("alg".to_owned(), json!(self.algorithm.name()));
        full.insert("typ".to_owned(), json!("JWT"));
        if let Some(id) = &self.id {
            full.insert("kid".to_owned(), json!(id));
        }
        full.extend(header);
        let encode = |value: &dyn fmt::Display| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&Value::Object(full)), encode(claims));
        let signature = self
            .signature(signed.as_bytes())
            .map_err(|_| AuthError::config("the private key cannot sign"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        let random = SystemRandom::new();
        match self.pair.as_ref() {
            Pair::Ecdsa(pair) => Ok(pair.sign(&random, message)?.as_ref().to_vec()),
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let padding: &dyn RsaEncoding = match self.algorithm {
                    Algorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature)?;
                Ok(signature)
            }
        }
    }
}

fn ecdsa(
    algorithm: &'static EcdsaSigningAlgorithm,
    pkcs8: &[u8],
) -> Result<Pair, ring::error::KeyRejected> {
    EcdsaKeyPair::from_pkcs8(algorithm, pkcs8, &SystemRandom::new()).map(Pair::Ecdsa)
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
