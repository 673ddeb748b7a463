//! Records what the client sends, on any transport.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use mcp_transport::{
    Connect, Incoming, Outgoing, ProcessExit, SendError, Transport, TransportError, TransportKind,
};
use serde_json::Value;
use tokio::sync::watch;

/// Everything that was sent so far, oldest first.
pub(crate) type Sent = watch::Sender<Vec<Value>>;

/// Connects as another does, and records what is sent.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) connect: Arc<dyn Connect>,
    pub(crate) sent: Sent,
    /// That of the last connection that was made.
    pub(crate) kind: watch::Sender<Option<TransportKind>>,
}

#[derive(Debug)]
struct Recording {
    transport: Arc<dyn Transport>,
    sent: Sent,
}

#[async_trait]
impl Connect for Recorded {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let transport = self.connect.connect().await?;
        self.kind.send_replace(Some(transport.kind()));
        let sent = self.sent.clone();
        Ok(Arc::new(Recording { transport, sent }))
    }

    fn target(&self) -> String {
        self.connect.target()
    }

    fn kind(&self) -> TransportKind {
        self.connect.kind()
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        let connect = self.connect.fallback()?;
        Some(Arc::new(Self {
            connect,
            sent: self.sent.clone(),
            kind: self.kind.clone(),
        }))
    }
}

#[async_trait]
impl Transport for Recording {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        let value = serde_json::from_slice(&message.body).unwrap();
        self.transport.send(message).await?;
        self.sent.send_modify(|sent| sent.push(value));
        Ok(())
    }

    async fn recv(&self) -> Incoming {
        self.transport.recv().await
    }

    fn release(&self, request: &RequestId) {
        self.transport.release(request);
    }

    async fn close(&self) {
        self.transport.close().await;
    }

    fn kind(&self) -> TransportKind {
        self.transport.kind()
    }

    fn is_alive(&self) -> bool {
        self.transport.is_alive()
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.transport.exit()
    }
}
