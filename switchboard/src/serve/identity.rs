//! Who asks: by the token of a link, by a personal access token, or by the session of a browser.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};

use crate::serve::app::App;
use crate::serve::cookie::{self, Cookie};
use crate::serve::error::ApiError;
use crate::store::{
    AccessTokenId, Change, LoginChange, LoginSession, TeamRole, Timestamp, User, UserId,
};
use crate::token::{PERSONAL, hash};

/// A header that a page of another site cannot send without asking first, and that is refused.
pub(crate) const FROM_PAGE: &str = "x-switchboard-page";
/// How exactly the last use of a session or token is known.
const USE_STEP: Duration = Duration::from_secs(60);

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) user: UserId,
    /// What this request may do at most.
    pub(crate) role: TeamRole,
    pub(crate) by: By,
}

/// By what a caller is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum By {
    /// The link that was printed at the start.
    LocalToken,
    /// A session, by its hash.
    Session(String),
    /// A personal access token.
    Token(AccessTokenId),
}

impl By {
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::LocalToken => "link",
            Self::Session(_) => "session",
            Self::Token(_) => "token",
        }
    }
}

/// What a request shows to be let in.
#[derive(Debug)]
pub(crate) enum Credential {
    /// The token of a link, which is this user's.
    LinkToken(UserId),
    /// A personal access token, by its hash.
    Token(String),
    /// A session, by its hash.
    Session(String),
}

impl Credential {
    /// The hash of what has to be looked up in the store.
    pub(crate) fn hash(&self) -> Option<&str> {
        match self {
            Self::LinkToken(_) => None,
            Self::Token(hash) | Self::Session(hash) => Some(hash),
        }
    }
}

/// What a request shows, if anything could be it. Nothing is looked up in the store yet.
pub(crate) fn credential(app: &App, headers: &HeaderMap) -> Result<Option<Credential>, ApiError> {
    if let Some(token) = bearer(headers) {
        return Ok(match token.starts_with(PERSONAL) {
            true => Some(Credential::Token(hash(token))),
            false => app.access.user(token).cloned().map(Credential::LinkToken),
        });
    }
    let Some(id) = cookie::read(headers, Cookie::Session.name(app.logins.is_secure)) else {
        return Ok(None);
    };
    match headers.contains_key(FROM_PAGE) {
        true => Ok(Some(Credential::Session(hash(&id)))),
        false => {
            let message = format!("a request with a cookie needs the header {FROM_PAGE}");
            Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", message))
        }
    }
}

/// Whether a request shows anything at all, good or not.
pub(crate) fn claims_to_be_someone(app: &App, headers: &HeaderMap) -> bool {
    let session = Cookie::Session.name(app.logins.is_secure);
    headers.contains_key(header::AUTHORIZATION) || cookie::read(headers, session).is_some()
}

/// Whose credential it is, if it is good.
pub(crate) async fn caller(app: &App, credential: &Credential) -> Result<Option<Caller>, ApiError> {
    match credential {
        Credential::Token(hash) => by_token(app, hash).await,
        Credential::Session(hash) => by_session(app, hash).await,
        Credential::LinkToken(user) => Ok(Some(Caller {
            user: user.clone(),
            role: match *user == UserId::local() {
                true => TeamRole::Owner,
                false => TeamRole::Member,
            },
            by: By::LocalToken,
        })),
    }
}

/// Whether a caller who was let in would still be.
pub(crate) async fn is_still_in(app: &App, caller: &Caller) -> bool {
    let user = match &caller.by {
        By::LocalToken => return true,
        By::Session(hash) => match app.store.login_session(hash).await {
            Ok(Some((session, user))) if !is_over(app, &session) => user,
            // The store may be back in a moment.
            Err(_) => return true,
            _ => return false,
        },
        By::Token(id) => match app.store.access_tokens(&caller.user).await {
            Ok(tokens)
                if tokens
                    .iter()
                    .any(|it| it.id == *id && !is_past(it.expires_at)) =>
            {
                match app.store.users().await {
                    Ok(users) => match users.into_iter().find(|it| it.id == caller.user) {
                        Some(user) => user,
                        None => return false,
                    },
                    Err(_) => return true,
                }
            }
            Err(_) => return true,
            Ok(_) => return false,
        },
    };
    !user.is_blocked
}

fn is_past(moment: Option<Timestamp>) -> bool {
    moment.is_some_and(|moment| moment <= Timestamp::now())
}

async fn by_token(app: &App, hash: &str) -> Result<Option<Caller>, ApiError> {
    let Some((token, user)) = app.store.access_token(hash).await? else {
        return Ok(None);
    };
    if is_past(token.expires_at) {
        let message = format!("the token {:?} has expired", token.name);
        let error = ApiError::new(StatusCode::UNAUTHORIZED, "expired", message);
        return Err(error.with_hint("Make another one: `switchboard tokens add NAME`."));
    }
    let Some(user) = admitted(app, user)? else {
        return Ok(None);
    };
    let now = Timestamp::now();
    if token.used_at.is_none_or(|used| now.since(used) >= USE_STEP) {
        let used = LoginChange::UsedToken(token.id.clone(), now);
        // Nothing depends on it.
        let _ = app.store.commit(vec![Change::Login(used)]).await;
    }
    Ok(Some(Caller {
        role: user.role.min(token.scope.role()),
        user: user.id,
        by: By::Token(token.id),
    }))
}

async fn by_session(app: &App, hash: &str) -> Result<Option<Caller>, ApiError> {
    let Some((session, user)) = app.store.login_session(hash).await? else {
        return Ok(None);
    };
    if is_over(app, &session) {
        return Ok(None);
    }
    let Some(user) = admitted(app, user)? else {
        return Ok(None);
    };
    let now = Timestamp::now();
    if now.since(session.seen_at) >= USE_STEP {
        let used = LoginChange::UsedSession(hash.to_owned(), now);
        let _ = app.store.commit(vec![Change::Login(used)]).await;
    }
    Ok(Some(Caller {
        user: user.id,
        role: user.role,
        by: By::Session(hash.to_owned()),
    }))
}

/// Whether a session ended by its age, or because it was not used.
fn is_over(app: &App, session: &LoginSession) -> bool {
    let now = Timestamp::now();
    session.expires_at <= now || now.since(session.seen_at) >= app.logins.idle
}

/// A user who is served and not blocked.
fn admitted(app: &App, user: User) -> Result<Option<User>, ApiError> {
    if user.is_blocked {
        let message = "an owner has blocked this user";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "blocked", message));
    }
    app.people.note(&user);
    Ok(Some(user).filter(|user| app.people.serves(&user.id)))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}
