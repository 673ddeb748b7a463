//! The connection that shows others that this process lives, and that wakes it when others have
//! appended events or ask something of it. Wake-ups may get lost: the tables are the truth.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{GenericClient as _, Object};
use futures_util::future::{Either, select};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::event_signal::EventSignal;
use crate::store::id::{ConversationId, HolderId, UserId};
use crate::store::lease::heartbeat;
use crate::store::postgres::cluster::NOW;

/// The channel of new events, of all processes that share a database.
pub(super) const EVENTS: &str = "switchboard_events";
/// The channel of what processes ask of each other: the id of the one that is meant, or none for all.
pub(super) const MAIL: &str = "switchboard_mail";
/// How long to wait before the next try to listen, and between two looks where wake-ups do not
/// arrive.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a wake-up of ourselves may take.
const PROBE: Duration = Duration::from_secs(1);
/// How often to remove what dead processes have left behind.
const CLEAN_UP: Duration = Duration::from_secs(10);
/// How long rows of dead processes, and commands that were never fetched, are kept.
const KEPT: Duration = Duration::from_secs(3600);

/// What tells others whose events were appended, and by which process.
pub(super) fn payload(
    by: &HolderId,
    user: &UserId,
    conversation: Option<&ConversationId>,
) -> String {
    let conversation = conversation.map_or("", ConversationId::as_str);
    format!("{by}\n{user}\n{conversation}")
}

/// What this process hears.
pub(super) struct Ear {
    pub(super) holder: HolderId,
    pub(super) signal: EventSignal,
    pub(super) mail: watch::Sender<u64>,
    /// Whether a wake-up of ourselves has arrived on the connection that is open now.
    pub(super) hears: watch::Sender<bool>,
    pub(super) lease_timeout: Duration,
    /// Whether a pool is known to swallow wake-ups.
    pooled: bool,
}

impl Ear {
    pub(super) fn new(lease_timeout: Duration, pooled: bool) -> Arc<Self> {
        Arc::new(Self {
            holder: HolderId::fresh(),
            signal: EventSignal::default(),
            mail: watch::Sender::new(0),
            hears: watch::Sender::new(false),
            lease_timeout,
            pooled,
        })
    }

    /// Something may have happened that was not heard.
    fn look_everywhere(&self) {
        self.signal.notify_all();
        self.mail.send_modify(|count| *count += 1);
    }

    /// Passes on what another process wants known.
    fn heard(&self, channel: &str, payload: &str) {
        if channel == MAIL {
            if payload == format!("?{}", self.holder) {
                self.hears.send_replace(true);
            } else if payload.is_empty() || payload == self.holder.as_str() {
                self.mail.send_modify(|count| *count += 1);
            }
            return;
        }
        let mut lines = payload.splitn(3, '\n');
        let (Some(by), Some(user), Some(conversation)) = (lines.next(), lines.next(), lines.next())
        else {
            return;
        };
        // Our own events are known already.
        if by != self.holder.as_str() {
            let conversation = Some(conversation).filter(|id| !id.is_empty());
            let conversation = conversation.map(ConversationId::new);
            self.signal.appended(UserId::new(user), conversation);
        }
    }

    /// One heartbeat, with a wake-up of ourselves, in one round trip. A gap that is long against the
    /// time-out means that the others may have been cut off as well: their silence says nothing.
    fn heartbeat(&self) -> String {
        let (holder, timeout) = (&self.holder, self.lease_timeout.as_millis());
        format!(
            "INSERT INTO processes AS p (holder, since, beat_at, until)
             VALUES ('{holder}', {NOW}, {NOW}, {NOW} + {timeout})
             ON CONFLICT (holder) DO UPDATE SET
                 since = CASE WHEN {NOW} - p.beat_at > {timeout} / 2 THEN {NOW} ELSE p.since END,
                 beat_at = {NOW}, until = {NOW} + {timeout};
             SELECT pg_notify('{MAIL}', '?{holder}')"
        )
    }
}

/// Removes what dead processes have left in the tables of this module: leases that no one is to take
/// over, and what is old.
fn clean_up() -> String {
    let kept = KEPT.as_millis();
    format!(
        "DELETE FROM leases l
             WHERE NOT EXISTS (SELECT 1 FROM processes
                 WHERE holder = l.holder AND until >= {NOW})
             AND NOT EXISTS (SELECT 1 FROM runs
                 WHERE conversation_id = l.conversation_id AND finish IS NULL);
         DELETE FROM remote_commands WHERE created_at < {NOW} - {kept};
         DELETE FROM processes p WHERE until < {NOW} - {kept}
             AND NOT EXISTS (SELECT 1 FROM leases WHERE holder = p.holder)"
    )
}

/// Whether wake-ups arrive that are sent by another connection: not behind a pool that gives every
/// transaction another one. Uses no prepared statement, which such a pool confuses.
pub(super) async fn hears(
    config: &Config,
    tls: &MakeRustlsConnect,
    other: &Object,
) -> Option<bool> {
    let ear = Ear::new(Duration::ZERO, false);
    let mut hears = ear.hears.subscribe();
    let listening = connected(&ear, config, tls, async |client: &Client| {
        client.batch_execute(&format!("LISTEN {MAIL}")).await?;
        let probe = format!("NOTIFY {MAIL}, '?{}'", ear.holder);
        other.batch_execute(&probe).await?;
        Ok(timeout(PROBE, hears.wait_for(|hears| *hears)).await.is_ok())
    });
    timeout(PROBE * 10, listening).await.ok()?.ok()
}

/// Listens and sends heartbeats for as long as the store is open, and connects again whenever the connection
/// is lost.
pub(super) async fn listen(config: Config, tls: MakeRustlsConnect, ear: Arc<Ear>) {
    loop {
        // What is missed meanwhile, readers find when they next look.
        let listening = connected(&ear, &config, &tls, async |client: &Client| {
            beat_on(&ear, client).await
        });
        let _ = listening.await;
        tokio::time::sleep(PAUSE.min(heartbeat(ear.lease_timeout) / 2)).await;
        ear.look_everywhere();
    }
}

/// Beats until the connection fails or is silent.
async fn beat_on(ear: &Ear, client: &Client) -> Result<(), tokio_postgres::Error> {
    ear.hears.send_replace(false);
    let start = format!("LISTEN {EVENTS}; LISTEN {MAIL}");
    client.batch_execute(&start).await?;
    ear.look_everywhere();
    let pause = heartbeat(ear.lease_timeout);
    let mut clean_at = tokio::time::Instant::now();
    loop {
        match timeout(
            (pause * 2).max(PROBE * 2),
            client.batch_execute(&ear.heartbeat()),
        )
        .await
        {
            Ok(sent) => sent?,
            Err(_) => return Ok(()),
        }
        // After a heartbeat: it may take a while.
        if tokio::time::Instant::now() >= clean_at {
            client.batch_execute(&clean_up()).await?;
            clean_at = tokio::time::Instant::now() + CLEAN_UP;
        }
        let next = tokio::time::Instant::now() + pause;
        loop {
            tokio::time::sleep_until(next.min(tokio::time::Instant::now() + PAUSE)).await;
            if ear.pooled || !*ear.hears.borrow() {
                ear.look_everywhere();
            }
            if tokio::time::Instant::now() >= next {
                break;
            }
        }
    }
}

/// Connects, and works on that connection while it passes on what is heard.
async fn connected<T>(
    ear: &Ear,
    config: &Config,
    tls: &MakeRustlsConnect,
    work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
) -> Result<T, tokio_postgres::Error> {
    let (client, mut connection) = config.connect(tls.clone()).await?;
    let receive = async {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(heard) = message? {
                ear.heard(heard.channel(), heard.payload());
            }
        }
        Ok(())
    };
    match select(Box::pin(work(&client)), Box::pin(receive)).await {
        Either::Left((done, _)) => done,
        Either::Right((lost, work)) => {
            lost?;
            // The connection is closed, and so the work fails.
            work.await
        }
    }
}
