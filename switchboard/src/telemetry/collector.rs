//! The way to the collector.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::runtime::Handle;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of a response.
const MAX_RESPONSE: usize = 64 << 10;

/// An HTTP client on the program's runtime: the SDK exports from threads of its own.
#[derive(Debug)]
pub(super) struct Collector {
    client: reqwest::Client,
    runtime: Handle,
}

impl Collector {
    pub(super) fn new() -> Result<Self, HttpError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .tls_backend_preconfigured(tls)
            .build()?;
        Ok(Self {
            client,
            runtime: Handle::try_current()?,
        })
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let exchange = async move {
            let mut response = client.execute(request.try_into()?).await?;
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await? {
                body.extend_from_slice(&piece);
                if body.len() > MAX_RESPONSE {
                    return Err("the collector's response is too long".into());
                }
            }
            let mut answer = Response::builder().status(response.status());
            if let Some(headers) = answer.headers_mut() {
                *headers = response.headers().clone();
            }
            Ok::<_, HttpError>(answer.body(Bytes::from(body))?)
        };
        self.runtime.spawn(exchange).await?
    }
}
