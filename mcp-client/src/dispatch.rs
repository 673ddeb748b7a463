//! The task that hands events to their handler, one at a time and in order.

use std::sync::Arc;

use crate::link::Link;

/// Hands events out until the connection is over and its mailbox is empty.
pub(crate) async fn dispatch(link: Arc<Link>) {
    let Some(on_event) = link.settings.on_event.clone() else {
        return;
    };
    loop {
        let over = link.is_over();
        let next = link.mailbox.lock().pop();
        match next {
            Some(event) => on_event(event).await,
            None if over => return,
            None => link.bell.notified().await,
        }
    }
}
