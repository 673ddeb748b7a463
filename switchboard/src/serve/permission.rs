//! What each role may do: the one table, checked in one place, the guard.

use axum::http::{Method, StatusCode};

use crate::serve::error::ApiError;
use crate::serve::identity::{By, Caller};
use crate::store::TeamRole;
use TeamRole::{Member, Owner, Viewer};

/// Who may use a route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Least {
    /// Whoever comes: there is no user yet.
    Anyone,
    /// Users with this role or a higher one.
    Role(TeamRole),
    /// The same, with a session or a link: a token must not make others.
    InPerson(TeamRole),
}

/// What a route asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permission {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) least: Least,
    /// Whether the audit log of a team has it.
    pub(crate) audited: bool,
    /// Whether it begins an answer, which counts against its user's limits.
    pub(crate) answered: bool,
}

macro_rules! permissions {
    (@is $flag:ident) => { false };
    (@is audited audited) => { true };
    (@is answered answered) => { true };
    (@is $flag:ident $other:ident) => { false };
    ($($method:ident $path:literal $least:expr $(, $mark:ident)?;)*) => {
        &[$(Permission {
            method: stringify!($method),
            path: $path,
            least: $least,
            audited: permissions!(@is audited $($mark)?),
            answered: permissions!(@is answered $($mark)?),
        }),*]
    };
}

/// Every route. One that is missing here is for owners; a test misses it.
pub(crate) const PERMISSIONS: &[Permission] = permissions! {
    get "/auth/login" Least::Anyone;
    get "/auth/callback" Least::Anyone;
    get "/oauth/callback" Least::Anyone;
    get "/api/login" Least::Anyone;
    post "/api/token" Least::Anyone;
    post "/api/logout" Least::Role(Viewer);
    get "/api/health" Least::Role(Viewer);
    get "/api/openapi.json" Least::Role(Viewer);
    get "/api/events" Least::Role(Viewer);
    get "/metrics" Least::Role(Viewer);
    get "/api/tokens" Least::Role(Viewer);
    post "/api/tokens" Least::InPerson(Viewer), audited;
    delete "/api/tokens/{id}" Least::Role(Viewer), audited;
    get "/api/users" Least::Role(Owner);
    patch "/api/users/{id}" Least::Role(Owner), audited;
    get "/api/shared-servers" Least::Role(Viewer);
    post "/api/shared-servers" Least::Role(Owner), audited;
    delete "/api/shared-servers/{id}" Least::Role(Owner), audited;
    get "/api/mcp-servers" Least::Role(Viewer);
    post "/api/mcp-servers" Least::Role(Member), audited;
    get "/api/mcp-servers/known" Least::Role(Viewer);
    get "/api/suggestions" Least::Role(Viewer);
    get "/api/mcp-servers/{id}" Least::Role(Viewer);
    put "/api/mcp-servers/{id}" Least::Role(Member), audited;
    delete "/api/mcp-servers/{id}" Least::Role(Member), audited;
    post "/api/mcp-servers/import" Least::Role(Member), audited;
    get "/api/mcp-servers/export" Least::Role(Member);
    post "/api/mcp-servers/install" Least::Role(Member), audited;
    get "/api/mcp-servers/outdated" Least::Role(Member);
    post "/api/mcp-servers/{id}/update" Least::Role(Member), audited;
    post "/api/mcp-servers/{id}/connect" Least::Role(Member);
    post "/api/mcp-servers/{id}/disconnect" Least::Role(Member);
    post "/api/mcp-servers/{id}/test" Least::Role(Member);
    post "/api/mcp-servers/{id}/login" Least::Role(Member), audited;
    post "/api/mcp-servers/{id}/logout" Least::Role(Member), audited;
    get "/api/mcp-servers/{id}/logs" Least::Role(Viewer);
    get "/api/mcp-servers/{id}/tools" Least::Role(Viewer);
    patch "/api/mcp-servers/{id}/tools" Least::Role(Member), audited;
    patch "/api/mcp-servers/{id}/tools/{name}" Least::Role(Member), audited;
    post "/api/mcp-servers/{id}/tools/{name}/call" Least::Role(Member);
    get "/api/mcp-servers/{id}/tools/{name}/schema" Least::Role(Viewer);
    get "/api/mcp-servers/{id}/resources" Least::Role(Viewer);
    get "/api/mcp-servers/{id}/resources/read" Least::Role(Member);
    get "/api/mcp-servers/{id}/skills" Least::Role(Viewer);
    get "/api/mcp-servers/{id}/skills/read" Least::Role(Member);
    get "/api/mcp-servers/{id}/prompts" Least::Role(Viewer);
    post "/api/mcp-servers/{id}/prompts/{name}" Least::Role(Member);
    post "/api/mcp-servers/{id}/complete" Least::Role(Member);
    get "/api/assistants" Least::Role(Viewer);
    post "/api/assistants" Least::Role(Member), audited;
    get "/api/assistants/{id}" Least::Role(Viewer);
    put "/api/assistants/{id}" Least::Role(Member), audited;
    delete "/api/assistants/{id}" Least::Role(Member), audited;
    get "/api/assistants/{id}/mcp-servers" Least::Role(Viewer);
    put "/api/assistants/{id}/mcp-servers" Least::Role(Member), audited;
    get "/api/settings" Least::Role(Viewer);
    put "/api/settings" Least::Role(Member), audited;
    get "/api/models" Least::Role(Viewer);
    post "/api/models/list" Least::Role(Member);
    post "/api/models/use" Least::Role(Member), audited;
    get "/api/usage" Least::Role(Viewer);
    get "/api/approvals" Least::Role(Viewer);
    delete "/api/approvals/{id}" Least::Role(Member), audited;
    get "/api/conversations" Least::Role(Viewer);
    post "/api/conversations" Least::Role(Member);
    get "/api/conversations/{id}" Least::Role(Viewer);
    patch "/api/conversations/{id}" Least::Role(Member);
    delete "/api/conversations/{id}" Least::Role(Member);
    post "/api/conversations/{id}/cancel" Least::Role(Member);
    post "/api/conversations/{id}/continue" Least::Role(Member), answered;
    post "/api/conversations/{id}/fork" Least::Role(Member);
    post "/api/conversations/{id}/compact" Least::Role(Member), answered;
    get "/api/search" Least::Role(Viewer);
    get "/api/conversations/{id}/export" Least::Role(Viewer);
    get "/api/conversations/{id}/questions" Least::Role(Viewer);
    get "/api/conversations/{id}/blobs/{blob}" Least::Role(Viewer);
    get "/api/conversations/{id}/messages" Least::Role(Viewer);
    post "/api/conversations/{id}/messages" Least::Role(Member), answered;
    post "/api/conversations/{id}/regenerate" Least::Role(Member), answered;
    post "/api/conversations/{id}/show" Least::Role(Member);
    post "/api/messages/{id}/tool-confirm" Least::Role(Member);
    post "/api/elicitations/{id}" Least::Role(Member);
    get "/api/gateway" Least::Role(Member);
    get "/api/gateway/audit" Least::Role(Member);
    post "/api/gateway/questions/{id}" Least::Role(Member), audited;
};

/// A route that is not in the table.
const UNLISTED: Permission = Permission {
    method: "",
    path: "",
    least: Least::Role(Owner),
    audited: true,
    answered: false,
};
/// No route at all: being let in is enough to learn that.
const NOWHERE: Permission = Permission {
    least: Least::Role(Viewer),
    audited: false,
    ..UNLISTED
};

/// What a route asks for.
pub(crate) fn of(method: &Method, path: Option<&str>) -> Permission {
    let Some(path) = path else {
        return NOWHERE;
    };
    // A HEAD is answered as a GET.
    let method = match *method {
        Method::HEAD => "get",
        _ => method.as_str(),
    };
    let mut of_path = PERMISSIONS.iter().filter(|it| it.path == path);
    let found = of_path
        .clone()
        .find(|it| it.method.eq_ignore_ascii_case(method));
    match found {
        Some(permission) => *permission,
        // It is answered that there is no such method, to whoever may use another one.
        None if of_path.any(|it| it.least == Least::Anyone) => Permission {
            least: Least::Anyone,
            audited: false,
            ..UNLISTED
        },
        None => UNLISTED,
    }
}

impl Least {
    /// Whether the caller may.
    pub(crate) fn check(self, caller: &Caller) -> Result<(), ApiError> {
        let least = match self {
            Self::Anyone => return Ok(()),
            Self::Role(role) | Self::InPerson(role) => role,
        };
        if caller.role < least {
            let message = format!(
                "this needs the role {}, and this is done as {}",
                least.as_str(),
                caller.role.as_str()
            );
            let error = ApiError::new(StatusCode::FORBIDDEN, "role", message);
            return Err(error.with_hint(match caller.by {
                By::Token(_) => {
                    "An owner can change your role; a token never has more than its scope."
                }
                _ => "An owner can change your role.",
            }));
        }
        if matches!(self, Self::InPerson(_)) && matches!(caller.by, By::Token(_)) {
            let message = "a token cannot do this: it needs you";
            let error = ApiError::new(StatusCode::FORBIDDEN, "in_person", message);
            return Err(error.with_hint("Use the page, or `switchboard tokens`."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_has_its_place_in_the_table_and_only_once() {
        let routes = crate::serve::api::routes();
        let mut served: BTreeSet<(&str, &str)> = routes.known().iter().copied().collect();
        served.insert(("get", "/metrics"));
        let mut listed = BTreeSet::new();
        for it in PERMISSIONS {
            assert!(
                listed.insert((it.method, it.path)),
                "{} {}",
                it.method,
                it.path
            );
        }
        let missing: Vec<_> = served.difference(&listed).collect();
        let gone: Vec<_> = listed.difference(&served).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "give these a row in PERMISSIONS: {missing:?}; not served: {gone:?}"
        );
    }

    #[test]
    fn a_viewer_changes_nothing_but_their_own_way_in() {
        let own = ["/api/logout", "/api/tokens", "/api/tokens/{id}"];
        for it in PERMISSIONS {
            let open = matches!(
                it.least,
                Least::Anyone | Least::Role(Viewer) | Least::InPerson(Viewer)
            );
            let changes = it.method != "get" && it.path != "/api/token";
            assert!(
                !(open && changes) || own.contains(&it.path),
                "{} {}",
                it.method,
                it.path
            );
        }
    }

    #[test]
    fn a_route_that_is_not_listed_is_for_owners() {
        let unlisted = of(&Method::POST, Some("/api/new"));
        assert_eq!(
            (unlisted.least, unlisted.audited),
            (Least::Role(Owner), true)
        );
    }
}
