//! The policy of the gateway, as the store has it: read at the start, and again when it changes.

use std::sync::Arc;
use std::time::Duration;

use agent_loop::{Mode, Policy};

use crate::conversation::Decided;
use crate::store::{ConversationId, Server, Store, StoreError, UserId};

/// How often the store is looked at.
const INTERVAL: Duration = Duration::from_secs(2);

/// The lasting decisions of the user, where the mode decides about the rest.
pub(crate) async fn policy(store: &dyn Store, mode: Mode) -> Result<Policy, StoreError> {
    let user = UserId::local();
    let rows: Vec<Server> = store.servers(&user).await?;
    let decided = Decided::read(store, &user).await?;
    // Decisions for one conversation are not for the gateway's clients.
    Ok(decided.policy(mode, &rows, &ConversationId::fresh()))
}

/// Tells the gateway of every change of the policy, for ever.
pub(crate) async fn follow(
    store: Arc<dyn Store>,
    mode: Mode,
    mut known: Policy,
    gateway: &mcp_gateway::Gateway,
) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        match policy(&*store, mode).await {
            Ok(policy) if policy != known => {
                known = policy.clone();
                gateway.set_policy(policy);
            }
            // A store that is busy is read the next time; until then the policy stays as it is.
            Ok(_) | Err(_) => {}
        }
    }
}
