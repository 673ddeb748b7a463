//! Decodes messages in one pass over the envelope.

use std::borrow::Cow;

use crate::codec::decode_error::{DecodeError, Fault, Sender, Side};
use crate::codec::limits::DecodeLimits;
use crate::json::raw::RawRef;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::message::body::Body;
use crate::message::id::RequestId;
use crate::message::{Incoming, MessageRef};

/// Decodes a message or a batch of messages.
///
/// Members may come in any order; of members with the same name the last one wins, as in every common JSON parser. A
/// byte order mark and whitespace around the message are skipped. `null` as `error`, or as `result` beside an error,
/// counts as absent. Bodies are checked for valid JSON and for their nesting depth, and are otherwise left alone.
///
/// ```
/// use mcp_jsonrpc::{Incoming, DecodeLimits, MessageRef, decode};
///
/// let line = br#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#;
/// let Incoming::Single(MessageRef::Response { id, outcome }) = decode(line, &DecodeLimits::default())?
/// else { return Ok(()) };
/// assert_eq!(id, Some(7.into()));
/// assert_eq!(outcome.map(|result| result.get()).ok(), Some(r#"{"tools":[]}"#));
/// # Ok::<(), mcp_jsonrpc::DecodeError>(())
/// ```
///
/// # Errors
///
/// [`DecodeError`], with the message's id if it could be read.
pub fn decode<'a>(bytes: &'a [u8], limits: &DecodeLimits) -> Result<Incoming<'a>, DecodeError> {
    if bytes.len() > limits.message_bytes() {
        return Err(DecodeError::TooLarge {
            bytes: bytes.len(),
            limit: limits.message_bytes(),
        });
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to()))?;
    let mut reader = Reader::new(text);
    let incoming = match reader.peek() {
        Some(b'[') => read_batch(&mut reader, limits).map(Incoming::Batch),
        Some(b'{') => read_message(&mut reader, limits).map(Incoming::Single),
        _ => Err(not_a_message(&mut reader)),
    }?;
    match reader.end() {
        Ok(()) => Ok(incoming),
        Err(source) => Err(DecodeError::Syntax {
            source,
            sender: sender_of(&incoming),
        }),
    }
}

fn read_message<'a>(
    reader: &mut Reader<'a>,
    limits: &DecodeLimits,
) -> Result<MessageRef<'a>, DecodeError> {
    let mut envelope = Envelope::default();
    match envelope.fill(reader, limits) {
        Err(source) => Err(DecodeError::Syntax {
            source,
            sender: envelope.sender(),
        }),
        Ok(()) if envelope.too_deep => Err(DecodeError::TooDeep {
            limit: limits.depth(),
            sender: envelope.sender(),
        }),
        Ok(()) => envelope.message().map_err(|fault| DecodeError::Invalid {
            fault,
            sender: envelope.sender(),
        }),
    }
}

type Batch<'a> = Vec<Result<MessageRef<'a>, DecodeError>>;

fn read_batch<'a>(
    reader: &mut Reader<'a>,
    limits: &DecodeLimits,
) -> Result<Batch<'a>, DecodeError> {
    let limit = limits.batch_len();
    let mut batch = Vec::new();
    let mut items = reader.array().map_err(syntax)?;
    while items.next(reader).map_err(syntax)? {
        if batch.len() == limit {
            return Err(DecodeError::BatchLength {
                messages: limit + 1,
                limit,
            });
        }
        let message = match reader.peek() {
            Some(b'{') => read_message(reader, limits),
            _ => {
                reader.skip(limits.depth()).map_err(syntax)?;
                Err(DecodeError::Invalid {
                    fault: Fault::NotAnObject,
                    sender: Sender::default(),
                })
            }
        };
        // After a syntax error nothing more can be read.
        if let Err(error @ DecodeError::Syntax { .. }) = message {
            return Err(error);
        }
        batch.push(message);
    }
    if batch.is_empty() {
        return Err(DecodeError::BatchLength { messages: 0, limit });
    }
    Ok(batch)
}

/// The error for bytes that are not UTF-8 from `end` on, with what precedes them.
fn not_text(bytes: &[u8], end: usize) -> DecodeError {
    let mut envelope = Envelope::default();
    if let Some(Ok(start)) = bytes.get(..end).map(std::str::from_utf8) {
        // This fails at the end; what was read before stays in the envelope.
        let _ = envelope.fill(&mut Reader::new(start), &DecodeLimits::default());
    }
    DecodeError::Syntax {
        source: ReadError::syntax("UTF-8", end),
        sender: envelope.sender(),
    }
}

/// The error for input that is neither an object nor an array.
fn not_a_message(reader: &mut Reader<'_>) -> DecodeError {
    match reader.skip(0).and_then(|()| reader.end()) {
        Ok(()) => DecodeError::Invalid {
            fault: Fault::NotAnObject,
            sender: Sender::default(),
        },
        Err(source) => syntax(source),
    }
}

fn syntax(source: ReadError) -> DecodeError {
    DecodeError::Syntax {
        source,
        sender: Sender::default(),
    }
}

fn sender_of(incoming: &Incoming<'_>) -> Sender {
    match incoming {
        Incoming::Single(MessageRef::Request { id, .. }) => Sender {
            id: Some(id.clone()),
            side: Side::Asks,
        },
        Incoming::Single(MessageRef::Notification { .. }) => Sender {
            id: None,
            side: Side::Asks,
        },
        Incoming::Single(MessageRef::Response { id, .. }) => Sender {
            id: id.clone(),
            side: Side::Answers,
        },
        Incoming::Batch(_) => Sender::default(),
    }
}

/// The members of a message, unparsed.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<RawRef<'a>>,
    id: Option<RawRef<'a>>,
    method: Option<RawRef<'a>>,
    params: Option<RawRef<'a>>,
    result: Option<RawRef<'a>>,
    error: Option<RawRef<'a>>,
    /// Known from the name of a member, even if its value is truncated.
    side: Side,
    too_deep: bool,
}

impl<'a> Envelope<'a> {
    /// Collects the members; members before an error are kept.
    fn fill(&mut self, reader: &mut Reader<'a>, limits: &DecodeLimits) -> Result<(), ReadError> {
        let mut members = reader.object()?;
        while let Some(name) = members.next(reader)? {
            // A name with an unpaired surrogate is not one of ours.
            let name = name.decode().unwrap_or_default();
            match (&*name, self.side) {
                ("result" | "error", _) => self.side = Side::Answers,
                ("method", Side::Unclear) => self.side = Side::Asks,
                _ => {}
            }
            let value = match &*name {
                "result" => self.value(reader, limits, limits.result_depth())?,
                _ => self.value(reader, limits, 0)?,
            };
            match &*name {
                "jsonrpc" => self.jsonrpc = value,
                "id" => self.id = value,
                "method" => self.method = value,
                "params" => self.params = value,
                "result" => self.result = value,
                "error" => self.error = value,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a value that nests within the limits, or at most `deepest` levels. A deeper value is recorded and skipped,
    /// so that an id after it can still be read.
    fn value(
        &mut self,
        reader: &mut Reader<'a>,
        limits: &DecodeLimits,
        deepest: usize,
    ) -> Result<Option<RawRef<'a>>, ReadError> {
        let start = *reader;
        let mut taken = reader.raw(limits.depth().saturating_sub(1));
        if is_depth(&taken) && deepest > limits.depth() {
            *reader = start;
            taken = reader.raw_deep(deepest);
        }
        if is_depth(&taken) {
            *reader = start;
            reader.skip_brackets()?;
            self.too_deep = true;
            return Ok(None);
        }
        taken.map(|text| Some(RawRef::checked(text)))
    }

    fn message(&self) -> Result<MessageRef<'a>, Fault> {
        // Compared as text, not as bytes: JSON may write any character as an escape.
        if self.jsonrpc.and_then(text).as_deref() != Some("2.0") {
            return Err(Fault::Version);
        }
        let error = self.error.filter(|error| !error.is_null());
        let result = self
            .result
            .filter(|result| error.is_none() || !result.is_null());
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
                let error = Body::read(error).map_err(Fault::ErrorObject)?;
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

    fn asks(&self, method: RawRef<'a>) -> Result<MessageRef<'a>, Fault> {
        let method = text(method).ok_or(Fault::Method)?;
        let params = self.params.filter(|params| !params.is_null());
        if params.is_some_and(|params| !params.is_object()) {
            return Err(Fault::Params);
        }
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
            Some(raw) if !raw.is_null() => read_id(raw).map(Some).ok_or(Fault::Id),
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

fn is_depth(taken: &Result<&str, ReadError>) -> bool {
    matches!(taken, Err(error) if error.is_depth())
}

fn read_id(raw: RawRef<'_>) -> Option<RequestId> {
    match raw.get().parse::<i64>() {
        Ok(n) => Some(n.into()),
        Err(_) => raw.parse().ok(),
    }
}

fn text(raw: RawRef<'_>) -> Option<Cow<'_, str>> {
    Reader::new(raw.get()).string().ok()
}
