//! The user of the program: answers questions, presses buttons, watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{Elicitation, ElicitationHandler, Manager, ManagerEvent, ServerState};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::random::Random;
use crate::role::ROLES;

/// Answers some questions now, some later.
pub(crate) struct Answers(pub(crate) Mutex<Random>);

#[async_trait]
impl ElicitationHandler for Answers {
    async fn elicit(&self, _: Elicitation) -> Result<ElicitResult, HostError> {
        let (kind, pause) = {
            let mut random = self.0.lock();
            (random.below(4), random.millis(0..100))
        };
        sleep(pause).await;
        match kind {
            0 => Err(HostError::Later),
            1 => Ok(ElicitResult::decline()),
            _ => {
                let name = serde_json::json!("Ada");
                Ok(ElicitResult::accept(
                    [("name".to_owned(), name)].into_iter().collect(),
                ))
            }
        }
    }
}

/// Observations of the servers.
#[derive(Debug, Default)]
pub(crate) struct Sights {
    pub(crate) lost: AtomicU64,
    pub(crate) returned: AtomicU64,
    pub(crate) removed: AtomicU64,
    pub(crate) catalogs: AtomicU64,
}

/// Follows the manager's events until it ends.
pub(crate) async fn watch(manager: &Manager, sights: Arc<Sights>) {
    let mut events = manager.events();
    while let Some(event) = events.next().await {
        let counter = match event {
            ManagerEvent::Reconnecting { attempt: 1, .. } => &sights.lost,
            ManagerEvent::Reconnected { .. } => &sights.returned,
            ManagerEvent::ServerRemoved { .. } => &sights.removed,
            ManagerEvent::CatalogChanged { .. } => &sights.catalogs,
            _ => continue,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Retries abandoned servers, and switches misbehaving ones off and on.
pub(crate) async fn press_buttons(manager: Manager, end: Instant) {
    let mut random = Random(7);
    let unsteady: Vec<_> = ROLES.iter().filter(|role| !role.is_steady()).collect();
    while Instant::now() < end {
        sleep(Duration::from_secs(5)).await;
        for server in manager.servers() {
            if server.state == ServerState::Failed {
                // It may fail again.
                let _ = manager.retry(server.name.as_str()).await;
            }
        }
        if let Some(role) = random.one_of(&unsteady) {
            let _ = manager.close_one(role.name).await;
            sleep(random.millis(0..1_000)).await;
            let _ = manager.retry(role.name).await;
        }
        if let Some(role) = random.one_of(ROLES) {
            let _ = manager.refresh(role.name);
        }
    }
}
