//! Managers of fake servers, and waiting for what becomes of those.

use mcp_manager::{Events, Manager, ServerState};

use crate::fake::Fakes;

pub(crate) fn manager(fakes: &Fakes) -> Manager {
    Manager::builder().connector(fakes.clone()).seed(1).build()
}

pub(crate) fn state(manager: &Manager, server: &str) -> ServerState {
    manager.server(server).unwrap().state
}

/// Waits until a server is in a state.
pub(crate) async fn until(
    manager: &Manager,
    events: &mut Events,
    server: &str,
    wanted: ServerState,
) {
    while state(manager, server) != wanted {
        events.next().await.unwrap();
    }
}
