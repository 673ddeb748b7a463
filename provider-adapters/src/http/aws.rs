//! Signs requests for Amazon Bedrock (AWS Signature Version 4).

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_jsonrpc::Secret;
use ring::digest::{SHA256, digest};
use ring::hmac;

use super::{HttpModel, Key};
use crate::model::ModelError;
use crate::wire::bedrock::Bedrock;
use crate::wire::segment;

/// An AWS access key. Never printed.
///
/// ```no_run
/// use provider_adapters::{AwsCredentials, Bedrock, HttpModel};
///
/// let model = HttpModel::new(Bedrock::new("us-east-1"))?
///     .with_aws_credentials(AwsCredentials::from_env()?);
/// # Ok::<(), provider_adapters::ModelError>(())
/// ```
#[derive(Clone)]
pub struct AwsCredentials {
    access_key: String,
    secret_key: Secret,
    session_token: Option<Secret>,
}

impl AwsCredentials {
    /// Creates credentials from an access key and its secret.
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<Secret>) -> Self {
        Self {
            access_key: access_key.into(),
            secret_key: secret_key.into(),
            session_token: None,
        }
    }

    /// Sets the session token of temporary credentials.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<Secret>) -> Self {
        self.session_token = Some(token.into());
        self
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set, `AWS_SESSION_TOKEN`.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if one of the first two is not set.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(|name| std::env::var(name).ok()).map_err(|missing| {
            let problem = format!("no AWS credentials: set the environment variable {missing}");
            ModelError::Setup(problem.into())
        })
    }

    /// The credentials in these variables, or the name of the one that is missing.
    pub(super) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, &'static str> {
        let filled = |name: &str| variable(name).filter(|value| !value.is_empty());
        let needed = |name: &'static str| filled(name).ok_or(name);
        let key = Self::new(
            needed("AWS_ACCESS_KEY_ID")?,
            needed("AWS_SECRET_ACCESS_KEY")?,
        );
        Ok(match filled("AWS_SESSION_TOKEN") {
            Some(token) => key.with_session_token(token),
            None => key,
        })
    }
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsCredentials").finish_non_exhaustive()
    }
}

/// Who signs, for which region.
pub(crate) struct Signer {
    credentials: Box<dyn Fn() -> AwsCredentials + Send + Sync>,
    region: String,
}

impl HttpModel<Bedrock> {
    /// Signs requests with these credentials.
    #[must_use]
    pub fn with_aws_credentials(self, credentials: AwsCredentials) -> Self {
        self.with_aws_credentials_from(move || credentials.clone())
    }

    /// Signs requests with credentials returned by this function before every request, for credentials that change.
    #[must_use]
    pub fn with_aws_credentials_from(
        self,
        credentials: impl Fn() -> AwsCredentials + Send + Sync + 'static,
    ) -> Self {
        let region = self.adapter.region().to_owned();
        self.signed(region, credentials)
    }
}

impl<A> HttpModel<A> {
    /// Signs requests to a region.
    pub(super) fn signed(
        mut self,
        region: String,
        credentials: impl Fn() -> AwsCredentials + Send + Sync + 'static,
    ) -> Self {
        let signer = Signer {
            credentials: Box::new(credentials),
            region,
        };
        self.key = Some(Key::Aws(Arc::new(signer)));
        self
    }
}

impl Signer {
    /// The headers that sign a request, which is sent now.
    pub(crate) fn sign(&self, url: &str, body: &[u8]) -> Vec<(String, Secret)> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        sign(&(self.credentials)(), &self.region, url, body, now)
    }
}

/// The headers that sign a POST of JSON at a time since the epoch.
fn sign(
    credentials: &AwsCredentials,
    region: &str,
    url: &str,
    body: &[u8],
    now: Duration,
) -> Vec<(String, Secret)> {
    let time = timestamp(now.as_secs());
    let date = time.get(..8).unwrap_or_default();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("host", host.to_owned()),
        ("x-amz-date", time.clone()),
    ];
    if let Some(token) = &credentials.session_token {
        headers.push(("x-amz-security-token", token.expose().to_owned()));
    }
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut request = format!("POST\n{}\n\n", twice_encoded(path));
    for (name, value) in &headers {
        let _ = writeln!(request, "{name}:{}", value.trim());
    }
    let _ = write!(request, "\n{names}\n{}", sha256(body));
    let scope = format!("{date}/{region}/bedrock/aws4_request");
    let signed = format!(
        "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
        sha256(request.as_bytes())
    );
    let first = format!("AWS4{}", credentials.secret_key.expose()).into_bytes();
    let key = [date, region, "bedrock", "aws4_request"]
        .into_iter()
        .fold(first, |key, part| hmac(&key, part));
    let signature = hex(&hmac(&key, &signed));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        credentials.access_key
    );
    headers.retain(|(name, _)| *name != "host");
    headers.push(("authorization", authorization));
    let secret = |(name, value): (&str, String)| (name.to_owned(), Secret::new(value));
    headers.into_iter().map(secret).collect()
}

/// A path whose segments, which are encoded already, are encoded once more: all services but S3
/// want it so.
fn twice_encoded(path: &str) -> String {
    let segments: Vec<String> = path.split('/').map(segment).collect();
    match segments.join("/") {
        path if path.is_empty() => "/".to_owned(),
        path => path.replace('@', "%40"),
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Seconds since the epoch as `20260131T235959Z`. The date is Howard Hinnant's `civil_from_days`.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signatures are botocore 1.44's for the same inputs.
    #[test]
    fn signatures_are_those_of_botocore() {
        let plain = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let with_token = plain.clone().with_session_token("session/token==");
        let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-5-5-v1%3A0/converse-stream";
        let at = Duration::from_secs(1_794_992_887);
        let scope =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261118/us-east-1/bedrock/aws4_request";
        for (credentials, rest) in [
            (
                plain,
                "SignedHeaders=content-type;host;x-amz-date, Signature=279fed5859580cb0d63beb4be6a6c1868be9a996f4f35b89147805afbfb1aaae",
            ),
            (
                with_token,
                "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=e859c199fcf7e54094b450e0e6b5f0ea76a5bf7aa1a4d72c2dca3a4c47a2b9ba",
            ),
        ] {
            let headers = sign(&credentials, "us-east-1", url, br#"{"messages":[]}"#, at);
            let header = |wanted: &str| {
                let found = headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.expose().to_owned()).unwrap()
            };
            assert_eq!(header("x-amz-date"), "20261118T090807Z");
            assert_eq!(header("authorization"), format!("{scope}, {rest}"));
        }
    }

    #[test]
    fn times_are_written_as_dates() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(timestamp(seconds), text);
        }
    }
}
