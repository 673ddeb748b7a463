//! What people read when something goes wrong.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use mcp_auth::{AuthError, Violation};

#[test]
fn every_error_says_what_failed_where_and_what_to_do() {
    let server = || "https://mcp.example.com/mcp".to_owned();
    let issuer = || "https://login.example.com".to_owned();
    let token = || "https://login.example.com/token".to_owned();
    let refused = |violation| AuthError::Refused {
        server: server(),
        violation,
    };
    let errors = [
        AuthError::Config {
            detail: "the server's address is not a URL".into(),
        },
        AuthError::LoginRequired { server: server() },
        AuthError::Denied {
            server: server(),
            error: "access_denied".into(),
            description: Some("not you".into()),
        },
        AuthError::Login {
            server: server(),
            source: Arc::new(std::io::Error::other("no browser found")),
        },
        AuthError::LoginTimeout {
            server: server(),
            limit: Duration::from_secs(300),
        },
        AuthError::NoClient {
            issuer: issuer(),
            redirect_uri: Some("http://127.0.0.1:4000/callback".into()),
        },
        AuthError::NoAuthorizationServer {
            server: server(),
            detail: "no metadata found".into(),
        },
        AuthError::Rejected {
            action: "renewing the token",
            url: token(),
            error: "invalid_grant".into(),
            description: None,
        },
        AuthError::Unavailable {
            url: token(),
            source: Arc::new(std::io::Error::other("connection refused")),
        },
        AuthError::Malformed {
            url: token(),
            detail: "there is no access token in it".into(),
        },
        AuthError::TokenRefused { server: server() },
        AuthError::ScopeRefused {
            server: server(),
            scope: "files:write".into(),
        },
        AuthError::Store {
            action: "reading a token",
            source: Arc::new(std::io::Error::other("permission denied")),
        },
        refused(Violation::Resource {
            resource: "https://evil.example/".into(),
        }),
        refused(Violation::Issuer {
            expected: issuer(),
            found: "https://evil.example".into(),
        }),
        refused(Violation::CallbackIssuer {
            expected: issuer(),
            found: Some("https://evil.example".into()),
        }),
        refused(Violation::CallbackIssuer {
            expected: issuer(),
            found: None,
        }),
        refused(Violation::State),
        refused(Violation::NoPkce { issuer: issuer() }),
        refused(Violation::Url {
            url: "https://10.0.0.1/".into(),
            reason: "it leads into a private network",
        }),
        refused(Violation::ForeignClient {
            issuer: "https://new.example.com".into(),
            registered_with: issuer(),
        }),
    ];
    let mut words = String::new();
    for error in &errors {
        let _ = write!(words, "{error}");
        if let Some(source) = error.source() {
            let _ = write!(words, " ← {source}");
        }
        words.push('\n');
    }
    insta::assert_snapshot!(words);
}
