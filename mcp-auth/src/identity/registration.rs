//! Dynamic client registration (RFC 7591).

use mcp_transport::Secret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::discovery::document::{self, Document};
use crate::identity::client::{AuthMethod, Client, ClientOrigin};

/// The registration request.
pub(crate) fn request(name: &str, redirect_uri: &str, method: AuthMethod) -> Value {
    json!({
        "client_name": name,
        "application_type": application_type(redirect_uri),
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
    })
}

/// A client that redirects to this machine or to an app's own scheme is a native one.
fn application_type(redirect_uri: &str) -> &'static str {
    let web = Url::parse(redirect_uri)
        .is_ok_and(|uri| uri.scheme() == "https" && !crate::http::guard::is_loopback(&uri));
    if web { "web" } else { "native" }
}

/// A client that an authorization server registered at our request. It belongs to that issuer only.
// Intentionally without `Debug`: this contains a secret.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Registration {
    id: String,
    secret: Option<String>,
    method: String,
    /// The redirect URI it was registered with.
    pub(crate) redirect_uri: String,
    secret_expires_at: Option<u64>,
}

impl Registration {
    /// Reads the response to [`request`]. Omitted values are as requested.
    pub(crate) fn read(answer: &Document, asked: AuthMethod, redirect_uri: &str) -> Option<Self> {
        let id = document::text(answer, "client_id").filter(|id| !id.is_empty())?;
        let method = document::text(answer, "token_endpoint_auth_method");
        let secret = document::text(answer, "client_secret").filter(|secret| !secret.is_empty());
        Some(Self {
            id,
            method: method.unwrap_or_else(|| asked.name().to_owned()),
            secret,
            redirect_uri: redirect_uri.to_owned(),
            secret_expires_at: document::seconds(answer, "client_secret_expires_at")
                .filter(|&at| at > 0),
        })
    }

    /// The registration as text, for the token store.
    pub(crate) fn store(&self) -> Option<Secret> {
        serde_json::to_string(self).ok().map(Secret::new)
    }

    /// Reads the output of [`store`](Self::store), unless the registration has expired.
    pub(crate) fn restore(text: &Secret, now: u64) -> Option<Self> {
        let registration: Self = serde_json::from_str(text.expose()).ok()?;
        registration
            .secret_expires_at
            .is_none_or(|end| end > now)
            .then_some(registration)
    }

    /// The client to use.
    pub(crate) fn client(&self) -> Client {
        let secret = self.secret.clone().map(Secret::new);
        let method = match AuthMethod::from_name(&self.method) {
            Some(method @ (AuthMethod::Basic | AuthMethod::Post)) if secret.is_some() => method,
            _ => AuthMethod::None,
        };
        Client {
            id: self.id.clone(),
            secret,
            key: None,
            method,
            origin: ClientOrigin::Dynamic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_redirect_is_a_native_clients() {
        assert_eq!(application_type("http://127.0.0.1:3000/callback"), "native");
        assert_eq!(application_type("https://localhost/callback"), "native");
        assert_eq!(application_type("com.example.app:/callback"), "native");
        assert_eq!(application_type("https://app.example.com/callback"), "web");
    }

    #[test]
    fn the_answers_method_wins_and_silence_means_as_asked() {
        let read = |answer: Value, asked| {
            Registration::read(answer.as_object().unwrap(), asked, "http://127.0.0.1/")
                .map(|r| r.client().method)
        };
        let secret = json!({ "client_id": "c", "client_secret": "s" });
        assert_eq!(
            read(secret.clone(), AuthMethod::None),
            Some(AuthMethod::None)
        );
        assert_eq!(read(secret, AuthMethod::Post), Some(AuthMethod::Post));
        let named = json!({ "client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "client_secret_basic" });
        assert_eq!(read(named, AuthMethod::None), Some(AuthMethod::Basic));
        let bare = json!({ "client_id": "c", "token_endpoint_auth_method": "client_secret_basic" });
        assert_eq!(read(bare, AuthMethod::None), Some(AuthMethod::None));
        assert_eq!(read(json!({}), AuthMethod::None), None);
    }

    #[test]
    fn a_registration_whose_secret_has_ended_is_forgotten() {
        let answer =
            json!({ "client_id": "c", "client_secret": "s", "client_secret_expires_at": 100 });
        let stored = Registration::read(
            answer.as_object().unwrap(),
            AuthMethod::Basic,
            "http://127.0.0.1/",
        )
        .unwrap()
        .store()
        .unwrap();
        assert!(Registration::restore(&stored, 99).is_some());
        assert!(Registration::restore(&stored, 100).is_none());
        let forever = json!({ "client_id": "c", "client_secret_expires_at": 0 });
        let stored = Registration::read(
            forever.as_object().unwrap(),
            AuthMethod::None,
            "http://127.0.0.1/",
        )
        .unwrap()
        .store()
        .unwrap();
        assert!(Registration::restore(&stored, u64::MAX).is_some());
    }
}
