//! Recognizes a response by its first and last bytes, without parsing it.

use std::ops::Range;

/// The request id of a response and the range of its result, from the first and last bytes alone; `None` unless the
/// response has one of the usual layouts.
///
/// If the range parses as one JSON value, then [`decode`](crate::decode) returns the same; otherwise use `decode` to
/// classify the message.
///
/// ```
/// let message = br#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#;
/// let (id, result) = mcp_jsonrpc::peek_response(message).unwrap();
/// assert_eq!((id, &message[result]), (7, &br#"{"tools":[]}"#[..]));
/// ```
pub fn peek_response(message: &[u8]) -> Option<(i64, Range<usize>)> {
    let end = message.trim_ascii_end().len();
    let whole = message.get(..end)?;
    if let Some(rest) = whole.strip_prefix(br#"{"jsonrpc":"2.0","id":"#) {
        let (id, rest) = number(rest)?;
        let result = rest.strip_prefix(br#","result":"#)?.strip_suffix(b"}")?;
        return Some((id, end - 1 - result.len()..end - 1));
    }
    let rest = whole.strip_prefix(br#"{"result":"#)?;
    // The other members are near the end.
    let tail = rest.get(rest.len().saturating_sub(64)..)?;
    let at =
        find_last(tail, br#","jsonrpc":"2.0","id":"#).or_else(|| find_last(tail, br#","id":"#))?;
    let member = tail.get(at..)?;
    let (id, after) = number(
        member
            .strip_prefix(br#","jsonrpc":"2.0","id":"#)
            .or_else(|| member.strip_prefix(br#","id":"#))?,
    )?;
    let closes = match member.starts_with(br#","id":"#) {
        true => after == br#","jsonrpc":"2.0"}"#,
        false => after == b"}",
    };
    closes.then_some((id, whole.len() - rest.len()..end - member.len()))
}

/// The unsigned integer at the beginning of `text`, and what follows it.
fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(length.min(18))?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

fn find_last(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{DecodeLimits, Incoming, MessageRef, RawRef, decode};

    #[track_caller]
    fn check(message: &str, want: Option<(i64, &str)>) {
        let got = peek_response(message.as_bytes());
        let got = got.map(|(id, result)| (id, message.get(result).unwrap_or("?")));
        assert_eq!(got, want, "{message}");
    }

    #[test]
    fn responses_in_the_usual_orders_are_recognized_by_their_ends() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#,
            Some((7, r#"{"a":1}"#)),
        );
        check(
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\r\n",
            Some((7, "{}")),
        );
        check(
            r#"{"result":{"a":1},"jsonrpc":"2.0","id":7}"#,
            Some((7, r#"{"a":1}"#)),
        );
        check(
            r#"{"result":{"a":1},"id":7,"jsonrpc":"2.0"}"#,
            Some((7, r#"{"a":1}"#)),
        );
    }

    #[test]
    fn anything_else_is_left_to_the_decoder() {
        for other in [
            r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"x","params":{}}"#,
            r#"{"jsonrpc": "2.0", "id": 7, "result": {}}"#,
            r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}"#,
            r#"{"result":{},"id":7}"#,
            r#"{"result":{},"jsonrpc":"2.0"}"#,
            "",
            "}",
        ] {
            check(other, None);
        }
    }

    fn members() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("{}"),
            Just("7"),
            Just("8"),
            Just("\"2.0\""),
            Just(r#"{"id":8}"#),
            Just(r#""},\"id\":8,""#),
            Just(r#"[{"result":1}]"#),
            Just("null"),
            Just("{} ,\"id\":9"),
            Just("{"),
        ];
        let name = prop_oneof![
            Just("jsonrpc"),
            Just("id"),
            Just("result"),
            Just("error"),
            Just("x")
        ];
        let member = (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop::collection::vec(member, 0..4).prop_map(|members| members.join(","))
    }

    proptest! {
        /// Whenever a guess parses as JSON to its end, the decoder reads the same result, and for the same request
        /// unless the message has two ids.
        #[test]
        fn a_guess_that_reads_is_what_the_decoder_reads(
            before in members(), after in members(), result in members(), order in 0..4,
        ) {
            let result = format!("{{{result}}}");
            let message = match order {
                0 => format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
                1 => format!(r#"{{"result":{result},"jsonrpc":"2.0","id":7}}"#),
                2 => format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result},{after}}}"#),
                _ => format!(r#"{{"result":{result},{before},"id":7,"jsonrpc":"2.0"}}"#),
            };
            if let Some((id, result)) = peek_response(message.as_bytes())
                && let Ok(guess) = RawRef::from_text(message.get(result).unwrap_or_default())
            {
                let Ok(Incoming::Single(MessageRef::Response { id: Some(read), outcome: Ok(raw) })) =
                    decode(message.as_bytes(), &DecodeLimits::default())
                else {
                    return Err(TestCaseError::fail(format!("not an answer: {message}")));
                };
                prop_assert_eq!(read.as_i64(), Some(id), "{}", message);
                prop_assert_eq!(raw.get(), guess.get(), "{}", message);
            }
        }
    }
}
