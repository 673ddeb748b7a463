//! The well-known URLs of metadata, in the order they are tried. Pure.

use url::Url;

/// The URLs of a protected resource's metadata (RFC 9728) if no challenge names one: first for the server's path, then
/// for its origin.
pub(crate) fn resource_metadata(server: &Url) -> Vec<Url> {
    let mut places = Vec::new();
    let path = bare_path(server);
    if !path.is_empty() {
        places.push(at(
            server,
            &format!("/.well-known/oauth-protected-resource{path}"),
        ));
    }
    places.push(at(server, "/.well-known/oauth-protected-resource"));
    places
}

/// The URLs of an authorization server's metadata (RFC 8414, then OpenID Connect). An issuer with a path
/// is never looked up at the root, which may belong to another tenant.
pub(crate) fn server_metadata(issuer: &Url) -> Vec<Url> {
    let path = bare_path(issuer);
    if path.is_empty() {
        return vec![
            at(issuer, "/.well-known/oauth-authorization-server"),
            at(issuer, "/.well-known/openid-configuration"),
        ];
    }
    vec![
        at(
            issuer,
            &format!("/.well-known/oauth-authorization-server{path}"),
        ),
        at(issuer, &format!("/.well-known/openid-configuration{path}")),
        at(issuer, &format!("{path}/.well-known/openid-configuration")),
    ]
}

/// The URL of an OpenID provider's metadata (OpenID Connect Discovery).
pub(crate) fn openid_configuration(issuer: &Url) -> Url {
    let path = bare_path(issuer);
    at(issuer, &format!("{path}/.well-known/openid-configuration"))
}

/// `path` on the origin of `base`, without query or fragment.
pub(crate) fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The path without a trailing slash; empty for an origin.
fn bare_path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(places: fn(&Url) -> Vec<Url>, from: &str, want: &[&str]) {
        let found: Vec<String> = places(&Url::parse(from).unwrap())
            .into_iter()
            .map(String::from)
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn resource_metadata_is_sought_by_path_then_at_the_root() {
        check(
            resource_metadata,
            "https://h:8443/a/mcp?x=1#f",
            &[
                "https://h:8443/.well-known/oauth-protected-resource/a/mcp",
                "https://h:8443/.well-known/oauth-protected-resource",
            ],
        );
        check(
            resource_metadata,
            "https://h/",
            &["https://h/.well-known/oauth-protected-resource"],
        );
    }

    #[test]
    fn an_issuer_with_a_path_is_never_sought_at_the_root() {
        check(
            server_metadata,
            "https://h/tenant1/",
            &[
                "https://h/.well-known/oauth-authorization-server/tenant1",
                "https://h/.well-known/openid-configuration/tenant1",
                "https://h/tenant1/.well-known/openid-configuration",
            ],
        );
        check(
            server_metadata,
            "https://h",
            &[
                "https://h/.well-known/oauth-authorization-server",
                "https://h/.well-known/openid-configuration",
            ],
        );
    }

    proptest! {
        #[test]
        fn no_place_leaves_the_origin(
            host in "[a-z]{1,8}(\\.[a-z]{2,4})?", path in "(/[ -~]{0,10}){0,4}",
        ) {
            let Ok(from) = Url::parse(&format!("https://{host}{path}")) else { return Ok(()) };
            prop_assume!(from.username().is_empty());
            for place in resource_metadata(&from).into_iter().chain(server_metadata(&from)) {
                prop_assert_eq!(place.origin(), from.origin());
                prop_assert!(place.as_str().contains("/.well-known/"));
                prop_assert!(place.query().is_none() && place.fragment().is_none());
            }
        }
    }
}
