//! A request that a fault may handle.

use std::io;
use std::pin::Pin;

use serde_json::Value;

use crate::log::Origin;
use crate::protocol::{Out, Piece, Session};
use crate::wire::{Conn, HttpRequest, Site};

/// A fault's handler of a request.
pub(crate) type HttpFn = for<'a> fn(&'a mut Hit<'_>) -> Doing<'a>;

/// The future of a handler. An error ends the connection.
pub(crate) type Doing<'a> = Pin<Box<dyn Future<Output = io::Result<()>> + Send + 'a>>;

/// The requests a fault handles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum On {
    /// Connections, before anything is read.
    Connect,
    /// Every request.
    Any,
    /// Every POST.
    Post,
    /// Every GET.
    Get,
    /// The first `tools/call`.
    FirstCall,
    /// Every `tools/call`.
    Call,
    /// Every `subscriptions/listen`.
    Listen,
}

/// A request, its origin, and the connection for the response.
pub(crate) struct Hit<'a> {
    pub(crate) site: &'a Site,
    pub(crate) conn: &'a mut Conn,
    pub(crate) http: &'a HttpRequest,
    /// The JSON-RPC message in the body; null if there is none.
    pub(crate) message: Value,
}

impl<'a> Hit<'a> {
    pub(crate) fn new(site: &'a Site, conn: &'a mut Conn, http: &'a HttpRequest) -> Self {
        let message = serde_json::from_slice(&http.body).unwrap_or_default();
        Self {
            site,
            conn,
            http,
            message,
        }
    }

    /// Whether these requests include this one.
    pub(crate) fn is(&self, on: On) -> bool {
        if self.site.origin == Origin::Second {
            return false;
        }
        match on {
            On::Connect => false,
            On::Any => true,
            On::Post => self.http.method == "POST",
            On::Get => self.http.method == "GET",
            On::Call => self.is_method("tools/call"),
            On::Listen => self.is_method("subscriptions/listen"),
            On::FirstCall => self.is_method("tools/call") && self.site.world.nth("first call") == 1,
        }
    }

    pub(crate) fn is_method(&self, method: &str) -> bool {
        self.message.get("method").is_some_and(|m| m == method) && self.message.get("id").is_some()
    }

    /// Behaves like a well-behaved server.
    pub(crate) async fn behave(&mut self) -> io::Result<()> {
        self.site.behave(self.conn, self.http).await
    }

    /// The response of a well-behaved server.
    pub(crate) async fn good(&self) -> Vec<u8> {
        let (out, _) = Out::channel();
        let session = Session::new(&self.site.world);
        let headers = Some(&self.http.headers);
        let reply = session.answer(&self.message, &out, headers).await;
        match reply.pieces.into_iter().next() {
            Some(Piece::Message(bytes)) => bytes,
            _ => Vec::new(),
        }
    }

    /// The request's id, as on the wire.
    pub(crate) fn id(&self) -> String {
        self.message
            .get("id")
            .map(Value::to_string)
            .unwrap_or_default()
    }

    /// The beginning of a response, up to the start of its text.
    pub(crate) fn text_prefix(&self) -> Vec<u8> {
        let id = self.id();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":""#)
            .into_bytes()
    }

    /// Records a milestone in the log.
    pub(crate) fn mark(&self, name: &str) {
        self.site.world.log.mark(name, self.conn.number);
    }
}
