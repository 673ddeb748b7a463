//! Conversations under way: each a task that drives its answer, for as long as there is something
//! to drive.
//!
//! Whatever is asked of a conversation is an [`Order`] to its task, one after the other. A task
//! that only waits for people ends; the next order loads the conversation again. So a waiting
//! conversation costs nothing, and after a restart it is just the same.

mod confirm;
mod order;
mod prepare;
mod supply;
mod work;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::demo::DemoModel;
use crate::serve::app;
use crate::serve::error::ApiError;
use crate::serve::fleet::Fleet;
use crate::store::{ConversationId, Store, StoreError, UserId};

pub(crate) use confirm::{Confirm, Scope, Verdict};
pub(crate) use order::{Edit, Order, Reply};
pub(crate) use supply::check;

/// So many conversations are driven at a time; more wait for their turn.
const ACTIVE: usize = 256;
/// So many orders wait for a conversation; more are refused.
const ORDERS: usize = 64;
/// How often answers are looked for that another process left behind.
const SWEEP: Duration = Duration::from_secs(5);
/// How long answers under way may take to be settled when the program ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Conversations under way: a cheap clone.
#[derive(Clone)]
pub(crate) struct Runs {
    shared: Arc<Shared>,
}

/// The same, without keeping them.
#[derive(Clone)]
pub(crate) struct WeakRuns {
    shared: Weak<Shared>,
}

impl WeakRuns {
    /// Has a conversation's task do something if it is at work; no task is started for it.
    pub(crate) async fn order_active<T>(
        &self,
        conversation: &ConversationId,
        order: impl FnOnce(Reply<T>) -> Order,
    ) -> Result<T, ApiError> {
        let over = || StoreError::Closed.into();
        let (reply, answer) = oneshot::channel();
        {
            let shared = self.shared.upgrade().ok_or_else(over)?;
            let active = shared.active.lock();
            let orders = active.get(conversation).ok_or_else(over)?;
            let sent = orders.try_send(order(reply));
            sent.map_err(|_| ApiError::rate_limited(1))?;
        }
        answer.await.unwrap_or_else(|_| Err(over()))
    }
}

struct Shared {
    store: Arc<dyn Store>,
    fleet: Fleet,
    demo: Arc<DemoModel>,
    closing: watch::Receiver<bool>,
    gate: Semaphore,
    active: Mutex<HashMap<ConversationId, mpsc::Sender<Order>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Runs {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        fleet: Fleet,
        demo: Arc<DemoModel>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let shared = Shared {
            store,
            fleet,
            demo,
            closing,
            gate: Semaphore::new(ACTIVE),
            active: Mutex::default(),
            tasks: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A handle that does not keep them.
    pub(crate) fn downgrade(&self) -> WeakRuns {
        WeakRuns {
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// Has a conversation's task do something, and waits for its word.
    pub(crate) async fn order<T>(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        order: impl FnOnce(Reply<T>) -> Order,
    ) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        self.give(user, conversation, order(reply))?;
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Takes up what was under way when the store was last used: calls that ran then are settled,
    /// questions stay open, and an answer that was cut off is over and can be continued.
    pub(crate) async fn recover(&self, user: &UserId) -> Result<(), StoreError> {
        let unfinished = self.shared.store.unfinished(user).await?;
        for standing in self.shared.store.standings(&unfinished).await? {
            // One that only waits for people is as it was.
            if standing.waiting > 0 && standing.invoking == 0 {
                continue;
            }
            let id = standing.conversation_id;
            if self.shared.active.lock().contains_key(&id) {
                continue;
            }
            // One that cannot be read must not keep the others from being served; one that another
            // process moves on is passed over.
            let _ = self
                .order(user, &id, |reply| Order::Recover { reply })
                .await;
        }
        Ok(())
    }

    /// Takes up what other processes leave behind, from time to time, until the program ends.
    pub(crate) fn watch_over(&self, users: Vec<UserId>) {
        let (runs, mut closing) = (self.clone(), self.shared.closing.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = app::closed(&mut closing) => return,
                    () = tokio::time::sleep(SWEEP) => {}
                }
                for user in &users {
                    // If the store fails now, it may work the next time.
                    let _ = runs.recover(user).await;
                }
            }
        });
    }

    /// Cancels what is under way, and returns when all of it is stored.
    pub(crate) async fn stop(&self) {
        let mut tasks = std::mem::take(&mut *self.shared.tasks.lock());
        let all = async { while tasks.join_next().await.is_some() {} };
        // Who does not end in time is cut off, as by a crash.
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }

    /// Drops what is under way, as a crash would.
    pub(crate) fn abandon(&self) {
        drop(std::mem::take(&mut *self.shared.tasks.lock()));
    }

    /// Hands an order to a conversation's task, which is started if there is none.
    fn give(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        order: Order,
    ) -> Result<(), ApiError> {
        if *self.shared.closing.borrow() {
            return Err(StoreError::Closed.into());
        }
        // A task looks under the same lock whether it may leave: no order is lost.
        let mut active = self.shared.active.lock();
        if let Some(orders) = active.get(conversation)
            && !orders.is_closed()
        {
            return orders
                .try_send(order)
                .map_err(|_| ApiError::rate_limited(1));
        }
        let (orders, queue) = mpsc::channel(ORDERS);
        let sent = orders.try_send(order);
        sent.map_err(|_| ApiError::rate_limited(1))?;
        active.insert(conversation.clone(), orders);
        let shared = Arc::clone(&self.shared);
        let task = work::work(shared, user.clone(), conversation.clone(), queue);
        let mut tasks = self.shared.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
        Ok(())
    }
}

impl Shared {
    /// The next order; nothing if there is none, and then the task has left.
    fn next(&self, id: &ConversationId, orders: &mut mpsc::Receiver<Order>) -> Option<Order> {
        let mut active = self.active.lock();
        let order = orders.try_recv().ok();
        if order.is_none() {
            active.remove(id);
        }
        order
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs")
            .field("active", &self.shared.active.lock().len())
            .finish_non_exhaustive()
    }
}
