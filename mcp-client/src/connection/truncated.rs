//! The information in the beginning of a discarded message. Pure.

use mcp_jsonrpc::{DecodeError, RequestId, Side, decode};

/// The parts that could be read.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Head {
    /// The message's id.
    pub(crate) id: Option<RequestId>,
    /// Whether it is a request or a response.
    pub(crate) side: Side,
}

/// Reads the first bytes of a message.
///
/// The decoder fails at the cut with a syntax error that carries what it has read so far.
pub(crate) fn peek(head: &[u8]) -> Head {
    match decode(head, &mcp_jsonrpc::DecodeLimits::default()) {
        Err(error @ DecodeError::Syntax { .. }) => Head {
            id: error.id().cloned(),
            side: error.side(),
        },
        _ => Head {
            id: None,
            side: Side::Unclear,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, id: Option<i64>, side: Side) {
        assert_eq!(
            peek(head.as_bytes()),
            Head {
                id: id.map(RequestId::from),
                side
            }
        );
    }

    #[test]
    fn the_beginning_reveals_the_message() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"te"#,
            Some(7),
            Side::Answers,
        );
        check(r#"{"result":{"content":[{"te"#, None, Side::Answers);
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#,
            None,
            Side::Asks,
        );
        check(
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"#,
            Some(3),
            Side::Asks,
        );
        check("xxxxxxxx", None, Side::Unclear);
    }
}
