//! The lease of a conversation that this process moves on.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::session::error::SessionError;
use crate::session::ledger::Ledger;
use crate::store::{
    Change, ConversationId, LEASE_HEARTBEAT, LEASE_TIMEOUT, LeaseId, Store, StoreError,
};

/// A lease that this process holds: renewed until it is dropped, and given back then.
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

/// Renews a lease from time to time, until it is lost. A store that fails now may work again.
async fn renew(store: Arc<dyn Store>, renewal: Change) {
    loop {
        tokio::time::sleep(LEASE_HEARTBEAT).await;
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
    /// The answer is over, or waits for people, whoever they talk to.
    Release,
}

impl Ledger {
    /// Acquires the lease, if this process does not have it: nothing is driven without it.
    pub(super) async fn hold(&mut self) -> Result<(), SessionError> {
        match self.lease {
            Some(_) => Ok(()),
            None => self.commit_then(Vec::new(), After::Keep).await,
        }
    }

    /// Makes changes under the lease, which is acquired if need be, and kept.
    pub(super) async fn commit(&mut self, changes: Vec<Change>) -> Result<(), SessionError> {
        self.commit_then(changes, After::Keep).await
    }

    /// Makes changes under the lease, which is acquired if need be. Once another process has taken
    /// over, nothing is made of them.
    pub(super) async fn commit_then(
        &mut self,
        changes: Vec<Change>,
        after: After,
    ) -> Result<(), SessionError> {
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
                all.push(self.acquisition(lease.clone(), &rest));
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

    /// Acquires the lease for the run as it was last stored: if it has been moved on since, that is a
    /// conflict, which a change of the run shows by itself.
    fn acquisition(&self, id: LeaseId, changes: &[Change]) -> Change {
        let moves = |change: &Change| matches!(change, Change::PutRun(_));
        let run = &self.run;
        let known = run.revision > 0 && !changes.iter().any(moves);
        Change::AcquireLease {
            conversation: self.conversation.id.clone(),
            id,
            holder: self.store.holder().clone(),
            timeout: LEASE_TIMEOUT,
            known: known.then(|| (run.id.clone(), run.revision)),
        }
    }
}
