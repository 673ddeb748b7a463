//! One connection over Streamable HTTP.

use std::pin::{Pin, pin};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use tokio::sync::{OnceCell, Semaphore, watch};

use crate::http::Exchange;
use crate::http::lanes::Lanes;
use crate::http::link::Link;
use crate::{Delivery, Incoming, Outgoing, SendError, Shape, Transport, TransportError};

/// One connection over Streamable HTTP. Opened by [`HttpConnect`](crate::HttpConnect).
#[derive(Debug)]
pub struct HttpTransport {
    link: Arc<Link>,
    /// Has a permit for every request that may be under way.
    window: Arc<Semaphore>,
    lanes: Arc<Lanes>,
    closing: watch::Sender<bool>,
    closed: OnceCell<()>,
}

impl HttpTransport {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        Self {
            window: Arc::new(Semaphore::new(exchange.limits().requests_in_flight)),
            lanes: Arc::default(),
            link: Arc::new(Link::new(exchange)),
            closing: watch::Sender::new(false),
            closed: OnceCell::new(),
        }
    }

    /// Sends a request; may return its answer, of an event stream only if it `is_awaited` here.
    async fn request(
        &self,
        request: Outgoing,
        is_awaited: bool,
    ) -> Result<Option<Vec<u8>>, SendError> {
        if *self.closing.borrow() {
            return Err(closed());
        }
        let permit = self.window.clone().acquire_owned().await;
        let permit = permit.map_err(|_| closed())?;
        let lane = self.lanes.enter().await.map_err(|_| closed())?;
        self.while_open(pin!(self.link.request(request, is_awaited, permit, lane)))
            .await
    }

    /// Does `work` unless the connection is closed first.
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
                self.link.deliver(request, body).await;
            }
            return Ok(());
        }
        if *self.closing.borrow() {
            return Err(closed());
        }
        self.while_open(pin!(self.link.tell(message))).await
    }

    async fn ask(&self, request: Outgoing) -> Result<Option<Vec<u8>>, SendError> {
        self.request(request, true).await
    }

    async fn recv(&self) -> Incoming {
        self.link.recv().await
    }

    fn release(&self, request: &RequestId) {
        self.link.release(request);
    }

    async fn close(&self) {
        self.closing.send_replace(true);
        self.window.close();
        self.lanes.close();
        self.link.abort();
        self.closed.get_or_init(|| self.link.say_goodbye()).await;
    }

    fn shape(&self) -> Shape {
        Shape::Http
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
        self.link.abort();
    }
}
