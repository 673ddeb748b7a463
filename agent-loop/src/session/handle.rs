//! Answers and orders for a session that runs elsewhere.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::model::InputResponses;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::approval::{AnswerError, Consent, Decision};
use crate::run::number::CallNumber;

/// The most orders that wait to be heard.
const MOST: usize = 256;

/// Speaks to a [`Session`](crate::Session) from another task. A cheap clone.
#[derive(Clone, Default)]
pub struct Handle {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    orders: Mutex<Orders>,
    wake: Notify,
}

#[derive(Default)]
struct Orders {
    queue: VecDeque<Order>,
    /// Nobody hears them any more.
    over: bool,
}

/// Tells whether an answer counted.
pub(crate) type Verdict = oneshot::Sender<Result<(), AnswerError>>;

pub(crate) enum Order {
    Answer(Consent, Decision, Verdict),
    Supply(CallNumber, InputResponses, Verdict),
    Cancel,
}

impl Handle {
    /// Answers an approval, as it was shown. Returns when the session has heard it, or is over.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer does not count.
    pub async fn answer(
        &self,
        shown: &Consent,
        decision: impl Into<Decision>,
    ) -> Result<(), AnswerError> {
        let number = shown.call;
        let (verdict, heard) = oneshot::channel();
        let order = Order::Answer(shown.clone(), decision.into(), verdict);
        self.give(number, order)?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Answers what a server asked about a parked call. Returns when the session has heard it, or
    /// is over.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer does not count.
    pub async fn supply(
        &self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), AnswerError> {
        let (verdict, heard) = oneshot::channel();
        self.give(number, Order::Supply(number, answers, verdict))?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Cancels whatever is under way. The session ends in good order.
    pub fn cancel(&self) {
        let mut orders = self.shared.orders.lock();
        if !orders.over && !matches!(orders.queue.front(), Some(Order::Cancel)) {
            orders.queue.push_front(Order::Cancel);
        }
        self.shared.wake.notify_one();
    }

    /// Hands over an order about this call.
    pub(crate) fn give(&self, number: CallNumber, order: Order) -> Result<(), AnswerError> {
        let mut orders = self.shared.orders.lock();
        if orders.over {
            return Err(AnswerError::NotAsked(number));
        }
        if orders.queue.len() >= MOST {
            return Err(AnswerError::Busy);
        }
        orders.queue.push_back(order);
        self.shared.wake.notify_one();
        Ok(())
    }

    pub(crate) fn take(&self) -> VecDeque<Order> {
        std::mem::take(&mut self.shared.orders.lock().queue)
    }

    /// The session is over: whoever waits to be heard is told so.
    pub(crate) fn close(&self) {
        let unheard = {
            let mut orders = self.shared.orders.lock();
            orders.over = true;
            std::mem::take(&mut orders.queue)
        };
        drop(unheard);
    }

    pub(crate) async fn woken(&self) {
        self.shared.wake.notified().await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
