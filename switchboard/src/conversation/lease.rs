//! The lease of a conversation that this process drives.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::{AbortHandle, JoinHandle};

use crate::conversation::error::ConversationError;
use crate::conversation::recorder::Recorder;
use crate::store::{Change, ConversationId, LeaseId, RunId, Store, StoreError, heartbeat};

/// A lease that this process holds: renewed until it is dropped, then released.
#[derive(Debug)]
pub(super) struct Held {
    store: Arc<dyn Store>,
    conversation: ConversationId,
    id: LeaseId,
    heartbeat: AbortHandle,
    released: bool,
}

impl Held {
    /// Keeps a lease that was just acquired. Must be called within a tokio runtime.
    fn keep(store: &Arc<dyn Store>, conversation: &ConversationId, id: LeaseId) -> Self {
        let renewal = Change::RenewLease(conversation.clone(), id.clone());
        let task = tokio::spawn(renew(Arc::clone(store), renewal));
        Self {
            store: Arc::clone(store),
            conversation: conversation.clone(),
            id,
            heartbeat: task.abort_handle(),
            released: false,
        }
    }

    pub(super) fn renewal(&self) -> Change {
        Change::RenewLease(self.conversation.clone(), self.id.clone())
    }

    fn release(&self) -> Change {
        Change::ReleaseLease(self.conversation.clone(), self.id.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.heartbeat.abort();
        if let (false, Ok(runtime)) = (self.released, Handle::try_current()) {
            let (store, release) = (Arc::clone(&self.store), self.release());
            // If it is not given back, the next holder gets it after a time-out.
            runtime.spawn(async move { store.commit(vec![release]).await });
        }
    }
}

/// A lease that is being acquired. If this is dropped, the lease is released as soon as it is
/// acquired.
pub(super) type Acquiring = JoinHandle<Result<Held, StoreError>>;

/// Acquires the lease of a conversation: as its run is known, or however it is. Must be called
/// within a tokio runtime.
pub(super) fn acquire(
    store: &Arc<dyn Store>,
    conversation: &ConversationId,
    known: Option<(RunId, u64)>,
) -> Acquiring {
    let (store, conversation) = (Arc::clone(store), conversation.clone());
    tokio::spawn(async move {
        let id = LeaseId::fresh();
        let wanted = acquisition(&store, &conversation, id.clone(), known);
        store.commit(vec![wanted]).await?;
        Ok(Held::keep(&store, &conversation, id))
    })
}

/// What came of it.
pub(super) async fn acquired(acquiring: &mut Acquiring) -> Result<Held, ConversationError> {
    // The task is aborted only with the runtime.
    let held = acquiring.await.unwrap_or(Err(StoreError::Closed));
    held.map_err(ConversationError::from)
}

fn acquisition(
    store: &Arc<dyn Store>,
    conversation: &ConversationId,
    id: LeaseId,
    known: Option<(RunId, u64)>,
) -> Change {
    Change::AcquireLease {
        conversation: conversation.clone(),
        id,
        holder: store.holder().clone(),
        timeout: store.lease_timeout(),
        known,
    }
}

/// Renews a lease from time to time, until it is lost. A store that fails now may work again.
async fn renew(store: Arc<dyn Store>, renewal: Change) {
    loop {
        tokio::time::sleep(heartbeat(store.lease_timeout())).await;
        let renewed = store.commit(vec![renewal.clone()]).await;
        if let Err(StoreError::Conflict { .. } | StoreError::Closed) = renewed {
            return;
        }
    }
}

/// What becomes of the lease with a commit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum After {
    /// There is more to drive.
    Keep,
    /// The answer is over, or waits for the user, whichever process they use.
    Release,
}

impl Recorder {
    /// Acquires the lease, if this process does not have it: nothing is driven without it. Cancel
    /// safe: what was begun goes on the next time.
    pub(super) async fn hold(&mut self) -> Result<(), ConversationError> {
        if self.lease.is_some() {
            return Ok(());
        }
        let known = self.known();
        let (store, id) = (&self.store, &self.conversation.id);
        let acquiring = self
            .acquiring
            .get_or_insert_with(|| acquire(store, id, known));
        let held = acquired(acquiring).await;
        self.acquiring = None;
        self.stale |= held.is_err();
        self.lease = Some(held?);
        Ok(())
    }

    /// The run as it was last stored: if it has been moved on since, that is a conflict.
    fn known(&self) -> Option<(RunId, u64)> {
        let run = &self.run;
        (run.revision > 0).then(|| (run.id.clone(), run.revision))
    }

    /// Commits changes under the lease, which is acquired if necessary and kept.
    pub(super) async fn commit(&mut self, changes: Vec<Change>) -> Result<(), ConversationError> {
        self.commit_then(changes, After::Keep).await
    }

    /// Commits changes under the lease, which is acquired if necessary. Refused once another
    /// process has taken over.
    pub(super) async fn commit_then(
        &mut self,
        changes: Vec<Change>,
        after: After,
    ) -> Result<(), ConversationError> {
        if self.acquiring.is_some() {
            self.hold().await?;
        }
        let id = &self.conversation.id;
        // A conversation is stored before it is leased.
        let puts = |change: &Change| matches!(change, Change::PutConversation(_));
        let place = match changes.first() {
            Some(first) if puts(first) => 1,
            _ => 0,
        };
        let (mut all, rest) = {
            let mut first = changes;
            let rest = first.split_off(place);
            (first, rest)
        };
        let mut acquired = None;
        match &self.lease {
            Some(held) => all.insert(0, held.renewal()),
            None => {
                let lease = LeaseId::fresh();
                // A change of the run shows by itself whether it was moved on.
                let moves = |change: &Change| matches!(change, Change::PutRun(_));
                let known = self.known().filter(|_| !rest.iter().any(moves));
                all.push(acquisition(&self.store, id, lease.clone(), known));
                acquired = Some(lease);
            }
        }
        all.extend(rest);
        if after == After::Release {
            let acquired = acquired.clone();
            let acquired = acquired.map(|lease| Change::ReleaseLease(id.clone(), lease));
            all.extend(acquired.or_else(|| self.lease.as_ref().map(Held::release)));
        }
        if let Err(error) = self.store.commit(all).await {
            // What is in memory is not what is stored.
            self.stale = true;
            return Err(error.into());
        }
        match (after, acquired) {
            (After::Keep, Some(lease)) => self.lease = Some(Held::keep(&self.store, id, lease)),
            (After::Keep, None) => {}
            (After::Release, _) => {
                if let Some(mut held) = self.lease.take() {
                    held.released = true;
                }
            }
        }
        Ok(())
    }
}
