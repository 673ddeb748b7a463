//! Access tokens for Vertex AI.

mod grant;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_jsonrpc::Secret;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use self::grant::{CredentialsFile, Grant};
use super::{HttpModel, Key, anonymous, client};
use crate::adapter::Adapter;
use crate::adapter::error_body;
use crate::model::provider_error::{ErrorKind, ProviderError};
use crate::model::{BoxError, ModelError};

/// Bytes that are read of a token response.
const MAX_TOKEN_BYTES: usize = 64 << 10;
/// A token that is valid for less than this is replaced.
const EARLY: Duration = Duration::from_secs(60);
/// How long a token counts if the endpoint does not say.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(300);

/// The metadata server of a machine, or a pod, of Google Cloud.
const METADATA_HOST: &str = "metadata.google.internal";

/// Google credentials that obtain access tokens: those of a service account, of a user who logged in with
/// `gcloud auth application-default login`, or of the Google Cloud machine (or pod) that this runs on.
///
/// A token is cached until shortly before it expires, and concurrent requests share it. Neither the key nor a token is
/// ever printed.
///
/// ```no_run
/// use provider_adapters::{Gemini, GoogleCredentials, HttpModel};
///
/// let credentials = GoogleCredentials::from_env()?;
/// let model = HttpModel::new(Gemini::vertex("my-project", "global"))?
///     .with_google_credentials(credentials);
/// # Ok::<(), provider_adapters::ModelError>(())
/// ```
pub struct GoogleCredentials {
    grant: Grant,
    token: Mutex<Option<(Secret, Instant)>>,
    /// One permit: whoever fetches a token.
    fetch: Semaphore,
}

impl GoogleCredentials {
    /// Parses a credentials file of the type `service_account` or `authorized_user`.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if it has another type, or a member is missing or invalid.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let file: CredentialsFile = serde_json::from_str(text).map_err(|error| {
            // The error names the member and the place, not the value.
            ModelError::Setup(format!("not a Google credentials file: {error}").into())
        })?;
        Ok(Self::new(Grant::new(file).map_err(ModelError::Setup)?))
    }

    /// The service account of the Google Cloud machine, pod or Cloud Run service that this runs on: its metadata server
    /// hands out the tokens.
    pub fn from_metadata_server() -> Self {
        Self::from_metadata_host(METADATA_HOST)
    }

    /// As [`from_metadata_server`](Self::from_metadata_server), of a metadata server at another host and port.
    pub fn from_metadata_host(host: &str) -> Self {
        Self::new(Grant::metadata(host))
    }

    fn new(grant: Grant) -> Self {
        Self {
            grant,
            token: Mutex::new(None),
            fetch: Semaphore::new(1),
        }
    }

    /// Reads the file named by `GOOGLE_APPLICATION_CREDENTIALS`, or else the one written by
    /// `gcloud auth application-default login`; without either, on Google Cloud, asks the
    /// [metadata server](Self::from_metadata_server), or the one that `GCE_METADATA_HOST` names.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if there is none of them, or [`from_json`](Self::from_json) rejects the file.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(|name| std::env::var_os(name).map(PathBuf::from))
    }

    pub(super) fn from_variables(
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<Self, ModelError> {
        // One that is named has to be there.
        if let Some(path) = variable("GOOGLE_APPLICATION_CREDENTIALS") {
            return Self::from_file(path);
        }
        if let Some(path) = gcloud_file(&variable).filter(|path| path.exists()) {
            return Self::from_file(path);
        }
        if let Some(host) = variable("GCE_METADATA_HOST") {
            return Ok(Self::from_metadata_host(&host.to_string_lossy()));
        }
        if variable("K_SERVICE").is_some() || is_google_machine() {
            return Ok(Self::from_metadata_server());
        }
        Err(ModelError::Setup(
            "no Google credentials: set GOOGLE_APPLICATION_CREDENTIALS to a credentials file, or run `gcloud auth \
             application-default login`"
                .into(),
        ))
    }

    /// Reads a credentials file.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the file cannot be read, or [`from_json`](Self::from_json) rejects it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let problem = format!(
                "cannot read the Google credentials {}: {error}",
                path.display()
            );
            ModelError::Setup(problem.into())
        })?;
        Self::from_json(&text)
    }

    /// A valid token: the one at hand, or a new one.
    pub(crate) async fn token(&self, client: &reqwest::Client) -> Result<Secret, ModelError> {
        if let Some(token) = self.kept() {
            return Ok(token);
        }
        // Whoever comes while a token is fetched waits for it, within its own time-out.
        let _permit = self.fetch.acquire().await;
        if let Some(token) = self.kept() {
            return Ok(token);
        }
        let (token, lifetime) = self.fetch(client).await?;
        *self.token.lock() = Some((token.clone(), Instant::now() + lifetime));
        Ok(token)
    }

    fn kept(&self) -> Option<Secret> {
        let kept = self.token.lock();
        let (token, end) = kept.as_ref()?;
        (*end > Instant::now() + EARLY).then(|| token.clone())
    }

    /// Forgets the token that the provider refused.
    pub(crate) fn forget(&self) {
        *self.token.lock() = None;
    }

    async fn fetch(&self, client: &reqwest::Client) -> Result<(Secret, Duration), ModelError> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let uri = self.grant.token_uri();
        let call = match self.grant.form(now.as_secs()).map_err(ModelError::Setup)? {
            Some(form) => client
                .post(uri)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form),
            // Not through the proxy of the other requests: it has a metadata server of its own.
            None => direct_client()?
                .get(uri)
                .header("metadata-flavor", "Google"),
        };
        let failed = |error: reqwest::Error| {
            let problem = format!("no reply from the token endpoint: {}", anonymous(error));
            ModelError::Unreachable(BoxError::from(problem))
        };
        let mut response = call.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_TOKEN_BYTES {
                return Err(refused(
                    "the token endpoint's response is too large".to_owned(),
                    status,
                ));
            }
        }
        if !(200..300).contains(&status) {
            let reason = match serde_json::from_slice::<Refusal>(&body) {
                Ok(refusal) => refusal.to_string(),
                Err(_) => error_body::read(Some(status), &body).message,
            };
            return Err(refused(
                format!("the token endpoint refused the credentials: {reason}"),
                status,
            ));
        }
        let token: TokenResponse = serde_json::from_slice(&body).map_err(|_| {
            refused(
                "the token endpoint's response holds no access token".to_owned(),
                status,
            )
        })?;
        let lifetime = token
            .expires_in
            .map_or(DEFAULT_LIFETIME, Duration::from_secs);
        Ok((Secret::new(token.access_token), lifetime))
    }
}

impl<A: Adapter> HttpModel<A> {
    /// Authenticates with an access token of these credentials instead of a key.
    #[must_use]
    pub fn with_google_credentials(mut self, credentials: GoogleCredentials) -> Self {
        self.key = Some(Key::Google(credentials.into()));
        self
    }
}

/// A client that uses no proxy.
fn direct_client() -> Result<reqwest::Client, ModelError> {
    let builder = client::client_builder().map_err(ModelError::Setup)?;
    client::build(builder.no_proxy()).map_err(ModelError::Setup)
}

/// Whether the firmware says that this is a machine of Google's cloud, as Google's own libraries ask it.
fn is_google_machine() -> bool {
    let product = std::fs::read_to_string("/sys/class/dmi/id/product_name");
    product.is_ok_and(|name| matches!(name.trim(), "Google" | "Google Compute Engine"))
}

/// Where gcloud writes the credentials of a user.
fn gcloud_file(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    const NAME: &str = "application_default_credentials.json";
    let folder = match (variable("CLOUDSDK_CONFIG"), cfg!(windows)) {
        (Some(folder), _) => folder,
        (None, true) => variable("APPDATA")?.join("gcloud"),
        (None, false) => variable("HOME")?.join(".config/gcloud"),
    };
    Some(folder.join(NAME))
}

fn refused(message: String, status: u16) -> ModelError {
    let kind = match status {
        429 => ErrorKind::RateLimit,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Credentials,
    };
    let error = ProviderError {
        status: Some(status),
        ..ProviderError::new(kind, message)
    };
    ModelError::Provider(Box::new(error))
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

/// An OAuth error.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    error_description: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error_description {
            Some(text) => write!(f, "{text} ({})", self.error),
            None => f.write_str(&self.error),
        }
    }
}

impl fmt::Debug for GoogleCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoogleCredentials")
            .field("identity", &self.grant.identity())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    const USER: &str =
        r#"{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}"#;

    fn found(variables: &[(&str, &Path)]) -> Result<String, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_path_buf())
        };
        let found = GoogleCredentials::from_variables(variable);
        found
            .map(|it| it.grant.token_uri().to_owned())
            .map_err(|error| error.source().unwrap().to_string())
    }

    #[test]
    fn a_file_wins_over_the_metadata_server_and_the_named_file_over_the_one_of_gcloud() {
        let home = tempfile::tempdir().unwrap();
        let variable = if cfg!(windows) { "APPDATA" } else { "HOME" };
        let file = gcloud_file(|name| (name == variable).then(|| home.path().to_owned())).unwrap();
        let host = ("GCE_METADATA_HOST", Path::new("169.254.169.254"));
        let metadata = found(&[(variable, home.path()), host]).unwrap();
        assert_eq!(
            metadata,
            "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token"
        );
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, USER).unwrap();
        let of_gcloud = found(&[(variable, home.path()), host]).unwrap();
        assert_eq!(of_gcloud, "https://oauth2.googleapis.com/token");
        // One that is named has to be there, whatever else is.
        let named = (
            "GOOGLE_APPLICATION_CREDENTIALS",
            Path::new("/nowhere/key.json"),
        );
        let error = found(&[(variable, home.path()), host, named]).unwrap_err();
        assert!(error.contains("cannot read"), "{error}");
    }
}
