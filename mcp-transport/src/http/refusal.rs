//! Responses other than success, and what they imply about delivery.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::RETRY_AFTER;

use crate::http::HttpLimits;
use crate::http::body::{Body, ReadRate};
use crate::http::redirect::shown;
use crate::{Delivery, HttpFailure, SendError, TransportError};

/// The time limit for the body of an error response.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(2);

/// Turns a response other than success into an error, with the start of its body.
pub(crate) async fn refusal(response: Response, limits: &HttpLimits) -> SendError {
    let status = response.status().as_u16();
    let failure = HttpFailure {
        status,
        url: shown(response.url()),
        retry_after: retry_after(&response),
        body: Body::new(response, ReadRate::within(BODY_TIME))
            .start(limits.error_body_bytes)
            .await,
    };
    SendError::new(TransportError::Http(failure), delivery(status))
}

/// Reads and discards a body, if it is short, so that the connection can be reused.
pub(crate) async fn discard(response: Response, limits: &HttpLimits) {
    let limit = limits.error_body_bytes;
    if response
        .content_length()
        .is_some_and(|length| length <= limit as u64)
    {
        Body::new(response, ReadRate::within(BODY_TIME))
            .start(limit)
            .await;
    }
}

/// What a status other than success implies about the message's delivery.
///
/// `NotSent` only where the status means that the server rejected the message unread: because of permission, address,
/// form or capacity. After any other 4xx the server has read and judged the message; after a 5xx it is unknown how far
/// it got.
pub(crate) fn delivery(status: u16) -> Delivery {
    match status {
        300..400 => Delivery::NotSent,
        401 | 403 | 404 | 405 | 406 | 407 | 411 | 413 | 414 | 415 | 417 | 421 | 426 | 429 | 431 => {
            Delivery::NotSent
        }
        400..500 => Delivery::Sent,
        _ => Delivery::Unknown,
    }
}

/// `Retry-After` in seconds. Its other form, a date, is not read: it would need a trusted clock.
fn retry_after(response: &Response) -> Option<Duration> {
    let header = response.headers().get(RETRY_AFTER)?;
    header
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_at_the_door_proves_that_nothing_was_done() {
        for status in [301, 307, 401, 403, 404, 405, 406, 413, 415, 429] {
            assert_eq!(delivery(status), Delivery::NotSent, "{status}");
        }
        for status in [400, 409, 410, 422, 499] {
            assert_eq!(delivery(status), Delivery::Sent, "{status}");
        }
        for status in [500, 502, 503, 504, 599] {
            assert_eq!(delivery(status), Delivery::Unknown, "{status}");
        }
    }
}
