//! The HTTP client: its TLS configuration, and the defaults that are switched off.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::ClientBuilder;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::BoxError;

/// The time an idle connection is kept: just below the 60 s after which common load balancers close it, so that a
/// request rarely meets a connection that is being closed.
const KEEP_ALIVE: Duration = Duration::from_secs(55);

/// The default HTTP client of this crate, as a starting point for one with a proxy or a resolver: rustls with ring and
/// the operating system's certificates, proxies from the environment, HTTP/1.1, no cookies.
///
/// For your own certificates, start from `reqwest::Client::builder()` instead, with one of reqwest's TLS features:
/// certificates cannot be added to a preconfigured TLS backend.
///
/// # Errors
///
/// If the operating system's certificates cannot be read.
pub fn client_builder() -> Result<ClientBuilder, BoxError> {
    Ok(plain_builder().tls_backend_preconfigured(system_tls()?))
}

/// The builder for a server on this machine without TLS: it reads no certificates and uses no proxy.
pub(crate) fn loopback_builder() -> Result<ClientBuilder, BoxError> {
    let tls = tls_builder()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(plain_builder().no_proxy().tls_backend_preconfigured(tls))
}

fn plain_builder() -> ClientBuilder {
    ClientBuilder::new()
        .user_agent(concat!("switchboard-mcp/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .pool_idle_timeout(KEEP_ALIVE)
}

/// Switches off implicit behaviour: credentials must not follow a redirect, a request must not be sent twice, and a
/// body must not be decompressed beyond its limit.
pub(crate) fn tame(builder: ClientBuilder) -> ClientBuilder {
    builder
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
}

/// The TLS configuration of the whole process: reading the system's certificates takes milliseconds, and sessions can
/// be resumed across connections.
fn system_tls() -> Result<ClientConfig, BoxError> {
    static TLS: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(tls) = TLS.get() {
        return Ok(tls.clone());
    }
    let tls = tls_builder()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(TLS.get_or_init(|| tls).clone())
}

fn tls_builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error>
{
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}
