//! Ends what users may do no more: servers that run on this machine, and answers under way.

use crate::serve::app::{App, closed};

/// Ends it whenever someone may do less than before, for as long as the program runs.
pub(super) async fn enforce(app: App) {
    let (mut lost, mut closing) = (app.people.lost(), app.closing.clone());
    loop {
        tokio::select! {
            () = closed(&mut closing) => return,
            changed = lost.changed() => if changed.is_err() {
                return;
            }
        }
        for user in app.people.blocked() {
            // If the store fails now, the answer ends by itself; its user sees nothing of it.
            let _ = app.runs.stop_user(&user).await;
        }
        app.server_pool.end_forbidden().await;
    }
}
