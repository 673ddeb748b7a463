//! One HTTP exchange, up to the head of the response, with credentials, within the origin.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Client, Method, Request, Response, Url};
use tokio::time::timeout;

use crate::http::config::custom_header;
use crate::http::redirect::{follow, shown};
use crate::http::refusal::discard;
use crate::http::{HttpConfig, HttpConfigError, HttpLimits};
use crate::{
    AuthRequest, AuthVerdict, BoxError, Challenge, Delivery, Secret, SendError, TransportError,
};

/// The HTTP client for one server.
#[derive(Debug)]
pub(crate) struct Exchange {
    config: HttpConfig,
    client: Client,
}

/// One request, resent as redirects and challenges require.
#[derive(Debug)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The time limit for the head of the response.
    pub(crate) timeout: Duration,
    /// The number of challenges the provider may follow with another attempt.
    pub(crate) challenges: u32,
}

/// Credentials as supplied by the provider.
type Credentials = Vec<(String, Secret)>;

impl Exchange {
    pub(crate) fn new(config: HttpConfig) -> Result<Self, HttpConfigError> {
        let client = config.client()?;
        Ok(Self { config, client })
    }

    pub(crate) fn config(&self) -> &HttpConfig {
        &self.config
    }

    pub(crate) fn limits(&self) -> &HttpLimits {
        &self.config.limits
    }

    /// The server's address for display.
    pub(crate) fn target(&self) -> String {
        shown(&self.config.url)
    }

    /// Sends `request` and returns the head of the response with any status, unless it is a redirect or a rejection of
    /// our credentials.
    pub(crate) async fn send(&self, request: &HttpRequest<'_>) -> Result<Response, SendError> {
        let mut url = Cow::Borrowed(request.url);
        let (mut hops, mut refusals) = (0, 0);
        loop {
            let credentials = self.credentials(&request.method, &url).await?;
            let response = self.send_once(request, &url, &credentials).await?;
            self.observe(&request.method, &response);
            let status = response.status().as_u16();
            if matches!(status, 301 | 302 | 303 | 307 | 308) {
                hops += 1;
                url = Cow::Owned(self.next_hop(&response, hops)?);
                Box::pin(discard(response, self.limits())).await;
            } else if is_challenge(&response) {
                refusals += 1;
                Box::pin(self.challenged(request, response, &credentials, refusals)).await?;
            } else {
                return Ok(response);
            }
        }
    }

    async fn send_once(
        &self,
        request: &HttpRequest<'_>,
        url: &Url,
        credentials: &Credentials,
    ) -> Result<Response, SendError> {
        let mut http = Request::new(request.method.clone(), url.clone());
        let headers = http.headers_mut();
        // Configured headers and credentials cannot replace ours: `custom_header` rejects those.
        headers.clone_from(&request.headers);
        headers.extend(self.config.headers.clone());
        for (name, value) in credentials {
            let (name, value) = custom_header(name, value.expose())
                .map_err(|error| self.no_credentials(error.into()))?;
            headers.insert(name, value);
        }
        if !request.body.is_empty() {
            *http.body_mut() = Some(request.body.clone().into());
        }
        let limit = request.timeout;
        match timeout(limit, self.client.execute(http)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unsent(&request.method, url, error)),
            Err(_) => Err(SendError::new(
                TransportError::Timeout {
                    phase: "the reply's first byte",
                    limit,
                },
                Delivery::Unknown,
            )),
        }
    }

    /// The error when there was no response. Only without a connection is it certain that nothing was sent.
    fn unsent(&self, method: &Method, url: &Url, error: reqwest::Error) -> SendError {
        let error = error.without_url();
        let (delivery, action) = if error.is_connect() {
            if error.is_timeout() {
                let limit = self.limits().connect_timeout;
                let error = TransportError::Timeout {
                    phase: "connecting",
                    limit,
                };
                return SendError::new(error, Delivery::NotSent);
            }
            (Delivery::NotSent, format!("connecting to {}", shown(url)))
        } else if error.is_builder() {
            (Delivery::NotSent, format!("{method} {}", shown(url)))
        } else {
            (Delivery::Unknown, format!("{method} {}", shown(url)))
        };
        SendError::new(
            TransportError::Io {
                action,
                source: error.into(),
            },
            delivery,
        )
    }

    fn next_hop(&self, response: &Response, hops: u32) -> Result<Url, SendError> {
        let location = response
            .headers()
            .get(LOCATION)
            .map(|value| value.as_bytes());
        let hop = follow(response.url(), response.status().as_u16(), location);
        let limit = self.limits().redirects;
        let detail = match hop {
            Ok(url) if hops <= limit => return Ok(url),
            Ok(_) => format!("{} redirects more than {limit} times", self.target()),
            Err(detail) => detail,
        };
        Err(SendError::new(
            TransportError::Malformed { detail },
            Delivery::NotSent,
        ))
    }

    async fn credentials(&self, method: &Method, url: &Url) -> Result<Credentials, SendError> {
        match &self.config.auth {
            None => Ok(Vec::new()),
            Some(auth) => auth
                .headers(&self.auth_request(method, url))
                .await
                .map_err(|source| self.no_credentials(source)),
        }
    }

    fn no_credentials(&self, source: BoxError) -> SendError {
        let error = TransportError::Credentials {
            server: self.target(),
            source,
        };
        SendError::new(error, Delivery::NotSent)
    }

    fn observe(&self, method: &Method, response: &Response) {
        if let Some(auth) = &self.config.auth {
            let headers: Vec<(&str, &str)> = response
                .headers()
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
                .collect();
            auth.observed(&self.auth_request(method, response.url()), &headers);
        }
    }

    /// Reports a rejection to the provider. `Ok` means: try again.
    async fn challenged(
        &self,
        request: &HttpRequest<'_>,
        response: Response,
        credentials: &Credentials,
        refusals: u32,
    ) -> Result<(), SendError> {
        let status = response.status().as_u16();
        let url = response.url().clone();
        let www_authenticate = challenges(&response);
        discard(response, self.limits()).await;
        let source = match &self.config.auth {
            Some(auth) if refusals <= request.challenges => {
                let challenge = Challenge::new(self.auth_request(&request.method, &url), status)
                    .with_www_authenticate(&www_authenticate)
                    .with_sent(credentials)
                    .with_attempt(refusals);
                match auth.challenged(&challenge).await {
                    Ok(AuthVerdict::Retry) => return Ok(()),
                    Ok(AuthVerdict::Fail) => None,
                    Err(source) => Some(source),
                }
            }
            _ => None,
        };
        let error = TransportError::Unauthorized { status, source };
        Err(SendError::new(error, Delivery::NotSent))
    }

    fn auth_request<'a>(&'a self, method: &'a Method, url: &'a Url) -> AuthRequest<'a> {
        AuthRequest::new(method.as_str(), url.as_str(), self.config.url.as_str())
    }
}

/// A 401, or a 403 with a `WWW-Authenticate` header.
fn is_challenge(response: &Response) -> bool {
    match response.status().as_u16() {
        401 => true,
        403 => response.headers().contains_key(WWW_AUTHENTICATE),
        _ => false,
    }
}

fn challenges(response: &Response) -> Vec<String> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    values
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect()
}
