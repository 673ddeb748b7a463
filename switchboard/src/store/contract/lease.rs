//! Leases.

use std::time::Duration;

use super::fails;
use crate::store::{
    Change, Conversation, ConversationId, HolderId, LEASE_TIMEOUT, LeaseId, Run, RunId, Setting,
    Store, StoreError, UserId,
};

type Outcome = Result<(), StoreError>;

async fn conversation(store: &dyn Store) -> Result<ConversationId, StoreError> {
    let conversation = Conversation::new(UserId::local(), "conversation");
    let id = conversation.id.clone();
    store
        .commit(vec![Change::PutConversation(conversation)])
        .await?;
    Ok(id)
}

/// A driver in a process of its own.
struct Driver {
    conversation: ConversationId,
    holder: HolderId,
    lease: LeaseId,
}

impl Driver {
    fn of(conversation: &ConversationId) -> Self {
        Self {
            conversation: conversation.clone(),
            holder: HolderId::fresh(),
            lease: LeaseId::fresh(),
        }
    }

    fn acquire(&self, timeout: Duration) -> Vec<Change> {
        self.acquire_for(timeout, None)
    }

    fn acquire_for(&self, timeout: Duration, known: Option<(RunId, u64)>) -> Vec<Change> {
        vec![Change::AcquireLease {
            conversation: self.conversation.clone(),
            id: self.lease.clone(),
            holder: self.holder.clone(),
            timeout,
            known,
        }]
    }

    fn write(&self, value: &str) -> Vec<Change> {
        vec![
            Change::PutSetting(Setting::new(UserId::local(), "model", value)),
            Change::RenewLease(self.conversation.clone(), self.lease.clone()),
        ]
    }

    fn release(&self) -> Vec<Change> {
        vec![Change::ReleaseLease(
            self.conversation.clone(),
            self.lease.clone(),
        )]
    }
}

async fn written(store: &dyn Store) -> Result<Option<String>, StoreError> {
    let settings = store.settings(&UserId::local()).await?;
    let value = settings.first().and_then(|setting| setting.value.as_str());
    Ok(value.map(str::to_owned))
}

pub(super) async fn a_lease_has_one_holder_and_its_loser_writes_nothing(
    store: &dyn Store,
) -> Outcome {
    let conversation = conversation(store).await?;
    let (first, second) = (Driver::of(&conversation), Driver::of(&conversation));
    store.commit(first.acquire(LEASE_TIMEOUT)).await?;
    store.commit(first.write("first")).await?;
    fails!(store, second.acquire(LEASE_TIMEOUT), StoreError::Leased);
    fails!(store, second.write("second"), StoreError::Conflict { .. });
    fails!(store, second.release(), StoreError::Conflict { .. });
    store.commit(first.write("again")).await?;
    store.commit(first.release()).await?;
    fails!(store, first.write("late"), StoreError::Conflict { .. });
    store.commit(second.acquire(LEASE_TIMEOUT)).await?;
    fails!(store, first.write("late"), StoreError::Conflict { .. });
    fails!(store, first.release(), StoreError::Conflict { .. });
    assert_eq!(written(store).await?.as_deref(), Some("again"));
    store.commit(second.write("second")).await?;
    assert_eq!(written(store).await?.as_deref(), Some("second"));
    Ok(())
}

pub(super) async fn a_holder_that_does_not_renew_loses_its_lease(store: &dyn Store) -> Outcome {
    let conversation = conversation(store).await?;
    let (first, second) = (Driver::of(&conversation), Driver::of(&conversation));
    let at_once = Duration::ZERO;
    store.commit(first.acquire(LEASE_TIMEOUT)).await?;
    fails!(store, second.acquire(at_once), StoreError::Leased);
    store.commit(first.write("alive")).await?;
    fails!(store, second.acquire(at_once), StoreError::Leased);
    fails!(store, second.acquire(LEASE_TIMEOUT), StoreError::Leased);
    store.commit(second.acquire(at_once)).await?;
    fails!(store, first.write("late"), StoreError::Conflict { .. });
    store.commit(second.write("second")).await?;
    assert_eq!(written(store).await?.as_deref(), Some("second"));
    Ok(())
}

pub(super) async fn a_process_replaces_its_own_lease(store: &dyn Store) -> Outcome {
    let conversation = conversation(store).await?;
    let (first, mut second) = (Driver::of(&conversation), Driver::of(&conversation));
    second.holder = first.holder.clone();
    store.commit(first.acquire(LEASE_TIMEOUT)).await?;
    store.commit(second.acquire(LEASE_TIMEOUT)).await?;
    fails!(store, first.write("late"), StoreError::Conflict { .. });
    store.commit(second.write("second")).await?;
    Ok(())
}

pub(super) async fn a_lease_is_acquired_for_the_run_as_it_is_known(store: &dyn Store) -> Outcome {
    let conversation = conversation(store).await?;
    let (run, driver) = (
        Run::new(conversation.clone(), "{}"),
        Driver::of(&conversation),
    );
    let known = |revision| Some((run.id.clone(), revision));
    let acquire = |revision| driver.acquire_for(LEASE_TIMEOUT, known(revision));
    fails!(store, acquire(1), StoreError::Conflict { .. });
    store
        .commit(vec![Change::PutRun(Box::new(run.clone()))])
        .await?;
    fails!(store, acquire(2), StoreError::Conflict { .. });
    fails!(store, driver.release(), StoreError::Conflict { .. });
    store.commit(acquire(1)).await?;
    let next = Run::new(conversation.clone(), "{}");
    store.commit(vec![Change::PutRun(Box::new(next))]).await?;
    fails!(store, acquire(1), StoreError::Conflict { .. });
    Ok(())
}

pub(super) async fn a_lease_goes_with_its_conversation(store: &dyn Store) -> Outcome {
    let conversation = conversation(store).await?;
    let driver = Driver::of(&conversation);
    store.commit(driver.acquire(LEASE_TIMEOUT)).await?;
    let gone = Change::DeleteConversation(UserId::local(), conversation.clone());
    store.commit(vec![gone]).await?;
    fails!(store, driver.write("late"), StoreError::Conflict { .. });
    fails!(
        store,
        driver.acquire(LEASE_TIMEOUT),
        StoreError::Missing { .. }
    );
    Ok(())
}
