//! The metadata of a protected resource (RFC 9728), and its verification.

use url::Url;

use crate::Violation;
use crate::discovery::document::{self, Document};
use crate::token::scope::Scopes;

/// The parts of a protected resource's metadata that we use.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ResourceMetadata {
    /// The resource's identifier, sent back byte for byte.
    pub(crate) resource: String,
    /// The issuers whose tokens it accepts, in its order of preference.
    pub(crate) authorization_servers: Vec<String>,
    /// The scopes it supports.
    pub(crate) scopes_supported: Scopes,
    /// Whether it only accepts tokens bound to a key.
    pub(crate) dpop_required: bool,
}

impl ResourceMetadata {
    /// Reads a document fetched for `server`; rejects one that describes something else.
    pub(crate) fn read(document: &Document, server: &Url) -> Result<Self, Violation> {
        let resource = document::text(document, "resource").unwrap_or_default();
        if !covers(&resource, server) {
            return Err(Violation::Resource {
                resource: crate::http::guard::printable(&resource),
            });
        }
        let scopes = document::texts(document, "scopes_supported").unwrap_or_default();
        Ok(Self {
            resource,
            authorization_servers: document::texts(document, "authorization_servers")
                .unwrap_or_default(),
            scopes_supported: Scopes::of(scopes.iter().map(String::as_str)),
            dpop_required: document::flag(document, "dpop_bound_access_tokens_required"),
        })
    }
}

/// Whether `resource` is the server or contains it: same origin, and a path that is a prefix of the server's path in
/// whole segments.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let plain = resource.fragment().is_none()
        && resource.username().is_empty()
        && resource.password().is_none()
        && (resource.query().is_none() || resource.query() == server.query());
    let origin = resource.origin();
    let prefix = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(prefix);
    plain
        && origin.is_tuple()
        && origin == server.origin()
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The resource identifier of a server without metadata: its URL as configured, without a fragment. It is taken from
/// the text, because a URL type would add a slash to a bare origin.
pub(crate) fn identifier(server: &str) -> &str {
    server.split_once('#').map_or(server, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(resource: &str, server: &str, want: bool) {
        assert_eq!(
            covers(resource, &Url::parse(server).unwrap()),
            want,
            "{resource} for {server}"
        );
    }

    #[test]
    fn a_resource_must_contain_the_server() {
        let server = "https://h.example/a/mcp";
        for good in [
            server,
            "https://h.example/a/mcp/",
            "https://h.example/a",
            "https://h.example",
            "https://h.example/",
            "https://H.example:443/a",
        ] {
            check(good, server, true);
        }
        for bad in [
            "https://evil.example/a/mcp",
            "http://h.example/a/mcp",
            "https://h.example:444/a/mcp",
            "https://h.example/a/m",
            "https://h.example/a/mcp/x",
            "https://h.example/b",
            "https://h.example/a/mcp#f",
            "https://u@h.example/a/mcp",
            "https://h.example/a/mcp?x=1",
            "urn:x",
            "",
            "h.example",
        ] {
            check(bad, server, false);
        }
    }

    #[test]
    fn the_identifier_is_kept_byte_for_byte() {
        let document = json!({
            "resource": "https://h.example", "authorization_servers": ["https://as/", 7],
            "scopes_supported": ["a", "b", "a"],
        });
        let server = Url::parse("https://h.example/mcp").unwrap();
        let read = ResourceMetadata::read(document.as_object().unwrap(), &server).unwrap();
        assert_eq!(read.resource, "https://h.example");
        assert_eq!(read.authorization_servers, ["https://as/"]);
        assert_eq!(read.scopes_supported.to_string(), "a b");
        assert_eq!(identifier("https://h.example#x"), "https://h.example");
    }

    proptest! {
        #[test]
        fn another_origin_never_covers(host in "[a-z]{1,6}", path in "(/[a-z]{1,3}){0,3}") {
            let server = Url::parse("https://victim.example/a/b").unwrap();
            let resource = format!("https://{host}.test{path}");
            prop_assert!(!covers(&resource, &server));
        }

        #[test]
        fn every_parent_covers(depth in 0usize..4) {
            let parent = ["/a", "/b", "/c"].iter().take(depth).copied().collect::<String>();
            let server = Url::parse("https://h.example/a/b/c").unwrap();
            let resource = format!("https://h.example{parent}");
            prop_assert!(covers(&resource, &server));
        }
    }
}
