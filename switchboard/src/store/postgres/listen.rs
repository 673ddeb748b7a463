//! Wake-ups by what other processes append. They may get lost: the table is the truth.

use std::future::poll_fn;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::event_signal::EventSignal;
use crate::store::id::{ConversationId, HolderId, UserId};

/// The channel of all processes that share a database.
pub(super) const CHANNEL: &str = "switchboard_events";
/// How long to wait before the next try to listen.
const PAUSE: Duration = Duration::from_secs(1);

/// What tells others whose events were appended, and by which process.
pub(super) fn payload(
    by: &HolderId,
    user: &UserId,
    conversation: Option<&ConversationId>,
) -> String {
    let conversation = conversation.map_or("", ConversationId::as_str);
    format!("{by}\n{user}\n{conversation}")
}

/// Listens for as long as the store is open, and connects again whenever the connection is lost.
pub(super) async fn listen(
    config: Config,
    tls: MakeRustlsConnect,
    holder: HolderId,
    signal: EventSignal,
) {
    loop {
        // What is missed meanwhile, readers find when they next look.
        let _ = listen_once(&config, &tls, &holder, &signal).await;
        tokio::time::sleep(PAUSE).await;
        signal.notify_all();
    }
}

async fn listen_once(
    config: &Config,
    tls: &MakeRustlsConnect,
    holder: &HolderId,
    signal: &EventSignal,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = config.connect(tls.clone()).await?;
    let receive = async move {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message? {
                heard(notification.payload(), holder, signal);
            }
        }
        Ok(())
    };
    let receive = Box::pin(receive);
    let start = format!("LISTEN {CHANNEL}");
    match select(Box::pin(client.batch_execute(&start)), receive).await {
        Either::Left((started, receive)) => {
            started?;
            receive.await
        }
        Either::Right((ended, _)) => ended,
    }
}

/// Passes on what another process appended; our own is known already.
fn heard(payload: &str, holder: &HolderId, signal: &EventSignal) {
    let mut lines = payload.splitn(3, '\n');
    let (Some(by), Some(user), Some(conversation)) = (lines.next(), lines.next(), lines.next())
    else {
        return;
    };
    if by != holder.as_str() {
        let conversation = Some(conversation).filter(|id| !id.is_empty());
        signal.appended(UserId::new(user), conversation.map(ConversationId::new));
    }
}
