//! Faults in the responses to requests, for every kind of connection and both eras.

use serde_json::{Value, json};

use super::{Fault, Kind};
use crate::Era;
use crate::protocol::{Piece, era_of};

/// Changes the responses to some requests.
#[derive(Clone, Copy)]
pub(crate) struct Twist {
    /// The methods whose responses are changed.
    pub(crate) on: &'static [&'static str],
    pub(crate) times: Times,
    /// What is sent instead of the correct response.
    pub(crate) make: fn(&Asked<'_>) -> Vec<Piece>,
}

/// The affected requests.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Times {
    First,
    Every,
}

/// A request and the response of a well-behaved server.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Value,
    pub(crate) good: &'a Value,
    /// The number of this request among those of its method.
    pub(crate) nth: u64,
}

impl Asked<'_> {
    /// The request's id.
    pub(crate) fn id(&self) -> &Value {
        self.request.get("id").unwrap_or(&Value::Null)
    }

    /// The correct response.
    pub(crate) fn good(&self) -> Piece {
        self.good.into()
    }

    /// The text in the correct response.
    pub(crate) fn text(&self) -> &str {
        let text = self.good.pointer("/result/content/0/text");
        text.and_then(Value::as_str).unwrap_or_default()
    }

    /// A response with this result; modern results are marked as complete.
    pub(crate) fn result(&self, mut result: Value) -> Piece {
        if let (Era::Modern, Some(members)) = (era_of(self.request), result.as_object_mut()) {
            members
                .entry("resultType")
                .or_insert_with(|| "complete".into());
        }
        (&crate::protocol::result(self.id(), &result)).into()
    }

    /// A response with this text.
    pub(crate) fn result_text(&self, text: &str) -> Piece {
        self.result(json!({"content": [{"type": "text", "text": text}]}))
    }

    /// A message of these bytes, in which `ID` stands for the request's id.
    pub(crate) fn raw(&self, message: &str) -> Piece {
        Piece::Message(message.replace("ID", &self.id().to_string()).into_bytes())
    }

    /// The correct response with one member of its result set, or removed.
    pub(crate) fn with(&self, member: &str, value: Option<Value>) -> Piece {
        let mut message = self.good.clone();
        if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
            match value {
                Some(value) => result.insert(member.to_owned(), value),
                None => result.shift_remove(member),
            };
        }
        (&message).into()
    }

    /// The caller's progress token.
    pub(crate) fn progress_token(&self) -> Value {
        let token = self.request.pointer("/params/_meta/progressToken");
        token.cloned().unwrap_or_else(|| "no-token".into())
    }
}

impl Fault {
    /// Changes the response to the first `tools/call`.
    pub(super) const fn call(
        name: &'static str,
        about: &'static str,
        make: fn(&Asked<'_>) -> Vec<Piece>,
    ) -> Self {
        Self::twist(name, about, &["tools/call"], Times::First, make)
    }

    /// Changes the response to the handshake of either era.
    pub(super) const fn greeting(
        name: &'static str,
        about: &'static str,
        make: fn(&Asked<'_>) -> Vec<Piece>,
    ) -> Self {
        Self::twist(
            name,
            about,
            &["initialize", "server/discover"],
            Times::Every,
            make,
        )
    }

    pub(super) const fn twist(
        name: &'static str,
        about: &'static str,
        on: &'static [&'static str],
        times: Times,
        make: fn(&Asked<'_>) -> Vec<Piece>,
    ) -> Self {
        Self::new(name, about, Kind::Twist(Twist { on, times, make }))
    }
}

impl Twist {
    /// Whether this request's response is changed.
    pub(crate) fn applies(&self, method: &str, nth: u64) -> bool {
        self.on.contains(&method) && (self.times == Times::Every || nth == 1)
    }
}
