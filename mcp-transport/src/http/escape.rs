//! Values of `Mcp-Name` and `Mcp-Param-*` headers: plain where HTTP allows it, else base64.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const START: &str = "=?base64?";
const END: &str = "?=";

/// Encodes `value` for a header.
///
/// Printable ASCII is unchanged. Anything else, spaces at either end, and what looks like an encoded
/// value, becomes `=?base64?…?=`.
pub(crate) fn escape(value: &str) -> Cow<'_, str> {
    let printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = !value.starts_with(' ') && !value.ends_with(' ');
    let escaped_look = value.starts_with(START) && value.ends_with(END);
    if printable && trimmed && !escaped_look {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!("{START}{}{END}", STANDARD.encode(value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    fn unescape(header: &str) -> String {
        match header
            .strip_prefix(START)
            .and_then(|rest| rest.strip_suffix(END))
        {
            Some(base64) => String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap(),
            None => header.to_owned(),
        }
    }

    #[track_caller]
    fn check(value: &str, want: &str) {
        assert_eq!(escape(value), want);
    }

    #[test]
    fn printable_values_stay_plain() {
        check("", "");
        check("lookup", "lookup");
        check("two words", "two words");
        check(
            "file:///path/to/file%20name.txt",
            "file:///path/to/file%20name.txt",
        );
        check("=?base64?", "=?base64?");
    }

    #[test]
    fn what_a_header_would_spoil_is_escaped() {
        check("ést", "=?base64?w6lzdA==?=");
        check(" x", "=?base64?IHg=?=");
        check("x ", "=?base64?eCA=?=");
        check("a\tb", "=?base64?YQli?=");
        check("a\r\nb", "=?base64?YQ0KYg==?=");
        check("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    }

    proptest! {
        #[test]
        fn every_value_survives_a_header(value in any::<String>()) {
            let escaped = escape(&value).into_owned();
            prop_assert!(HeaderValue::from_str(&escaped).is_ok());
            prop_assert_eq!(escaped.trim(), &escaped);
            prop_assert_eq!(unescape(&escaped), value);
        }
    }
}
