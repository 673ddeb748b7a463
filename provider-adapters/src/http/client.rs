//! The HTTP client underneath, as it is unless the user brings one.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::model::BoxError;

const CONNECT: Duration = Duration::from_secs(10);
/// Just below what common load balancers wait before they hang up.
const KEEP_ALIVE: Duration = Duration::from_secs(55);

pub(crate) fn client() -> Result<Client, BoxError> {
    Ok(client_builder()?.build()?)
}

/// The HTTP client of [`HttpModel::new`](crate::HttpModel::new), as a starting point for one with a
/// proxy or a resolver: rustls with ring and the operating system's certificates; credentials do not
/// follow redirects, and nothing is sent twice.
///
/// # Errors
/// If the operating system's certificates cannot be read.
pub fn client_builder() -> Result<ClientBuilder, BoxError> {
    Ok(ClientBuilder::new()
        .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEEP_ALIVE)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .tls_backend_preconfigured(system_tls()?))
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
