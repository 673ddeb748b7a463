//! The metadata of an authorization server (RFC 8414, OpenID Connect), and its verification.

use url::Url;

use crate::Violation;
use crate::discovery::document::{self, Document};
use crate::discovery::well_known::at;
use crate::http::guard::printable;
use crate::token::scope::Scopes;

/// The parts of an authorization server's metadata that we use.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ServerMetadata {
    /// The issuer. Compared as a string, never normalized.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: Option<String>,
    pub(crate) registration_endpoint: Option<String>,
    /// The URL of its public keys (OpenID Connect).
    pub(crate) jwks_uri: Option<String>,
    /// The endpoint that describes the person who logged in (OpenID Connect).
    pub(crate) userinfo_endpoint: Option<String>,
    /// The page for logging out (OpenID Connect RP-Initiated Logout).
    pub(crate) end_session_endpoint: Option<String>,
    pub(crate) scopes_supported: Scopes,
    /// `None` if the server does not declare any; RFC 8414 then implies `client_secret_basic`.
    pub(crate) auth_methods: Option<Vec<String>>,
    /// Whether it supports PKCE with S256.
    pub(crate) s256: bool,
    /// Whether it accepts the URL of a metadata document as a client id.
    pub(crate) client_documents: bool,
    /// Whether it declares `iss` in the authorization response (RFC 9207).
    pub(crate) names_itself: bool,
    /// Whether the issuer is presumed: there was no document to compare it with.
    pub(crate) guessed: bool,
}

impl ServerMetadata {
    /// Reads the document of an issuer that the resource's metadata names: the document must name the same issuer.
    pub(crate) fn read(document: &Document, issuer: &str) -> Result<Self, Violation> {
        let metadata = Self::from(document);
        if metadata.issuer != issuer {
            return Err(Violation::Issuer {
                expected: printable(issuer),
                found: printable(&metadata.issuer),
            });
        }
        Ok(metadata)
    }

    /// Reads the document of a server without resource metadata (2025-03-26). Because no issuer was named, the issuer
    /// and all endpoints must have the server's origin.
    pub(crate) fn read_legacy(document: &Document, server: &Url) -> Result<Self, Violation> {
        let mut metadata = Self::from(document);
        let endpoints = [
            &metadata.authorization_endpoint,
            &metadata.token_endpoint,
            &metadata.registration_endpoint,
        ];
        for url in endpoints.into_iter().flatten().chain([&metadata.issuer]) {
            let own = Url::parse(url).is_ok_and(|url| url.origin() == server.origin());
            if !own {
                return Err(Violation::Issuer {
                    expected: server.origin().ascii_serialization(),
                    found: printable(url),
                });
            }
        }
        metadata.s256 = true; // 2025-03-26 requires PKCE and has no such list
        Ok(metadata)
    }

    /// The presumed endpoints of a server without any metadata (2025-03-26).
    pub(crate) fn presumed(server: &Url) -> Self {
        let endpoint = |path| Some(at(server, path).into());
        Self {
            issuer: server.origin().ascii_serialization(),
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token"),
            registration_endpoint: endpoint("/register"),
            jwks_uri: None,
            userinfo_endpoint: None,
            end_session_endpoint: None,
            scopes_supported: Scopes::default(),
            auth_methods: None,
            s256: true,
            client_documents: false,
            names_itself: false,
            guessed: true,
        }
    }

    fn from(document: &Document) -> Self {
        let text = |field| document::text(document, field);
        let methods = document::texts(document, "code_challenge_methods_supported");
        let scopes = document::texts(document, "scopes_supported").unwrap_or_default();
        Self {
            issuer: text("issuer").unwrap_or_default(),
            authorization_endpoint: text("authorization_endpoint"),
            token_endpoint: text("token_endpoint"),
            registration_endpoint: text("registration_endpoint"),
            jwks_uri: text("jwks_uri"),
            userinfo_endpoint: text("userinfo_endpoint"),
            end_session_endpoint: text("end_session_endpoint"),
            scopes_supported: Scopes::of(scopes.iter().map(String::as_str)),
            auth_methods: document::texts(document, "token_endpoint_auth_methods_supported"),
            s256: methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")),
            client_documents: document::flag(document, "client_id_metadata_document_supported"),
            names_itself: document::flag(
                document,
                "authorization_response_iss_parameter_supported",
            ),
            guessed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(value: &Value) -> &Document {
        value.as_object().unwrap()
    }

    #[test]
    fn an_issuer_is_compared_as_text() {
        for found in [
            "https://as.example/",
            "https://AS.example",
            "https://as.example:443",
            "",
            "https://evil.example",
        ] {
            let document = json!({ "issuer": found });
            assert_eq!(
                ServerMetadata::read(object(&document), "https://as.example"),
                Err(Violation::Issuer {
                    expected: "https://as.example".into(),
                    found: found.into()
                }),
            );
        }
        let document = json!({ "issuer": "https://as.example", "code_challenge_methods_supported": ["plain", "S256"] });
        assert!(
            ServerMetadata::read(object(&document), "https://as.example")
                .unwrap()
                .s256
        );
    }

    #[test]
    fn pkce_is_only_presumed_where_the_revision_demands_it() {
        let document = json!({ "issuer": "https://h.example" });
        let server = Url::parse("https://h.example/mcp").unwrap();
        assert!(
            !ServerMetadata::read(object(&document), "https://h.example")
                .unwrap()
                .s256
        );
        assert!(
            ServerMetadata::read_legacy(object(&document), &server)
                .unwrap()
                .s256
        );
        assert!(ServerMetadata::presumed(&server).s256);
    }

    #[test]
    fn a_legacy_server_speaks_only_for_its_own_origin() {
        let server = Url::parse("https://h.example/mcp").unwrap();
        let good = json!({ "issuer": "https://h.example/oauth", "token_endpoint": "https://h.example/oauth/token" });
        assert_eq!(
            ServerMetadata::read_legacy(object(&good), &server)
                .unwrap()
                .issuer,
            "https://h.example/oauth"
        );
        for bad in [
            json!({ "issuer": "https://evil.example" }),
            json!({ "issuer": "https://h.example", "token_endpoint": "https://evil.example/token" }),
            json!({ "issuer": "https://h.example", "authorization_endpoint": "http://h.example/authorize" }),
            json!({}),
        ] {
            assert!(
                ServerMetadata::read_legacy(object(&bad), &server).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn without_any_metadata_the_endpoints_are_at_the_root() {
        let server = Url::parse("https://h.example:8443/a/mcp?x=1").unwrap();
        let presumed = ServerMetadata::presumed(&server);
        assert_eq!(
            presumed.authorization_endpoint.as_deref(),
            Some("https://h.example:8443/authorize")
        );
        assert_eq!(
            presumed.token_endpoint.as_deref(),
            Some("https://h.example:8443/token")
        );
        assert_eq!(
            presumed.registration_endpoint.as_deref(),
            Some("https://h.example:8443/register")
        );
    }
}
