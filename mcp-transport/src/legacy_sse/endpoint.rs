//! The URL that messages are posted to: that of the `endpoint` event, if it has the same origin.

use reqwest::Url;

use crate::TransportError;
use crate::http::{same_origin, shown, strip};

/// Reads the data of an `endpoint` event: an absolute or relative URL with the stream's origin.
pub(crate) fn endpoint(stream: &Url, data: &[u8]) -> Result<Url, TransportError> {
    let malformed = |detail: String| TransportError::Malformed { detail };
    let text = std::str::from_utf8(data).map(str::trim).unwrap_or_default();
    let mut url = match stream.join(text) {
        Ok(url) if !text.is_empty() => url,
        _ => return Err(malformed("its endpoint event holds no address".to_owned())),
    };
    if !same_origin(stream, &url) {
        return Err(malformed(format!(
            "its endpoint {} is on another origin than {}",
            shown(&url),
            shown(stream)
        )));
    }
    strip(&mut url);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream() -> Url {
        Url::parse("http://localhost:8080/api/sse?key=1").unwrap()
    }

    #[track_caller]
    fn check(data: &str, want: Option<&str>) {
        let got = endpoint(&stream(), data.as_bytes()).ok();
        assert_eq!(got.as_ref().map(Url::as_str), want);
    }

    #[test]
    fn an_endpoint_may_be_relative_or_absolute() {
        check(
            "/messages?sessionId=x",
            Some("http://localhost:8080/messages?sessionId=x"),
        );
        check("messages", Some("http://localhost:8080/api/messages"));
        check("?s=1", Some("http://localhost:8080/api/sse?s=1"));
        check(
            " http://localhost:8080/m \n",
            Some("http://localhost:8080/m"),
        );
        check(
            "http://me:pw@localhost:8080/m#x",
            Some("http://localhost:8080/m"),
        );
    }

    #[test]
    fn an_endpoint_elsewhere_is_refused() {
        for data in [
            "http://localhost:8081/m",
            "https://localhost:8080/m",
            "//evil.example/m",
            "/\\evil.example/m",
            "\\\\evil.example/m",
            "http://localhost:8080@evil.example/m",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http://[",
            "",
        ] {
            check(data, None);
        }
    }

    proptest! {
        #[test]
        fn no_endpoint_ever_leaves_the_origin(data in any::<Vec<u8>>()) {
            if let Ok(url) = endpoint(&stream(), &data) {
                prop_assert!(same_origin(&stream(), &url));
            }
        }

        #[test]
        fn no_address_ever_leaves_the_origin(
            data in "(https?:|file:)?[/\\\\]{0,3}([a-z]{1,4}@)?(localhost|evil)?(:80[0-9]{2})?[/?#a-z]{0,6}",
        ) {
            if let Ok(url) = endpoint(&stream(), data.as_bytes()) {
                prop_assert!(same_origin(&stream(), &url));
                prop_assert_eq!((url.username(), url.password()), ("", None));
            }
        }
    }
}
