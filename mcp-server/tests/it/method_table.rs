//! That the property of the four cells is about the whole method table: the requests that really cross the wire.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Client, EraMode};
use mcp_jsonrpc::{DecodeLimits, Incoming as Decoded, MessageRef, decode};
use mcp_server::Eras;
use mcp_transport::memory::MemoryConnect;
use mcp_transport::{
    Connect, Incoming, Outgoing, SendError, Transport, TransportError, TransportKind,
};
use parking_lot::Mutex;

use crate::four_cells::{ACTS, Act, METHODS, request, service};
use crate::kit::{Alive, MODERN, Obliging, everything, listen};

/// The methods of the requests that crossed, as `→` to the server and `←` to the client.
type Seen = Arc<Mutex<BTreeSet<String>>>;

/// A connection that notes what crosses it.
#[derive(Debug)]
struct Tap(Arc<dyn Transport>, Seen);

impl Tap {
    fn note(&self, way: &str, body: &[u8]) {
        if let Ok(Decoded::Single(MessageRef::Request { method, .. })) =
            decode(body, &DecodeLimits::default())
        {
            self.1.lock().insert(format!("{way} {method}"));
        }
    }
}

#[async_trait]
impl Transport for Tap {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        self.note("→", &message.body);
        self.0.send(message).await
    }

    async fn recv(&self) -> Incoming {
        let incoming = self.0.recv().await;
        if let Incoming::Message { body, .. } = &incoming {
            self.note("←", body);
        }
        incoming
    }

    fn release(&self, request: &mcp_jsonrpc::RequestId) {
        self.0.release(request);
    }

    async fn close(&self) {
        self.0.close().await;
    }

    fn kind(&self) -> TransportKind {
        self.0.kind()
    }
}

#[derive(Debug)]
struct TapConnect(MemoryConnect, Seen);

#[async_trait]
impl Connect for TapConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let connection = self.0.connect().await?;
        Ok(Arc::new(Tap(connection, Arc::clone(&self.1))))
    }

    fn target(&self) -> String {
        self.0.target()
    }

    fn kind(&self) -> TransportKind {
        self.0.kind()
    }
}

/// What crosses the wire when every method is requested, with every act that comes to a good end.
async fn seen(mode: EraMode, eras: Eras) -> String {
    let seen = Seen::default();
    let service = service(eras, &Alive::default());
    let connect = TapConnect(listen(&service), Arc::clone(&seen));
    let client = Client::builder(connect)
        .era(mode)
        .host(Obliging::default(), everything())
        .tasks()
        .connect()
        .await
        .unwrap();
    for method in METHODS {
        for (index, act) in ACTS.iter().enumerate() {
            if ![Act::Hang, Act::Panic].contains(act) && (index == 0 || method.acts()) {
                let _ = request(client.clone(), service.clone(), method, index).await;
            }
        }
    }
    client.close().await;
    let seen: Vec<String> = seen.lock().iter().cloned().collect();
    seen.join("\n")
}

/// Every request of the revision 2025-11-25 but `ping` from the server, and one of an extension that it does not have.
#[tokio::test(start_paused = true)]
async fn the_four_cells_make_every_request_of_the_legacy_era() {
    insta::assert_snapshot!(seen(EraMode::Legacy, Eras::Legacy).await, @"
    ← elicitation/create
    ← roots/list
    ← sampling/createMessage
    → completion/complete
    → initialize
    → logging/setLevel
    → ping
    → prompts/get
    → prompts/list
    → resources/directory/read
    → resources/list
    → resources/read
    → resources/subscribe
    → resources/templates/list
    → resources/unsubscribe
    → tasks/cancel
    → tasks/get
    → tasks/list
    → tasks/result
    → tools/call
    → tools/list
    ");
}

/// Every request of the revision 2026-07-28 and of the extensions for tasks and skills.
#[tokio::test(start_paused = true)]
async fn the_four_cells_make_every_request_of_the_modern_era() {
    insta::assert_snapshot!(seen(MODERN, Eras::Modern).await, @"
    → completion/complete
    → prompts/get
    → prompts/list
    → resources/directory/read
    → resources/list
    → resources/read
    → resources/templates/list
    → server/discover
    → skills/get
    → skills/list
    → subscriptions/listen
    → tasks/cancel
    → tasks/get
    → tasks/update
    → tools/call
    → tools/list
    ");
}
