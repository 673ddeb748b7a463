//! Request guard: only this machine's own page, with a token.
//!
//! A browser lets any page send requests to this machine. So the `Host` must be ours (DNS
//! rebinding), the `Origin` must be ours (cross-site requests), and every API request must carry a
//! token, which only our page has. There are no cookies, which would go along with any page's
//! requests, and no CORS headers, ever.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::User;
use crate::serve::operate::{HEALTH, METRICS, READY};

/// The one address of the API that needs no token.
pub(crate) const EXCHANGE: &str = "/api/token";

/// What the page may do: only what is our own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; media-src blob:; connect-src 'self'; form-action 'none'; \
    frame-ancestors 'none'; base-uri 'none'";

/// Headers of every response that does not have them already.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Accepts or rejects a request.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_api = path == "/api" || path.starts_with("/api/") || path == METRICS;
    let mut response = match admit(&app, &mut request, is_api) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let status = response.status();
    let is_json = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/json");
    let reported = response.headers().get(header::CONTENT_TYPE);
    if is_api && status.as_u16() >= 400 && !reported.is_some_and(is_json) {
        response = ApiError::of_status(status).into_response();
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if is_api {
        headers
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
    }
    response
}

fn admit(app: &App, request: &mut Request, is_api: bool) -> Result<(), ApiError> {
    // Whoever watches over the program knows it by any name, and learns nothing else.
    if [HEALTH, READY].contains(&request.uri().path()) && request.method() == Method::GET {
        return Ok(());
    }
    let headers = request.headers();
    let host = our_host(headers, app.port)?;
    our_origin(headers, &host)?;
    if request.method() == Method::OPTIONS {
        return Err(ApiError::of_status(StatusCode::METHOD_NOT_ALLOWED));
    }
    if !is_api {
        return Ok(());
    }
    let user = token(headers).and_then(|token| app.access.user(token));
    if let Err(seconds) = app.rates.count(user) {
        return Err(ApiError::rate_limited(seconds));
    }
    let Some(user) = user.cloned() else {
        // A one-time code is exchanged without a token.
        if request.uri().path() == EXCHANGE {
            return Ok(());
        }
        let message = "this needs the token of the link that `switchboard serve` printed";
        let error = ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
        return Err(error.with_hint("Open that link, or send `Authorization: Bearer TOKEN`."));
    };
    request.extensions_mut().insert(User(user));
    Ok(())
}

/// The host that was asked for, if it is this machine.
fn our_host(headers: &HeaderMap, port: u16) -> Result<String, ApiError> {
    let mut named = headers.get_all(header::HOST).iter();
    let host = match (named.next().map(HeaderValue::to_str), named.next()) {
        (Some(Ok(host)), None) => host,
        _ => "",
    };
    let ours = ["127.0.0.1", "localhost", "[::1]"];
    let is_ours = |name: &&str| host.eq_ignore_ascii_case(&format!("{name}:{port}"));
    if ours.iter().any(is_ours) {
        return Ok(host.to_ascii_lowercase());
    }
    let status = StatusCode::MISDIRECTED_REQUEST;
    let message = "this is served to this machine only, by its own name";
    Err(ApiError::new(status, "wrong_host", message))
}

/// Whether the request does not come from another page.
fn our_origin(headers: &HeaderMap, host: &str) -> Result<(), ApiError> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let elsewhere = matches!(site, Some(b"cross-site" | b"same-site"));
    // A link on another page may lead to ours; nothing but a link.
    let mode = headers.get("sec-fetch-mode").map(HeaderValue::as_bytes);
    let followed = mode == Some(b"navigate");
    let ours = format!("http://{host}");
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let foreign = origins.any(|origin| !origin.as_bytes().eq_ignore_ascii_case(ours.as_bytes()));
    if foreign || (elsewhere && !followed) {
        let message = "another page must not use this";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    Ok(())
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}
