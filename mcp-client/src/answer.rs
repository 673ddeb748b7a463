//! An answer, still in the bytes it came in.
//!
//! Most answers are written in one of a few ways, so that their id can be told without looking
//! through them. The reader does no more than that; whoever waits for the answer reads it, once.

use mcp_jsonrpc::{Incoming, Limits, MessageRef, RawRef, RequestId, decode};

use crate::call::Miss;
use crate::reader::chain;

/// A result, still in the bytes it came in.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    seen: Seen,
}

/// How well a [`Body`] has been looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Seen {
    /// It is a result.
    Result,
    /// It looks like the answer to this request.
    Guess(i64),
}

impl Body {
    /// The part of `bytes` that is the result, as the decoder says.
    pub(crate) fn new(bytes: Vec<u8>, start: usize, end: usize) -> Self {
        Self {
            bytes,
            start,
            end,
            seen: Seen::Result,
        }
    }

    /// The result of a request that has nothing to say.
    pub(crate) fn empty() -> Self {
        Self::new(b"{}".to_vec(), 0, 2)
    }

    /// What looks like an answer, and which request it answers.
    pub(crate) fn guess(bytes: Vec<u8>) -> Result<(i64, Self), Vec<u8>> {
        match guess(&bytes) {
            Some((id, start, end)) => Ok((
                id,
                Self {
                    bytes,
                    start,
                    end,
                    seen: Seen::Guess(id),
                },
            )),
            None => Err(bytes),
        }
    }

    /// How many bytes the result has.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The result's text. If it reads as one JSON value to its end, then it is the result; if it
    /// does not, [`result`](Self::result) tells why.
    pub(crate) fn text(&self) -> &str {
        let text = self
            .bytes
            .get(self.start..self.end)
            .map(std::str::from_utf8);
        text.and_then(Result::ok).unwrap_or_default()
    }

    /// The result, by a careful look at the whole message.
    pub(crate) fn result(&self) -> Result<RawRef<'_>, Miss> {
        let Seen::Guess(asked) = self.seen else {
            return RawRef::from_text(self.text()).map_err(|error| Miss::Invalid(chain(&error)));
        };
        match decode(&self.bytes, &limits()) {
            Ok(Incoming::Single(MessageRef::Response {
                id: Some(id),
                outcome,
            })) => match outcome {
                _ if ours(&id) != Some(asked) => Err(Miss::Invalid(format!(
                    "an answer to a request with the id {id}"
                ))),
                Ok(result) => Ok(result),
                Err(error) => Err(Miss::Peer(error)),
            },
            Ok(_) => Err(Miss::Invalid("a message that is no answer".to_owned())),
            Err(error) => Err(Miss::Invalid(chain(&error))),
        }
    }
}

/// The transport bounds how large a message may be.
pub(crate) fn limits() -> Limits {
    Limits::default().with_message_bytes(usize::MAX)
}

/// The number of a request of ours. Some servers return it as text.
pub(crate) fn ours(id: &RequestId) -> Option<i64> {
    id.as_i64().or_else(|| id.as_str()?.parse().ok())
}

/// Which request a message answers, and where its result begins and ends, if it is written in one
/// of the usual ways and is JSON at all.
fn guess(message: &[u8]) -> Option<(i64, usize, usize)> {
    let end = message.trim_ascii_end().len();
    let whole = message.get(..end)?;
    if let Some(rest) = whole.strip_prefix(br#"{"jsonrpc":"2.0","id":"#) {
        let (id, rest) = number(rest)?;
        let result = rest.strip_prefix(br#","result":"#)?.strip_suffix(b"}")?;
        return Some((id, end - 1 - result.len(), end - 1));
    }
    let rest = whole.strip_prefix(br#"{"result":"#)?;
    // Far from the end there is nothing to be found.
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
    closes.then_some((id, whole.len() - rest.len(), end - member.len()))
}

/// An integer at the beginning of `text`, as this crate writes its ids, and what follows it.
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
    use mcp_jsonrpc::{Body as _, RawJson};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(message: &str, want: Option<(i64, &str)>) {
        let got = guess(message.as_bytes());
        let got = got.map(|(id, start, end)| (id, message.get(start..end).unwrap_or("?")));
        assert_eq!(got, want, "{message}");
    }

    #[test]
    fn answers_in_the_usual_orders_are_told_by_their_ends() {
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
        /// Whenever a guess reads as JSON to its end, the decoder reads the same result, and for
        /// the same request unless the message names two.
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
            if let Ok((id, body)) = Body::guess(message.clone().into_bytes())
                && RawJson::read_text(body.text()).is_ok()
            {
                let Ok(Incoming::Single(MessageRef::Response { id: Some(read), outcome: Ok(raw) })) =
                    decode(message.as_bytes(), &limits())
                else {
                    return Err(TestCaseError::fail(format!("not an answer: {message}")));
                };
                prop_assert_eq!(ours(&read), Some(id), "{}", message);
                prop_assert_eq!(raw.get(), body.text().trim(), "{}", message);
            }
        }
    }
}
