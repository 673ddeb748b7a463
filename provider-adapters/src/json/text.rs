//! JSON text, rewritten without changing its meaning.

use std::fmt;

use mcp_jsonrpc::RawJson;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// Reads JSON. To check once that it is text is cheaper than to check every key of it.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(json),
    }
}

/// The same text, owned.
pub(crate) fn keep(raw: &RawValue) -> RawJson {
    raw.to_owned().into()
}

/// JSON without blanks between its tokens and with every string in its plainest spelling. Numbers
/// keep their digits and objects their order. What is no JSON comes back as it is.
pub(crate) fn minify(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', ' ', '\t', '\r', '\n']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if from.starts_with('"') {
            let end = string_end(from);
            let (string, after) = from.split_at(end);
            match serde_json::from_str::<String>(string)
                .and_then(|text| serde_json::to_string(&text))
            {
                Ok(plain) => out.push_str(&plain),
                Err(_) => out.push_str(string),
            }
            rest = after;
        } else {
            rest = from.trim_start();
        }
    }
    out.push_str(rest);
    out
}

/// Where the JSON string at the start of `text` ends.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A token counter, read from whatever a server writes: a number, a float, a string, nothing.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct Count;

    impl<'de> Visitor<'de> for Count {
        type Value = Option<u64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number")
        }

        fn visit_u64<E: Error>(self, n: u64) -> Result<Option<u64>, E> {
            Ok(Some(n))
        }

        fn visit_i64<E: Error>(self, n: i64) -> Result<Option<u64>, E> {
            Ok(u64::try_from(n).ok())
        }

        fn visit_f64<E: Error>(self, n: f64) -> Result<Option<u64>, E> {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            Ok((n >= 0.0).then_some(n as u64))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Option<u64>, E> {
            Ok(text.parse().ok())
        }

        fn visit_unit<E: Error>(self) -> Result<Option<u64>, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minify_keeps_digits_order_and_meaning() {
        let json = "{ \"b\" : [ 1e400 ,\n -0, 123456789012345678901234567890 ],\t\"\\u0061 \\\"\": \"\\ud800 x\" }";
        let want = r#"{"b":[1e400,-0,123456789012345678901234567890],"a \"":"\ud800 x"}"#;
        assert_eq!(minify(json), want);
        assert_eq!(minify("{\"a"), "{\"a");
    }
}
