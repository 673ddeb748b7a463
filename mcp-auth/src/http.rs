//! HTTP requests to authorization servers: guarded and bounded, independent of OAuth.

pub(crate) mod address;
pub(crate) mod guard;
pub(crate) mod resolver;

use std::sync::{Arc, OnceLock};

use mcp_transport::Secret;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response, StatusCode};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use serde_json::Value;
use url::Url;

use crate::discovery::document::Document;
use crate::http::guard::{Guard, without_query};
use crate::http::resolver::{Forbidden, Resolver};
use crate::{AuthError, AuthLimits, Violation};

/// Requests on behalf of one server's authorization.
#[derive(Debug)]
pub(crate) struct Http {
    server: String,
    guard: Arc<Guard>,
    limits: AuthLimits,
    proxy: Option<String>,
    client: OnceLock<Client>,
}

/// The body of a POST.
#[derive(Debug)]
pub(crate) enum Body {
    /// An encoded form.
    Form(String),
    /// A JSON document.
    Json(Value),
}

/// The response to a POST.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) dpop_nonce: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Http {
    pub(crate) fn new(
        server: &str,
        guard: Guard,
        limits: AuthLimits,
        proxy: Option<String>,
    ) -> Self {
        let guard = Arc::new(guard);
        Self {
            server: server.to_owned(),
            guard,
            limits,
            proxy,
            client: OnceLock::new(),
        }
    }

    /// Applies the rules for URLs without sending a request.
    pub(crate) fn check(&self, url: &str) -> Result<Url, AuthError> {
        self.guard
            .check(url)
            .map_err(|violation| self.refused(violation))
    }

    /// The error for a violated rule.
    pub(crate) fn refused(&self, violation: Violation) -> AuthError {
        AuthError::Refused {
            server: self.server.clone(),
            violation,
        }
    }

    /// Fetches a JSON object. `None` for another status or type. A failing server is an error, so that an outage never
    /// looks like an absence.
    pub(crate) async fn document(&self, url: &str) -> Result<Option<Document>, AuthError> {
        let mut url = self.check(url)?;
        for _ in 0..=self.limits.redirects {
            let request = self
                .client()?
                .get(url.clone())
                .header(ACCEPT, "application/json");
            let response = request
                .send()
                .await
                .map_err(|error| self.failed(&url, error))?;
            match response.status() {
                StatusCode::OK => {
                    let body = self.body(&url, response).await?;
                    return Ok(match serde_json::from_slice(&body) {
                        Ok(Value::Object(document)) => Some(document),
                        _ => None,
                    });
                }
                status if status.is_redirection() => {
                    let Some(next) = target(&url, &response) else {
                        return Ok(None);
                    };
                    url = self.check(&next)?;
                }
                status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                    return Err(AuthError::unavailable(
                        without_query(&url),
                        format!("HTTP {status}"),
                    ));
                }
                _ => return Ok(None),
            }
        }
        Err(AuthError::malformed(
            without_query(&url),
            "too many redirects",
        ))
    }

    /// Fetches a JSON object with these credentials, which are for this endpoint only: redirects are
    /// not followed. `None` for another status or type.
    pub(crate) async fn document_with(
        &self,
        url: &str,
        credentials: &Secret,
    ) -> Result<Option<Document>, AuthError> {
        let url = self.check(url)?;
        let mut value = HeaderValue::from_str(credentials.expose())
            .map_err(|_| AuthError::config("the credentials cannot be sent"))?;
        value.set_sensitive(true);
        let request = self.client()?.get(url.clone());
        let request = request
            .header(ACCEPT, "application/json")
            .header(AUTHORIZATION, value);
        let response = request.send().await;
        let response = response.map_err(|error| self.failed(&url, error))?;
        match response.status() {
            StatusCode::OK => {
                let body = self.body(&url, response).await?;
                Ok(serde_json::from_slice(&body).ok())
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => Err(
                AuthError::unavailable(without_query(&url), format!("HTTP {status}")),
            ),
            _ => Ok(None),
        }
    }

    /// Posts without following redirects: the body is for this endpoint only.
    pub(crate) async fn post(
        &self,
        url: &str,
        body: Body,
        headers: &[(&'static str, Secret)],
    ) -> Result<Reply, AuthError> {
        let url = self.check(url)?;
        let (kind, body) = match body {
            Body::Form(form) => ("application/x-www-form-urlencoded", form),
            Body::Json(json) => ("application/json", json.to_string()),
        };
        let mut request = self
            .client()?
            .post(url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, kind)
            .body(body);
        for (name, value) in headers {
            let mut value = HeaderValue::from_str(value.expose())
                .map_err(|_| AuthError::config(format!("the {name} header cannot be sent")))?;
            value.set_sensitive(true);
            request = request.header(*name, value);
        }
        let response = request
            .send()
            .await
            .map_err(|error| self.failed(&url, error))?;
        let nonce = response
            .headers()
            .get("dpop-nonce")
            .and_then(|value| value.to_str().ok());
        Ok(Reply {
            status: response.status().as_u16(),
            dpop_nonce: nonce.map(str::to_owned),
            body: self.body(&url, response).await?,
        })
    }

    async fn body(&self, url: &Url, mut response: Response) -> Result<Vec<u8>, AuthError> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.failed(url, error))?
        {
            if body.len() + chunk.len() > self.limits.body_bytes {
                let detail = format!("more than {} bytes", self.limits.body_bytes);
                return Err(AuthError::malformed(without_query(url), detail));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn failed(&self, url: &Url, error: reqwest::Error) -> AuthError {
        let url = without_query(url);
        if Forbidden::caused(&error) {
            let reason = "its name leads into a private network";
            return self.refused(Violation::Url { url, reason });
        }
        AuthError::unavailable(url, error.without_url())
    }

    /// Built on first use; most sessions do not need it.
    fn client(&self) -> Result<&Client, AuthError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let failed = |error: reqwest::Error| AuthError::config(error.without_url().to_string());
        let guard = Arc::clone(&self.guard);
        let mut builder = plain_client()?
            .dns_resolver(Resolver::new(move |name, address| {
                guard.admits(name, address)
            }))
            .redirect(Policy::none())
            .referer(false)
            .timeout(self.limits.request)
            .connect_timeout(self.limits.connect)
            .user_agent(concat!("switchboard-mcp-auth/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(failed)?);
        }
        let client = builder.build().map_err(failed)?;
        Ok(self.client.get_or_init(|| client))
    }
}

pub(crate) fn plain_client() -> Result<ClientBuilder, AuthError> {
    Ok(Client::builder().tls_backend_preconfigured(tls()?))
}

/// The target of a redirect.
fn target(from: &Url, response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    Some(from.join(location).ok()?.into())
}

/// The platform's root certificates, read once, because parsing them takes longer than the requests of a login. A
/// machine without certificates can still reach itself over http.
fn tls() -> Result<ClientConfig, AuthError> {
    static PLATFORM: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = PLATFORM.get() {
        return Ok(config.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| AuthError::config(error.to_string()))?;
    let Ok(verifier) = Verifier::new(provider) else {
        let config = config.with_root_certificates(RootCertStore::empty());
        return Ok(config.with_no_client_auth());
    };
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(PLATFORM.get_or_init(|| config).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_when_it_is_resolved() {
        let guard = Guard::of(&Url::parse("https://mcp.example.com/").unwrap());
        let http = Http::new(
            "https://mcp.example.com/",
            guard,
            AuthLimits::default(),
            None,
        );
        // Bypasses the check of the URL on purpose, like a name that resolves to a forbidden address.
        let url = Url::parse("http://localhost:9/").unwrap();
        let error = http
            .client()
            .unwrap()
            .get(url.clone())
            .send()
            .await
            .unwrap_err();
        let error = http.failed(&url, error);
        assert!(matches!(error, AuthError::Refused { .. }), "{error:?}");
    }
}
