//! Answers and orders for a session that runs elsewhere.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::model::InputResponses;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::approval::{AnswerError, Decision};
use crate::tool::CallNumber;

/// The most orders that wait to be heard.
const MOST: usize = 256;

/// Speaks to a [`Session`](crate::Session) from another task. A cheap clone.
#[derive(Clone, Default)]
pub struct Handle {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    orders: Mutex<VecDeque<Order>>,
    wake: Notify,
}

/// Tells whether an answer counted.
pub(crate) type Verdict = oneshot::Sender<Result<(), AnswerError>>;

pub(crate) enum Order {
    Answer(CallNumber, Decision, Option<Verdict>),
    Supply(CallNumber, InputResponses, Option<Verdict>),
    Cancel,
}

impl Handle {
    /// Answers an approval. Returns when the session has heard it.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer does not count.
    pub async fn answer(
        &self,
        number: CallNumber,
        decision: impl Into<Decision>,
    ) -> Result<(), AnswerError> {
        let (verdict, heard) = oneshot::channel();
        self.give(Order::Answer(number, decision.into(), Some(verdict)))?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Answers what a server asked about a parked call. Returns when the session has heard it.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer does not count.
    pub async fn supply(
        &self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), AnswerError> {
        let (verdict, heard) = oneshot::channel();
        self.give(Order::Supply(number, answers, Some(verdict)))?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Cancels whatever is under way. The session ends in good order.
    pub fn cancel(&self) {
        let mut orders = self.shared.orders.lock();
        if !matches!(orders.front(), Some(Order::Cancel)) {
            orders.push_front(Order::Cancel);
        }
        self.shared.wake.notify_one();
    }

    pub(crate) fn give(&self, order: Order) -> Result<(), AnswerError> {
        let mut orders = self.shared.orders.lock();
        if orders.len() >= MOST {
            return Err(AnswerError::Busy);
        }
        orders.push_back(order);
        self.shared.wake.notify_one();
        Ok(())
    }

    pub(crate) fn take(&self) -> VecDeque<Order> {
        std::mem::take(&mut self.shared.orders.lock())
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
