//! From bytes to messages, in one pass over the envelope.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::decode_error::{DecodeError, Fault, Sender, Side};
use crate::depth::deeper_than;
use crate::error_object::ErrorObject;
use crate::id::RequestId;
use crate::limits::Limits;
use crate::message::{Incoming, MessageRef};

/// Reads a message, or a batch of them.
///
/// Members may come in any order; of members with the same name the last one counts, as in every
/// common JSON reader. A byte order mark and whitespace around the message are skipped. `null` as
/// `error`, or as `result` beside an error, counts as absent. Bodies are checked to be JSON and
/// not to be nested too deep, and are otherwise left alone.
///
/// ```
/// use mcp_jsonrpc::{Incoming, Limits, MessageRef, decode};
///
/// let line = br#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#;
/// let Incoming::Single(MessageRef::Response { id, outcome }) = decode(line, &Limits::default())?
/// else { return Ok(()) };
/// assert_eq!(id, Some(7.into()));
/// assert_eq!(outcome.map(|result| result.get()).ok(), Some(r#"{"tools":[]}"#));
/// # Ok::<(), mcp_jsonrpc::DecodeError>(())
/// ```
///
/// # Errors
///
/// Whatever the bytes are, the worst is a [`DecodeError`]; it has the message's id if that could
/// be read.
pub fn decode<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Incoming<'a>, DecodeError> {
    if bytes.len() > limits.message_bytes() {
        return Err(DecodeError::TooLarge {
            bytes: bytes.len(),
            limit: limits.message_bytes(),
        });
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_text(bytes, error)),
    };
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'[') => decode_batch(text, limits).map(Incoming::Batch),
        _ => decode_single(text, limits).map(Incoming::Single),
    }
}

fn decode_single<'a>(text: &'a str, limits: &Limits) -> Result<MessageRef<'a>, DecodeError> {
    let mut envelope = Envelope::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    if let Err(source) = envelope.fill(&mut reader).and_then(|()| reader.end()) {
        return Err(if source.is_data() {
            DecodeError::Invalid {
                fault: Fault::NotAnObject,
                sender: Sender::default(),
            }
        } else {
            DecodeError::Syntax {
                source,
                sender: envelope.sender(),
            }
        });
    }
    if deeper_than(text.as_bytes(), limits.depth()) {
        return Err(DecodeError::TooDeep {
            limit: limits.depth(),
            sender: envelope.sender(),
        });
    }
    envelope.message().map_err(|fault| DecodeError::Invalid {
        fault,
        sender: envelope.sender(),
    })
}

fn decode_batch<'a>(
    text: &'a str,
    limits: &Limits,
) -> Result<Vec<Result<MessageRef<'a>, DecodeError>>, DecodeError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let parts = BatchSeed {
        limit: limits.batch_len(),
    }
    .deserialize(&mut reader)
    .and_then(|parts| reader.end().map(|()| parts))
    .map_err(|source| DecodeError::Syntax {
        source,
        sender: Sender::default(),
    })?;
    if parts.is_empty() || parts.len() > limits.batch_len() {
        return Err(DecodeError::BatchLength {
            messages: parts.len(),
            limit: limits.batch_len(),
        });
    }
    Ok(parts
        .into_iter()
        .map(|part| decode_single(part.get(), limits))
        .collect())
}

/// Bytes that are not UTF-8: says so, with what the readable beginning tells.
fn not_text(bytes: &[u8], error: std::str::Utf8Error) -> DecodeError {
    let mut envelope = Envelope::default();
    if let Some(Ok(start)) = bytes.get(..error.valid_up_to()).map(std::str::from_utf8) {
        // It ends too early, so this fails; what was met before stays in the envelope.
        let _ = envelope.fill(&mut serde_json::Deserializer::from_str(start));
    }
    DecodeError::Syntax {
        source: serde::de::Error::custom(error),
        sender: envelope.sender(),
    }
}

/// The members of a message, unread.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// Known from the name of a member on, even if its value then breaks off.
    side: Side,
}

impl<'a> Envelope<'a> {
    /// Collects the members; those met before an error stay.
    fn fill<R: serde_json::de::Read<'a>>(
        &mut self,
        reader: &mut serde_json::Deserializer<R>,
    ) -> Result<(), serde_json::Error> {
        reader.deserialize_map(EnvelopeVisitor(self))
    }

    fn message(&self) -> Result<MessageRef<'a>, Fault> {
        if self
            .jsonrpc
            .is_none_or(|version| version.get() != "\"2.0\"")
        {
            return Err(Fault::Version);
        }
        let error = self.error.filter(|error| error.get() != "null");
        let result = self
            .result
            .filter(|result| error.is_none() || result.get() != "null");
        match (self.method, result, error) {
            (Some(method), None, None) => self.asks(method),
            (None, Some(result), None) => {
                let id = self.id()?.ok_or(Fault::Id)?;
                Ok(MessageRef::Response {
                    id: Some(id),
                    outcome: Ok(result),
                })
            }
            (None, None, Some(error)) => {
                let error = serde_json::from_str::<ErrorObject>(error.get())
                    .map_err(|why| Fault::ErrorObject(why.to_string()))?;
                Ok(MessageRef::Response {
                    id: self.id()?,
                    outcome: Err(error),
                })
            }
            (None, None, None) => Err(Fault::NothingToSay),
            (None, Some(_), Some(_)) => Err(Fault::ResultAndError),
            (Some(_), _, _) => Err(Fault::AsksAndAnswers),
        }
    }

    fn asks(&self, method: &'a RawValue) -> Result<MessageRef<'a>, Fault> {
        let method = text(method).ok_or(Fault::Method)?;
        let params = match self.params {
            Some(params) if params.get().starts_with('{') => Some(params),
            Some(params) if params.get() != "null" => return Err(Fault::Params),
            _ => None,
        };
        Ok(match self.id {
            Some(_) => MessageRef::Request {
                id: self.id()?.ok_or(Fault::Id)?,
                method,
                params,
            },
            None => MessageRef::Notification { method, params },
        })
    }

    /// The id; `None` if it is absent or null.
    fn id(&self) -> Result<Option<RequestId>, Fault> {
        match self.id {
            Some(raw) if raw.get() != "null" => read_id(raw).map(Some).ok_or(Fault::Id),
            _ => Ok(None),
        }
    }

    fn sender(&self) -> Sender {
        Sender {
            id: self.id().ok().flatten(),
            side: self.side,
        }
    }
}

fn read_id(raw: &RawValue) -> Option<RequestId> {
    match raw.get().parse::<i64>() {
        Ok(n) => Some(n.into()),
        Err(_) => serde_json::from_str(raw.get()).ok(),
    }
}

/// A JSON string's content, borrowed where it has no escapes.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    match raw.get().strip_prefix('"')?.strip_suffix('"')? {
        plain if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(raw.get()).ok().map(Cow::Owned),
    }
}

struct EnvelopeVisitor<'e, 'a>(&'e mut Envelope<'a>);

impl<'a> Visitor<'a> for EnvelopeVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key_seed(MemberSeed)? {
            match member {
                Member::Result | Member::Error => self.0.side = Side::Answers,
                Member::Method if self.0.side == Side::Unclear => self.0.side = Side::Asks,
                _ => {}
            }
            let slot = match member {
                Member::Jsonrpc => &mut self.0.jsonrpc,
                Member::Id => &mut self.0.id,
                Member::Method => &mut self.0.method,
                Member::Params => &mut self.0.params,
                Member::Result => &mut self.0.result,
                Member::Error => &mut self.0.error,
                Member::Other => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    continue;
                }
            };
            *slot = Some(map.next_value()?);
        }
        Ok(())
    }
}

enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

/// Reads names as bytes: an unpaired surrogate in a name we skip is none of our business.
struct MemberSeed;

impl<'a> DeserializeSeed<'a> for MemberSeed {
    type Value = Member;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for MemberSeed {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_bytes<E: serde::de::Error>(self, name: &[u8]) -> Result<Member, E> {
        Ok(match name {
            b"jsonrpc" => Member::Jsonrpc,
            b"id" => Member::Id,
            b"method" => Member::Method,
            b"params" => Member::Params,
            b"result" => Member::Result,
            b"error" => Member::Error,
            _ => Member::Other,
        })
    }
}

/// Collects the parts of a batch, and stops keeping them once there are too many.
struct BatchSeed {
    limit: usize,
}

impl<'a> DeserializeSeed<'a> for BatchSeed {
    type Value = Vec<&'a RawValue>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for BatchSeed {
    type Value = Vec<&'a RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while parts.len() <= self.limit {
            match seq.next_element()? {
                Some(part) => parts.push(part),
                None => return Ok(parts),
            }
        }
        while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(parts)
    }
}
