//! The task that calls the event handler with one event at a time, in order.

use std::sync::Arc;

use crate::connection::Connection;

/// Runs until the connection has ended and no event is left.
pub(super) async fn run(connection: Arc<Connection>) {
    let Some(on_event) = connection.settings.on_event.clone() else {
        return;
    };
    loop {
        let over = connection.is_over();
        let next = connection.events.lock().pop();
        match next {
            Some(event) => on_event(event).await,
            None if over => return,
            None => connection.event_ready.notified().await,
        }
    }
}
