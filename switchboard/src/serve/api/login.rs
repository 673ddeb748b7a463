//! Logging in at the OpenID provider, and out again.

use std::time::Duration;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::serve::app::App;
use crate::serve::audit::Event;
use crate::serve::cookie::{self, Cookie};
use crate::serve::error::ApiError;
use crate::serve::identity::{By, Caller};
use crate::serve::input::{Client, Params};
use crate::serve::logins::{CALLBACK, LOGIN_TIME, Person, Provider};
use crate::serve::routes::Routes;
use crate::store::{
    Arrival, Change, LoginAttempt, LoginChange, LoginSession, StoreError, Timestamp, User, UserId,
};
use crate::token::{fresh, hash};

/// Hexadecimal digits of a new user's id.
const ID_DIGITS: usize = 20;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/auth/login", begin)
        .get(CALLBACK, finish)
        .get("/api/login", ways)
        .post("/api/logout", end)
}

/// How one can come in.
async fn ways(State(app): State<App>) -> Json<Value> {
    let provider = app.logins.provider.as_ref();
    Json(json!({
        "openid": provider.is_some(),
        "issuer": provider.map(Provider::issuer),
        "links": !app.people.is_team(),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// The view to open afterwards: `#/…`.
    to: Option<String>,
}

async fn begin(
    State(app): State<App>,
    Client(from): Client,
    Params(wish): Params<Wish>,
) -> Result<Response, ApiError> {
    let provider = app.logins.provider.as_ref();
    let provider = provider.ok_or_else(|| ApiError::not_found("login"))?;
    app.rates
        .count_login(from)
        .map_err(ApiError::rate_limited)?;
    let begun = provider.begin().await.map_err(|error| {
        let error = ApiError::new(StatusCode::BAD_GATEWAY, "provider", error.to_string());
        error.with_hint("Try again in a moment.")
    })?;
    let browser = fresh().map_err(|error| StoreError::Failed(error.into()))?;
    let attempt = LoginAttempt::new(
        (hash(begun.state.expose()), hash(&browser)),
        (begun.nonce, begun.verifier.expose().to_owned()),
        wish.to.filter(|to| is_view(to)).unwrap_or_default(),
        after(LOGIN_TIME),
    );
    let changes = [
        LoginChange::Prune(Timestamp::now()),
        LoginChange::PutAttempt(attempt),
    ];
    app.store.commit(changes.map(Change::Login).into()).await?;
    let held = Cookie::Login.set(app.logins.is_secure, &browser, LOGIN_TIME);
    Ok(redirect(&begun.url, held))
}

/// Whether the text is a view of the page, and cannot lead elsewhere.
fn is_view(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '/' | '-' | '_');
    let rest = text.strip_prefix("#/");
    text.len() <= 200 && rest.is_some_and(|rest| rest.chars().all(sign))
}

async fn finish(
    State(app): State<App>,
    Client(from): Client,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(provider) = &app.logins.provider else {
        return Err(ApiError::not_found("login"));
    };
    app.rates
        .count_login(from)
        .map_err(ApiError::rate_limited)?;
    let query = query.unwrap_or_default();
    match welcome(&app, provider, &query, &headers).await? {
        Ok((user, session, view)) => {
            let detail = format!("as {}", user.role.as_str());
            note(&app, "login", user.id.as_str(), "done", &detail).await;
            let held = Cookie::Session.set(app.logins.is_secure, &session, app.logins.longest);
            let spent = Cookie::Login.set(app.logins.is_secure, "", Duration::ZERO);
            let mut response = redirect(&format!("/{view}"), held);
            response
                .headers_mut()
                .extend(spent.map(|it| (header::SET_COOKIE, it)));
            Ok(response)
        }
        Err((code, why)) => {
            note(&app, "login", "", "refused", &why).await;
            Ok(redirect(&format!("/#problem={code}"), None))
        }
    }
}

/// Who came in, the id of the new session and the view to open; or a code and why not.
type Welcome = Result<(User, String, String), (&'static str, String)>;

async fn welcome(
    app: &App,
    provider: &Provider,
    query: &str,
    headers: &HeaderMap,
) -> Result<Welcome, ApiError> {
    let refused = |code: &'static str, why: &str| Ok(Err((code, why.to_owned())));
    let mut states = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
    let (Some((_, state)), None) = (states.next(), states.next()) else {
        return refused("state", "no state");
    };
    let Some(attempt) = app.store.login_attempt(&hash(&state)).await? else {
        return refused("state", "a state that was used already, or never given out");
    };
    let browser = cookie::read(headers, Cookie::Login.name(app.logins.is_secure));
    if browser.is_none_or(|browser| hash(&browser) != attempt.browser) {
        // It stays for the browser that began it.
        return refused("state", "a state that another browser was given");
    }
    if attempt.expires_at <= Timestamp::now() {
        return refused("late", "too late");
    }
    let taken = LoginChange::TakeAttempt(attempt.hash.clone());
    match app.store.commit(vec![Change::Login(taken)]).await {
        Err(StoreError::Conflict { .. }) => {
            return refused("state", "a state that was used already");
        }
        other => other?,
    };
    let secrets = (&*state, &*attempt.verifier, &*attempt.nonce);
    let person = match provider.finish(query, secrets).await {
        Ok(person) => person,
        Err(unwelcome) => return refused(unwelcome.code(), &unwelcome.to_string()),
    };
    let arrival = arrival(&app.store.users().await?, provider.issuer(), &person);
    let user = arrival.id.clone();
    let id = fresh().map_err(|error| StoreError::Failed(error.into()))?;
    let session = LoginSession::new(hash(&id), user.clone(), after(app.logins.longest));
    let mut changes = vec![
        LoginChange::CameIn(arrival),
        LoginChange::PutSession(session),
    ];
    // Whatever session the browser came with ends: a login always begins a new one.
    let before = cookie::read(headers, Cookie::Session.name(app.logins.is_secure));
    changes.extend(before.map(|id| LoginChange::EndSession(hash(&id))));
    let changes = changes.into_iter().map(Change::Login);
    match app.store.commit(changes.collect()).await {
        Err(StoreError::Conflict { what: "user" }) => {
            return refused("blocked", "an owner has blocked this user");
        }
        other => other?,
    };
    let user = app
        .store
        .users()
        .await?
        .into_iter()
        .find(|it| it.id == user);
    let user = user.ok_or_else(|| ApiError::not_found("user"))?;
    app.people.note(&user);
    Ok(Ok((user, id, attempt.return_to)))
}

/// Who a person is: the user with their subject, one that waits for their address, or a new one.
fn arrival(users: &[User], issuer: &str, person: &Person) -> Arrival {
    let same = |user: &&User| {
        user.issuer.as_deref() == Some(issuer)
            && user.subject.as_deref() == Some(person.subject.as_str())
    };
    let awaited =
        |user: &&User| user.subject.is_none() && user.email.is_some() && user.email == person.email;
    let found = users
        .iter()
        .find(same)
        .or_else(|| users.iter().find(awaited));
    let id = found.map(|user| user.id.clone()).unwrap_or_else(|| {
        let digest = hash(&format!("{issuer}\n{}", person.subject));
        let digits: String = digest.chars().take(ID_DIGITS).collect();
        UserId::new(format!("u-{digits}"))
    });
    let mut arrival = Arrival::new(id, &person.name, (issuer, &person.subject));
    arrival.role = person.role;
    arrival.email.clone_from(&person.email);
    arrival
}

async fn end(
    State(app): State<App>,
    axum::Extension(caller): axum::Extension<Caller>,
) -> Result<Response, ApiError> {
    let mut url = None;
    if let By::Session(hash) = &caller.by {
        let ended = LoginChange::EndSession(hash.clone());
        app.store.commit(vec![Change::Login(ended)]).await?;
        note(&app, "logout", caller.user.as_str(), "done", "").await;
        if let Some(provider) = &app.logins.provider {
            let back = format!("{}/", app.logins.url);
            url = provider.logout_url(&back).await;
        }
    }
    let mut response = Json(json!({ "url": url })).into_response();
    let gone = Cookie::Session.set(app.logins.is_secure, "", Duration::ZERO);
    response
        .headers_mut()
        .extend(gone.map(|it| (header::SET_COOKIE, it)));
    Ok(response)
}

async fn note(app: &App, event: &str, user: &str, outcome: &str, detail: &str) {
    let event = Event {
        event,
        user,
        by: "session",
        outcome,
        detail,
    };
    app.logins.audit.record(&*app.store, &event).await;
}

fn after(span: Duration) -> Timestamp {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(Timestamp::now().as_millis().saturating_add(millis))
}

pub(super) fn redirect(place: &str, cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    // What is in it was checked: a URL of the provider, or a view.
    if let Ok(place) = HeaderValue::from_str(place) {
        headers.insert(header::LOCATION, place);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_back_to_a_view_and_nowhere_else() {
        for view in ["#/", "#/settings", "#/chat/0d9c-1"] {
            assert!(is_view(view), "{view}");
        }
        for other in [
            "",
            "#",
            "//evil.example",
            "#/a?b",
            "#/%0d",
            "#token=x",
            "/x",
        ] {
            assert!(!is_view(other), "{other}");
        }
    }
}
