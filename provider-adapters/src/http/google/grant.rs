//! The requests that obtain an access token (RFC 6749 section 6, RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;

use crate::json::writer::Object;
use crate::model::BoxError;
use crate::wire::segment;

const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// The longest that Google accepts.
const LIFETIME: u64 = 3600;

/// A credentials file, as far as it is read.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum CredentialsFile {
    ServiceAccount {
        client_email: String,
        private_key: String,
        #[serde(default)]
        private_key_id: Option<String>,
        #[serde(default)]
        token_uri: Option<String>,
    },
    AuthorizedUser {
        client_id: String,
        client_secret: String,
        refresh_token: String,
        #[serde(default)]
        token_uri: Option<String>,
    },
}

/// How tokens are obtained.
pub(crate) enum Grant {
    /// An assertion signed with the account's key.
    Assertion {
        email: String,
        key: Box<RsaKeyPair>,
        key_id: Option<String>,
        token_uri: String,
    },
    /// A refresh token.
    Refresh {
        client_id: String,
        client_secret: String,
        refresh_token: String,
        token_uri: String,
    },
    /// What the machine's metadata server hands out.
    Metadata { token_uri: String },
}

impl Grant {
    /// The metadata server at this host, which machines and pods of Google Cloud reach without encryption.
    pub(crate) fn metadata(host: &str) -> Self {
        const PATH: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
        Self::Metadata {
            token_uri: format!("http://{host}{PATH}"),
        }
    }

    pub(crate) fn new(file: CredentialsFile) -> Result<Self, BoxError> {
        Ok(match file {
            CredentialsFile::ServiceAccount {
                client_email,
                private_key,
                private_key_id,
                token_uri,
            } => Self::Assertion {
                key: Box::new(key(&private_key)?),
                email: client_email,
                key_id: private_key_id,
                token_uri: token_uri.unwrap_or_else(|| TOKEN_URI.to_owned()),
            },
            CredentialsFile::AuthorizedUser {
                client_id,
                client_secret,
                refresh_token,
                token_uri,
            } => Self::Refresh {
                client_id,
                client_secret,
                refresh_token,
                token_uri: token_uri.unwrap_or_else(|| TOKEN_URI.to_owned()),
            },
        })
    }

    pub(crate) fn token_uri(&self) -> &str {
        match self {
            Self::Assertion { token_uri, .. }
            | Self::Refresh { token_uri, .. }
            | Self::Metadata { token_uri } => token_uri,
        }
    }

    /// Who asks, for people.
    pub(crate) fn identity(&self) -> &str {
        match self {
            Self::Assertion { email, .. } => email,
            Self::Refresh { .. } => "an authorized user",
            Self::Metadata { .. } => "the service account of this machine",
        }
    }

    /// The body of the token request, at a time in seconds since the epoch. The metadata server is asked without one.
    pub(crate) fn form(&self, now: u64) -> Result<Option<String>, BoxError> {
        Ok(Some(match self {
            Self::Metadata { .. } => return Ok(None),
            Self::Assertion {
                email,
                key,
                key_id,
                token_uri,
            } => {
                let header = Object::default()
                    .set("alg", "RS256")
                    .set("typ", "JWT")
                    .maybe("kid", key_id.as_deref());
                let claims = Object::default()
                    .set("iss", email.as_str())
                    .set("scope", SCOPE)
                    .set("aud", token_uri.as_str())
                    .set("iat", now)
                    .set("exp", now.saturating_add(LIFETIME));
                let jwt = sign(key, &header, &claims)?;
                format!(
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={jwt}"
                )
            }
            Self::Refresh {
                client_id,
                client_secret,
                refresh_token,
                ..
            } => format!(
                "grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                segment(client_id),
                segment(client_secret),
                segment(refresh_token)
            ),
        }))
    }
}

/// A JSON Web Token (RFC 7519).
fn sign(key: &RsaKeyPair, header: &Object<'_>, claims: &Object<'_>) -> Result<String, BoxError> {
    let part = |object: &Object<'_>| URL_SAFE_NO_PAD.encode(object.to_bytes());
    let signed = format!("{}.{}", part(header), part(claims));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        signed.as_bytes(),
        &mut signature,
    )
    .map_err(|_| "the service account's key cannot sign")?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// A private key from its PEM text (PKCS #8).
fn key(pem: &str) -> Result<RsaKeyPair, BoxError> {
    let body = pem
        .split_once("-----BEGIN PRIVATE KEY-----")
        .and_then(|(_, rest)| rest.split_once("-----END PRIVATE KEY-----"));
    let Some((body, _)) = body else {
        return Err("the member private_key of the Google credentials is no PKCS #8 key".into());
    };
    let body: String = body.split_whitespace().collect();
    let der = STANDARD
        .decode(body)
        .map_err(|_| "the member private_key of the Google credentials is not base64")?;
    RsaKeyPair::from_pkcs8(&der).map_err(|error| {
        format!("the member private_key of the Google credentials is unusable: {error}").into()
    })
}
