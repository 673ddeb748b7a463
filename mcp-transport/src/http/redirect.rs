//! The redirects that are followed: 307 and 308 within the origin. Credentials never leave it.

use reqwest::Url;

/// The target of a redirect, or the reason why it is not followed.
pub(crate) fn follow(from: &Url, status: u16, location: Option<&[u8]>) -> Result<Url, String> {
    let here = shown(from);
    let Some(location) = location else {
        return Err(format!(
            "{here} answered HTTP {status} without saying where to go"
        ));
    };
    let target = std::str::from_utf8(location)
        .ok()
        .and_then(|to| from.join(to).ok());
    let Some(mut target) = target else {
        return Err(format!(
            "{here} answered HTTP {status} with an invalid Location header"
        ));
    };
    if !same_origin(from, &target) {
        return Err(format!(
            "{here} redirects (HTTP {status}) to {}, which is another origin; if that is the \
             server, configure its address",
            shown(&target)
        ));
    }
    if !matches!(status, 307 | 308) {
        return Err(format!(
            "{here} redirects to {} with HTTP {status}, which would turn the message into a GET; \
             if that is the server, configure its address",
            shown(&target)
        ));
    }
    strip(&mut target);
    Ok(target)
}

/// Same scheme, host and port.
pub(crate) fn same_origin(a: &Url, b: &Url) -> bool {
    matches!(a.scheme(), "http" | "https") && a.origin() == b.origin()
}

/// Removes the parts that do not belong in an HTTP target: user name, password, fragment.
pub(crate) fn strip(url: &mut Url) {
    // Both fail only for URLs without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
}

/// A URL for display: without query and credentials.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    strip(&mut url);
    url.set_query(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HERE: &str = "http://localhost:8080/mcp?key=secret";

    #[track_caller]
    fn check(status: u16, location: &str, want: Result<&str, &str>) {
        let from = Url::parse(HERE).unwrap();
        let got = follow(&from, status, Some(location.as_bytes()));
        match (got, want) {
            (Ok(url), Ok(want)) => assert_eq!(url.as_str(), want),
            (Err(text), Err(want)) => assert!(text.contains(want), "{text}"),
            (got, want) => panic!("{got:?} is not {want:?}"),
        }
    }

    #[test]
    fn only_307_and_308_within_the_origin_are_followed() {
        check(307, "/other", Ok("http://localhost:8080/other"));
        check(
            308,
            "http://LOCALHOST:8080/x?y=1#z",
            Ok("http://localhost:8080/x?y=1"),
        );
        check(
            307,
            "//user:pw@localhost:8080/x",
            Ok("http://localhost:8080/x"),
        );
        check(302, "/other", Err("turn the message into a GET"));
        check(307, "http://localhost:8081/mcp", Err("another origin"));
        check(307, "https://localhost:8080/mcp", Err("another origin"));
        check(307, "//evil.example/mcp", Err("another origin"));
        check(307, "/\\evil.example/mcp", Err("another origin"));
        check(
            307,
            "http://localhost:8080@evil.example/",
            Err("another origin"),
        );
        check(307, "file:///etc/passwd", Err("another origin"));
        check(307, "http://[", Err("an invalid Location header"));
    }

    #[test]
    fn refusals_do_not_repeat_secrets() {
        let from = Url::parse(HERE).unwrap();
        let text = follow(&from, 307, Some(b"http://a:b@c.example/?token=t")).unwrap_err();
        assert!(!text.contains("secret") && !text.contains("token") && !text.contains("a:b"));
    }

    proptest! {
        #[test]
        fn nothing_followed_ever_leaves_the_origin(location in any::<Vec<u8>>(), status in 300..400_u16) {
            let from = Url::parse(HERE).unwrap();
            if let Ok(url) = follow(&from, status, Some(&location)) {
                prop_assert!(same_origin(&from, &url));
                prop_assert_eq!((url.username(), url.password()), ("", None));
            }
        }

        #[test]
        fn nothing_url_like_ever_leaves_the_origin(
            location in "(https?:|file:)?[/\\\\]{0,3}([a-z]{1,4}@)?(localhost|evil)?(:80[0-9]{2})?[/?#a-z]{0,6}",
        ) {
            let from = Url::parse(HERE).unwrap();
            if let Ok(url) = follow(&from, 307, Some(location.as_bytes())) {
                prop_assert!(same_origin(&from, &url));
            }
        }
    }
}
