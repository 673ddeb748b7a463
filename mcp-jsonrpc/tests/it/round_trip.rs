//! Writes arbitrary values, checks that they read back as they were, and hands the JSON on.

use std::fmt::Debug;

use mcp_jsonrpc::{
    Body, DecodeLimits, Incoming, Message, MessageRef, Method, NotificationMethod, RawRef, decode,
    encode_error, encode_notification, encode_request, encode_result, parse_params,
};
use serde_json::Value;

use crate::arbitrary::Gen;
use crate::arbitrary::message::message;
use crate::arbitrary::task::error;

/// An object by itself.
pub(crate) fn body<T: Body + PartialEq + Debug>(g: &mut Gen, make: fn(&mut Gen) -> T) -> Value {
    let made = make(g);
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(
        T::read(RawRef::from_text(&text).unwrap()).unwrap(),
        made,
        "{text}"
    );
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), made, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// A request of the method `M`.
pub(crate) fn request<M: Method<Params: PartialEq + Debug>>(
    g: &mut Gen,
    make: fn(&mut Gen) -> M::Params,
) -> Value {
    let (id, params) = (g.id(), make(g));
    let mut out = Vec::new();
    encode_request(&mut out, &id, M::NAME, &params).unwrap();
    let Incoming::Single(MessageRef::Request {
        id: got,
        method,
        params: raw,
    }) = read(&out)
    else {
        panic!("not a request")
    };
    assert_eq!((got, method.as_ref()), (id, M::NAME));
    assert_eq!(parse_params::<M::Params>(raw).unwrap(), params);
    serde_json::from_slice(&out).unwrap()
}

/// A notification of the method `N`.
pub(crate) fn notification<N: NotificationMethod<Params: PartialEq + Debug>>(
    g: &mut Gen,
    make: fn(&mut Gen) -> N::Params,
) -> Value {
    let params = make(g);
    let mut out = Vec::new();
    encode_notification(&mut out, N::NAME, &params).unwrap();
    let Incoming::Single(MessageRef::Notification {
        method,
        params: raw,
    }) = read(&out)
    else {
        panic!("not a notification")
    };
    assert_eq!(method, N::NAME);
    assert_eq!(parse_params::<N::Params>(raw).unwrap(), params);
    serde_json::from_slice(&out).unwrap()
}

/// The answer to a request of the method `M`.
pub(crate) fn response<M: Method<Output: PartialEq + Debug>>(
    g: &mut Gen,
    make: fn(&mut Gen) -> M::Output,
) -> Value {
    let (id, result) = (g.id(), make(g));
    let mut out = Vec::new();
    encode_result(&mut out, &id, &result).unwrap();
    let Incoming::Single(MessageRef::Response {
        id: got,
        outcome: Ok(raw),
    }) = read(&out)
    else {
        panic!("not a result")
    };
    assert_eq!(got, Some(id));
    assert_eq!(M::Output::read(raw).unwrap(), result);
    serde_json::from_slice(&out).unwrap()
}

/// An error; every revision but the last two wants its id.
pub(crate) fn error_response(g: &mut Gen) -> Value {
    let (id, error) = (g.id(), error(g));
    let mut out = Vec::new();
    encode_error(&mut out, Some(&id), &error).unwrap();
    let Incoming::Single(MessageRef::Response {
        id: got,
        outcome: Err(read),
    }) = read(&out)
    else {
        panic!("not an error")
    };
    assert_eq!((got, read), (Some(id), error));
    serde_json::from_slice(&out).unwrap()
}

/// Any message whose body is an object, as MCP wants it.
pub(crate) fn any_message(g: &mut Gen) -> Value {
    let mut message = message(g);
    if let Message::Response(response) = &mut message {
        response.id = Some(g.id());
        if response.outcome.is_ok() {
            let mut result = g.object();
            if g.revision.has_result_type() {
                result.insert("resultType".to_owned(), "complete".into());
            }
            response.outcome = Ok(mcp_jsonrpc::RawJson::from_serialize(&result).unwrap());
        }
    }
    let mut out = Vec::new();
    message.encode(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn read(bytes: &[u8]) -> Incoming<'_> {
    decode(bytes, &DecodeLimits::default()).unwrap()
}
