//! Request guard: only our own page and those who are known, each with the role it takes.
//!
//! A browser lets any page send requests to us. So the `Host` must be ours (DNS rebinding), the
//! `Origin` must be ours (cross-site requests), and every API request must carry a token, or a
//! session's cookie together with a header that no page of another site can send. There are no CORS
//! headers, ever.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::serve::app::App;
use crate::serve::audit::Event;
use crate::serve::error::ApiError;
use crate::serve::identity::{self, Caller, Credential};
use crate::serve::input::{Client, User};
use crate::serve::listen::Peer;
use crate::serve::operate::{HEALTH, METRICS, READY};
use crate::serve::permission::{self, Least};

/// Where the one-time code of a link is exchanged.
pub(crate) const EXCHANGE: &str = "/api/token";

/// By how many names a machine knows itself.
const LOCAL_NAMES: usize = 3;

/// What the page may do: only what is our own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; media-src blob:; connect-src 'self'; frame-src 'self'; form-action 'none'; \
    frame-ancestors 'none'; base-uri 'none'";

/// The public name is asked for by TLS from now on, for a year.
const TLS_ONLY: &str = "max-age=31536000";

/// Refusals that the audit log has: someone tried what they may not, or a credential that is not good.
const REFUSALS: [&str; 6] = [
    "unauthorized",
    "expired",
    "blocked",
    "csrf",
    "role",
    "in_person",
];

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
    let admitted = admit(&app, &mut request, is_api).await;
    let mut response = match &admitted {
        Ok(admitted) => {
            let event = admitted.event.clone();
            let response = next.run(request).await;
            if let (Some(event), Some(caller)) = (event, &admitted.caller) {
                audit(&app, caller, &event, response.status()).await;
            }
            response
        }
        Err(error) => {
            if let Some(attempt) = attempt(&app, &request, error) {
                refused(&app, &attempt, error).await;
            }
            error.clone().into_response()
        }
    };
    let status = response.status();
    let is_json = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/json");
    let reported = response.headers().get(header::CONTENT_TYPE);
    if is_api && status.as_u16() >= 400 && !reported.is_some_and(is_json) {
        response = ApiError::of_status(status).into_response();
    }
    let headers = response.headers_mut();
    if app.reach.is_public() && app.logins.is_secure {
        let value = HeaderValue::from_static(TLS_ONLY);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
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

/// A request that was let in.
#[derive(Debug, Default)]
struct Admitted {
    caller: Option<Caller>,
    /// What the audit log calls it, if it has it.
    event: Option<String>,
}

async fn admit(app: &App, request: &mut Request, is_api: bool) -> Result<Admitted, ApiError> {
    // Whoever watches over the program knows it by any name, and learns nothing else.
    if [HEALTH, READY].contains(&request.uri().path()) && request.method() == Method::GET {
        return Ok(Admitted::default());
    }
    let origin = our_host(request, &app.names)?;
    our_origin(request.headers(), origin)?;
    let peer = request.extensions().get::<Peer>();
    let peer = peer.map_or(IpAddr::from([0; 4]), |peer| peer.0);
    let from = app.reach.client(peer, request.headers());
    request.extensions_mut().insert(Client(from));
    if request.method() == Method::OPTIONS {
        return Err(ApiError::of_status(StatusCode::METHOD_NOT_ALLOWED));
    }
    if !is_api {
        return Ok(Admitted::default());
    }
    let route = request.extensions().get::<MatchedPath>();
    let permission = permission::of(request.method(), route.map(MatchedPath::as_str));
    let least = permission.least;
    let caller = match least {
        // What everyone may see is the same for all, and the page learns there how to log in:
        // strangers who are too many must not hide it.
        Least::Anyone if request.method() == Method::GET => return Ok(Admitted::default()),
        Least::Anyone => {
            let counted = app.rates.count_stranger(from);
            counted.map_err(ApiError::rate_limited)?;
            None
        }
        _ => known(app, request.headers(), from).await?,
    };
    let Some(caller) = caller else {
        return match least {
            Least::Anyone => Ok(Admitted::default()),
            _ => Err(stranger(app)),
        };
    };
    let counted = app.rates.count(&caller.user);
    counted.map_err(ApiError::rate_limited)?;
    let extensions = request.extensions_mut();
    extensions.insert(User(caller.user.clone()));
    extensions.insert(caller.clone());
    least.check(&caller)?;
    if permission.answered {
        app.limits.check(&*app.store, &caller.user).await?;
    }
    let event = permission.audited.then(|| {
        let method = request.method().as_str();
        format!("{method} {}", request.uri().path())
    });
    Ok(Admitted {
        caller: Some(caller),
        event,
    })
}

/// Who asks, if their credential is good. Unless it was lately, they count as a stranger first:
/// guesses cost the store nothing.
async fn known(app: &App, headers: &HeaderMap, from: IpAddr) -> Result<Option<Caller>, ApiError> {
    let credential = identity::credential(app, headers)?;
    let hash = credential.as_ref().and_then(Credential::hash);
    let is_known = match (&credential, hash) {
        (Some(_), None) => true,
        (_, Some(hash)) => app.rates.knows(hash),
        (None, _) => false,
    };
    if !is_known {
        let counted = app.rates.count_stranger(from);
        counted.map_err(ApiError::rate_limited)?;
    }
    let Some(credential) = &credential else {
        return Ok(None);
    };
    let caller = identity::caller(app, credential).await;
    match (&caller, hash) {
        (Ok(Some(_)), Some(hash)) if !is_known => app.rates.met(from, hash),
        (Ok(None), Some(hash)) => app.rates.forget(hash),
        (Err(error), Some(hash)) if error.status.is_client_error() => app.rates.forget(hash),
        _ => {}
    }
    caller
}

/// Who is not known here, and how to become it.
fn stranger(app: &App) -> ApiError {
    let (message, hint) = match (app.people.is_team(), &app.logins.provider) {
        (false, _) => (
            "this needs the token of the link that `switchboard serve` printed",
            "Open that link, or send `Authorization: Bearer TOKEN`.",
        ),
        (true, Some(_)) => (
            "this needs a login, or a personal access token",
            "Log in on the page, or send `Authorization: Bearer TOKEN`.",
        ),
        (true, None) => (
            "this needs a personal access token",
            "Send `Authorization: Bearer TOKEN`; `switchboard tokens add NAME` makes one.",
        ),
    };
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message).with_hint(hint)
}

/// What someone tried who was refused.
struct Attempt {
    event: String,
    caller: Option<Caller>,
    from: String,
}

/// What was tried; nothing if no one claimed to be anyone.
fn attempt(app: &App, request: &Request, error: &ApiError) -> Option<Attempt> {
    let claimed = identity::claims_to_be_someone(app, request.headers());
    if !REFUSALS.contains(&error.code()) || !claimed {
        return None;
    }
    let from = request.extensions().get::<Client>();
    Some(Attempt {
        event: format!("{} {}", request.method(), request.uri().path()),
        caller: request.extensions().get().cloned(),
        from: from.map_or_else(String::new, |from| format!("from {}", from.0)),
    })
}

/// Records a refusal.
async fn refused(app: &App, attempt: &Attempt, error: &ApiError) {
    let caller = attempt.caller.as_ref();
    let event = Event {
        event: &attempt.event,
        user: caller.map_or("", |caller| caller.user.as_str()),
        by: caller.map_or("", |caller| caller.by.as_str()),
        outcome: error.code(),
        detail: &attempt.from,
    };
    app.logins.audit.record(&*app.store, &event).await;
}

/// Records a change that was made, or tried.
async fn audit(app: &App, caller: &Caller, event: &str, status: StatusCode) {
    let event = Event {
        event,
        user: caller.user.as_str(),
        by: caller.by.as_str(),
        outcome: if status.is_success() {
            "done"
        } else {
            "refused"
        },
        detail: status.as_str(),
    };
    app.logins.audit.record(&*app.store, &event).await;
}

/// The origin of the page at the host that was asked for, if it is ours.
fn our_host<'n>(request: &Request, names: &'n [(String, String)]) -> Result<&'n str, ApiError> {
    let mut named = request.headers().get_all(header::HOST).iter();
    // HTTP/2 has it in the address.
    let authority = request.uri().authority().map(|it| it.as_str());
    let host = match (named.next().map(HeaderValue::to_str), named.next()) {
        (Some(Ok(host)), None) if authority.is_none_or(|it| it.eq_ignore_ascii_case(host)) => host,
        (None, None) => authority.unwrap_or_default(),
        _ => "",
    };
    let ours = names
        .iter()
        .find(|(name, _)| host.eq_ignore_ascii_case(name));
    if let Some((_, origin)) = ours {
        return Ok(origin);
    }
    let status = StatusCode::MISDIRECTED_REQUEST;
    let message = "this is served to this machine only, by its own name";
    let message = match names.len() > LOCAL_NAMES {
        true => "this is served by another name",
        false => message,
    };
    Err(ApiError::new(status, "wrong_host", message))
}

/// Whether the request does not come from another page.
fn our_origin(headers: &HeaderMap, ours: &str) -> Result<(), ApiError> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let elsewhere = matches!(site, Some(b"cross-site" | b"same-site"));
    // A link on another page may lead to ours; nothing but a link.
    let mode = headers.get("sec-fetch-mode").map(HeaderValue::as_bytes);
    let followed = mode == Some(b"navigate");
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let foreign = origins.any(|origin| !origin.as_bytes().eq_ignore_ascii_case(ours.as_bytes()));
    if foreign || (elsewhere && !followed) {
        let message = "another page must not use this";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    Ok(())
}
