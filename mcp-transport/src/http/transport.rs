//! One connection over Streamable HTTP.

use std::pin::{Pin, pin};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use tokio::sync::{OnceCell, Semaphore, watch};

use crate::http::Exchange;
use crate::http::connection::Connection;
use crate::{Delivery, Incoming, Outgoing, SendError, Transport, TransportError, TransportKind};

/// One connection over Streamable HTTP. Opened by [`HttpConnect`](crate::HttpConnect).
#[derive(Debug)]
pub struct HttpTransport {
    connection: Arc<Connection>,
    /// Has a permit for every request that may be in flight.
    window: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    closed: OnceCell<()>,
}

impl HttpTransport {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        Self {
            window: Arc::new(Semaphore::new(exchange.limits().requests_in_flight)),
            connection: Arc::new(Connection::new(exchange)),
            closing: watch::Sender::new(false),
            closed: OnceCell::new(),
        }
    }

    /// Sends a request; may return its response, that of an event stream only if `wants_response` is set.
    async fn request(
        &self,
        request: Outgoing,
        wants_response: bool,
    ) -> Result<Option<Vec<u8>>, SendError> {
        if *self.closing.borrow() {
            return Err(closed());
        }
        let permit = self.window.clone().acquire_owned().await;
        let permit = permit.map_err(|_| closed())?;
        let work = self.connection.request(request, wants_response, permit);
        self.while_open(pin!(work)).await
    }

    /// Performs `work` unless the connection is closed first.
    async fn while_open<T>(
        &self,
        work: Pin<&mut impl Future<Output = Result<T, SendError>>>,
    ) -> Result<T, SendError> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => {
                Err(SendError::new(TransportError::Closed, Delivery::Unknown))
            }
            done = work => done,
        }
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        if let Some(request) = message.request_id().cloned() {
            if let Some(body) = self.request(message, false).await? {
                self.connection.deliver(request, body).await;
            }
            return Ok(());
        }
        if *self.closing.borrow() {
            return Err(closed());
        }
        self.while_open(pin!(self.connection.notify(message))).await
    }

    async fn send_request(&self, request: Outgoing) -> Result<Option<Vec<u8>>, SendError> {
        self.request(request, true).await
    }

    async fn recv(&self) -> Incoming {
        self.connection.recv().await
    }

    fn release(&self, request: &RequestId) {
        self.connection.release(request);
    }

    async fn close(&self) {
        self.closing.send_replace(true);
        self.window.close();
        self.connection.abort();
        self.closed.get_or_init(|| self.connection.close()).await;
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Http
    }

    fn is_alive(&self) -> bool {
        !*self.closing.borrow()
    }
}

fn closed() -> SendError {
    SendError::new(TransportError::Closed, Delivery::NotSent)
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
