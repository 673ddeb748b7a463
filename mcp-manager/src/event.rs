//! Events of servers: a bounded stream in which slow listeners lag safely.

use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream::unfold;
use mcp_config::ServerName;
use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::LogMessageParams;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::catalog::{CatalogDiff, Entry, ItemKind};
use crate::server::ServerState;

/// An event of a manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ManagerEvent {
    /// A server's state changed.
    StateChanged {
        /// The server.
        server: ServerName,
        /// The previous state.
        from: ServerState,
        /// The new state.
        to: ServerState,
        /// The error, if there was one.
        error: Option<String>,
    },
    /// An attempt to reconnect a server begins (`mcp_reconnecting`).
    Reconnecting {
        /// The server.
        server: ServerName,
        /// The attempt, counted from 1.
        attempt: u32,
        /// The maximum number of attempts.
        max_attempts: u32,
    },
    /// A server is connected again (`mcp_reconnected`).
    Reconnected {
        /// The server.
        server: ServerName,
        /// The attempt.
        attempt: u32,
    },
    /// An attempt failed (`mcp_reconnect_failed`).
    ReconnectFailed {
        /// The server.
        server: ServerName,
        /// The attempt.
        attempt: u32,
        /// The error.
        error: String,
    },
    /// A server failed permanently; its tools are removed from the catalogue (`mcp_server_removed`).
    ServerRemoved {
        /// The server.
        server: ServerName,
        /// The reason.
        reason: String,
    },
    /// There is a new catalogue.
    CatalogChanged {
        /// Its epoch.
        epoch: u64,
        /// The changes.
        diff: Arc<CatalogDiff>,
    },
    /// A server rejected the subscription to changes of its lists, or the subscription was lost and could not be
    /// re-established. The lists are polled instead; calls continue.
    SubscriptionEnded {
        /// The server.
        server: ServerName,
        /// The error.
        error: String,
    },
    /// A resource changed; its cached contents were dropped.
    ResourceUpdated {
        /// The server.
        server: ServerName,
        /// The resource.
        uri: String,
    },
    /// A server asked for secrets in a form, which was not shown to the user.
    SecretRefused {
        /// The server.
        server: ServerName,
        /// The fields that looked like secrets.
        fields: Vec<String>,
    },
    /// A server asked a question while calls of several conversations were open, without identifying the call. It was
    /// declined; from now on the server serves one conversation at a time.
    QuestionDeclined {
        /// The server.
        server: ServerName,
        /// The conversations whose calls were open.
        conversations: Vec<String>,
    },
    /// The user has completed the action at the URL a server sent them to.
    ElicitationComplete {
        /// The server.
        server: ServerName,
        /// The id of the elicitation.
        elicitation_id: String,
    },
    /// A server announced a change of one of its lists. If the list did change, so does the catalogue.
    ListAnnounced {
        /// The server.
        server: ServerName,
        /// The kind of its items.
        list: ItemKind,
    },
    /// A server sent a log message.
    Log {
        /// The server.
        server: ServerName,
        /// The message.
        message: Arc<LogMessageParams>,
    },
    /// A server sent a notification unknown to this crate.
    Notification {
        /// The server.
        server: ServerName,
        /// The method.
        method: String,
        /// The params.
        params: Option<RawJson>,
    },
    /// A server exceeded the rate of messages that are passed on, and some were dropped.
    Dropped {
        /// The server.
        server: ServerName,
        /// The number dropped.
        count: u64,
    },
    /// This listener was too slow and missed events. The states and the catalogue can be read again.
    Lagged {
        /// The number missed.
        missed: u64,
    },
}

impl ManagerEvent {
    /// The event's name in logs and on the wire: `mcp_reconnecting`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StateChanged { .. } => "mcp_state_changed",
            Self::Reconnecting { .. } => "mcp_reconnecting",
            Self::Reconnected { .. } => "mcp_reconnected",
            Self::ReconnectFailed { .. } => "mcp_reconnect_failed",
            Self::ServerRemoved { .. } => "mcp_server_removed",
            Self::CatalogChanged { .. } => "mcp_catalog_changed",
            Self::SubscriptionEnded { .. } => "mcp_subscription_ended",
            Self::ResourceUpdated { .. } => "mcp_resource_updated",
            Self::SecretRefused { .. } => "mcp_secret_refused",
            Self::QuestionDeclined { .. } => "mcp_question_declined",
            Self::ElicitationComplete { .. } => "mcp_elicitation_complete",
            Self::ListAnnounced { .. } => "mcp_list_announced",
            Self::Log { .. } => "mcp_log",
            Self::Notification { .. } => "mcp_notification",
            Self::Dropped { .. } => "mcp_messages_dropped",
            Self::Lagged { .. } => "mcp_events_missed",
        }
    }

    /// The server of the event, if it has one.
    pub fn server(&self) -> Option<&ServerName> {
        match self {
            Self::StateChanged { server, .. }
            | Self::Reconnecting { server, .. }
            | Self::Reconnected { server, .. }
            | Self::ReconnectFailed { server, .. }
            | Self::ServerRemoved { server, .. }
            | Self::SubscriptionEnded { server, .. }
            | Self::ResourceUpdated { server, .. }
            | Self::SecretRefused { server, .. }
            | Self::QuestionDeclined { server, .. }
            | Self::ElicitationComplete { server, .. }
            | Self::ListAnnounced { server, .. }
            | Self::Log { server, .. }
            | Self::Notification { server, .. }
            | Self::Dropped { server, .. } => Some(server),
            Self::CatalogChanged { .. } | Self::Lagged { .. } => None,
        }
    }

    /// The event's details as JSON: `{"server": "files", "attempt": 1, "max_attempts": 5}`.
    pub fn data(&self) -> Value {
        match self {
            Self::StateChanged {
                server,
                from,
                to,
                error,
            } => json!({
                "server": server, "from": from.as_str(), "to": to.as_str(),
                "status": to.status().as_str(), "error": error,
            }),
            Self::Reconnecting {
                server,
                attempt,
                max_attempts,
            } => json!({"server": server, "attempt": attempt, "max_attempts": max_attempts}),
            Self::Reconnected { server, attempt } => json!({"server": server, "attempt": attempt}),
            Self::ReconnectFailed {
                server,
                attempt,
                error,
            } => json!({"server": server, "attempt": attempt, "error": error}),
            Self::ServerRemoved { server, reason } => json!({"server": server, "reason": reason}),
            Self::CatalogChanged { epoch, diff } => {
                let names = |tools: &[Arc<Entry>]| -> Vec<Value> {
                    tools
                        .iter()
                        .map(|tool| json!(tool.exposed_name()))
                        .collect()
                };
                let changed = diff.changed.iter().map(|change| Arc::clone(&change.new));
                json!({
                    "epoch": epoch, "added": names(&diff.added), "removed": names(&diff.removed),
                    "changed": names(&changed.collect::<Vec<_>>()),
                    "prompts": diff.prompts, "resources": diff.resources,
                })
            }
            Self::SubscriptionEnded { server, error } => {
                json!({"server": server, "error": error})
            }
            Self::ResourceUpdated { server, uri } => json!({"server": server, "uri": uri}),
            Self::SecretRefused { server, fields } => json!({"server": server, "fields": fields}),
            Self::QuestionDeclined {
                server,
                conversations,
            } => json!({"server": server, "conversations": conversations}),
            Self::ElicitationComplete {
                server,
                elicitation_id,
            } => json!({"server": server, "elicitation_id": elicitation_id}),
            Self::ListAnnounced { server, list } => {
                json!({"server": server, "list": list.to_string()})
            }
            Self::Log { server, message } => json!({"server": server, "message": **message}),
            Self::Notification {
                server,
                method,
                params,
            } => json!({"server": server, "method": method, "params": params}),
            Self::Dropped { server, count } => json!({"server": server, "count": count}),
            Self::Lagged { missed } => json!({"missed": missed}),
        }
    }
}

/// A listener's end of the stream. Each listener gets every event from its creation on.
#[derive(Debug)]
pub struct Events {
    pub(crate) receiver: broadcast::Receiver<ManagerEvent>,
}

impl Events {
    /// The next event; `None` when the manager has ended. A slow listener receives [`ManagerEvent::Lagged`] with the
    /// number of missed events, and does not delay others.
    ///
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<ManagerEvent> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                Some(ManagerEvent::Lagged { missed })
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// The next event, if one is available.
    pub fn try_next(&mut self) -> Option<ManagerEvent> {
        match self.receiver.try_recv() {
            Ok(event) => Some(event),
            Err(broadcast::error::TryRecvError::Lagged(missed)) => {
                Some(ManagerEvent::Lagged { missed })
            }
            Err(_) => None,
        }
    }
}

impl Events {
    /// The events as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = ManagerEvent> + Send + Unpin {
        Box::pin(unfold(self, |mut events| async {
            let event = events.next().await?;
            Some((event, events))
        }))
    }
}

/// Limits the unsolicited messages of one server: a token bucket, so that no server's flood displaces the events of
/// others.
#[derive(Debug)]
pub(crate) struct EventRateLimit {
    per_second: u32,
    left: f64,
    at: Duration,
    dropped: u64,
}

/// Whether a message may be passed on.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It may; this many were dropped before.
    Pass {
        dropped: u64,
    },
    Drop,
}

impl EventRateLimit {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            per_second,
            left: f64::from(per_second),
            at: Duration::ZERO,
            dropped: 0,
        }
    }

    pub(crate) fn judge(&mut self, now: Duration) -> Verdict {
        let rate = f64::from(self.per_second);
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * rate).min(rate);
        if self.left < 1.0 {
            self.dropped += 1;
            return Verdict::Drop;
        }
        self.left -= 1.0;
        Verdict::Pass {
            dropped: std::mem::take(&mut self.dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_to_the_rate_and_counted() {
        let mut chatter = EventRateLimit::new(10);
        let at = Duration::from_secs;
        let passed = (0..100).filter(|_| chatter.judge(at(1)) != Verdict::Drop);
        assert_eq!(passed.count(), 10);
        assert_eq!(chatter.judge(at(2)), Verdict::Pass { dropped: 90 });
        let passed = (0..100).filter(|_| chatter.judge(at(100)) != Verdict::Drop);
        assert_eq!(passed.count(), 10, "a long silence saves nothing up");
    }
}
