//! The default HTTP client.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::model::BoxError;

const CONNECT: Duration = Duration::from_secs(10);
/// Just below what common load balancers wait before they hang up.
const KEEP_ALIVE: Duration = Duration::from_secs(55);

/// A client with our defaults.
pub(crate) fn client() -> Result<Client, BoxError> {
    build(client_builder()?)
}

/// The defaults of [`HttpModel::new`](crate::HttpModel::new), as a starting point for a client with a
/// proxy or a resolver: rustls with ring and the operating system's certificates.
///
/// # Errors
/// If the operating system's certificates cannot be read.
pub fn client_builder() -> Result<ClientBuilder, BoxError> {
    Ok(ClientBuilder::new()
        .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEEP_ALIVE)
        .tls_backend_preconfigured(system_tls()?))
}

/// Builds a client whose credentials do not follow redirects and which never repeats a request
/// on its own.
pub(crate) fn build(builder: ClientBuilder) -> Result<Client, BoxError> {
    let builder = builder
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never());
    Ok(builder.build()?)
}

/// One configuration for the whole process: to read the system's certificates takes time.
fn system_tls() -> Result<ClientConfig, BoxError> {
    static TLS: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(tls) = TLS.get() {
        return Ok(tls.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(TLS.get_or_init(|| tls).clone())
}

/// Boxes an error of the HTTP stack without the address, which may hold a key.
pub(crate) fn anonymous(error: reqwest::Error) -> BoxError {
    Box::new(error.without_url())
}
