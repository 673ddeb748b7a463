//! One attempt to connect a server, from its turn to its first lists.

use std::sync::Arc;

use mcp_client::{Client, ClientBuilder, ConnectError, Interests};
use mcp_config::{RemoteKind, ServerConfig};
use mcp_transport::{BoxError, TransportError, TransportKind};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;

use crate::elicitation::ServerHost;
use crate::error::{Trouble, error_chain};
use crate::manager::shared::Shared;
use crate::server::Refusal;
use crate::server::handle::ServerHandle;
use crate::server::list_refresh::{ListKind, Offer};
use crate::server::lists::{self, Outcomes};
use crate::server::signal::Signals;

/// A new connection.
pub(crate) struct Fresh {
    pub(crate) client: Client,
    pub(crate) lists: Outcomes,
    /// The number of announced changes of the tool list before it was requested.
    pub(crate) seen: u64,
}

/// The reason why there is no connection.
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    pub(crate) trouble: Trouble,
}

/// Connects, and requests the server's lists. It counts as a start in progress until that is done, or its time has
/// expired. Dropping the future leaves nothing behind.
pub(crate) async fn connect(
    shared: Arc<Shared>,
    handle: Arc<ServerHandle>,
    connection: u64,
    _permit: OwnedSemaphorePermit,
) -> Result<Fresh, Refused> {
    work(&shared, &handle, connection).await
}

async fn work(shared: &Shared, handle: &ServerHandle, connection: u64) -> Result<Fresh, Refused> {
    let builder = builder(shared, handle).map_err(|source| Refused {
        refusal: Refusal::Lasting,
        trouble: Arc::from(source),
    })?;
    let host = ServerHost {
        server: handle.name.clone(),
        answers: Arc::clone(&shared.answers),
        queue: Arc::clone(&handle.queue),
    };
    let (signals, closed) = (Arc::clone(&handle.signals), Arc::clone(&handle.signals));
    let client = builder
        .host(host, shared.answers.capabilities())
        .on_event(move |event| {
            signals.client_event(event);
            std::future::ready(())
        })
        .on_close(move |reason| closed.lost(connection, reason))
        .connect()
        .await
        .map_err(|error| Refused {
            refusal: judge(&error),
            trouble: Arc::new(error),
        })?;
    *handle.last_kind.lock() = match client.transport_kind() {
        TransportKind::Http => RemoteKind::StreamableHttp,
        TransportKind::LegacySse => RemoteKind::Sse,
        _ => RemoteKind::Auto,
    };
    let can = client.server().capabilities;
    let offered = |kind: &ListKind| lists::offer(&can, *kind) != Offer::None;
    let kinds = ListKind::ALL.into_iter().filter(offered);
    let seen = client.tool_list_changes();
    let lists = lists::fetch(&client, kinds.collect(), shared.limits.list_time()).await;
    if !client.is_alive() {
        let failed = lists.into_iter().find_map(|(_, outcome)| outcome.err());
        return Err(Refused {
            refusal: Refusal::Passing(None),
            trouble: match failed {
                Some(error) => Arc::new(error),
                None => Arc::new(TransportError::Closed),
            },
        });
    }
    Ok(Fresh {
        client,
        lists,
        seen,
    })
}

/// The builder of a connection to a server: its endpoint, its name and its limits.
pub(crate) fn builder(shared: &Shared, handle: &ServerHandle) -> Result<ClientBuilder, BoxError> {
    let config = handle.config();
    let last_kind = *handle.last_kind.lock();
    let builder = match last_kind {
        RemoteKind::Auto => shared.connector.builder(&config)?,
        last => {
            let hinted = ServerConfig::clone(&config).with_last_kind(last);
            shared.connector.builder(&hinted)?
        }
    };
    let call_idle_timeout = config
        .call_idle_timeout("")
        .unwrap_or(shared.limits.call_idle_timeout());
    let limits = shared.limits.client().clone();
    let limits = limits
        .with_connect_timeout(
            config
                .connect_timeout()
                .unwrap_or(shared.limits.connect_time()),
        )
        .with_call_idle_timeout(call_idle_timeout);
    Ok(builder.name(handle.name.as_str()).limits(limits))
}

/// Whether another attempt may help.
fn judge(error: &ConnectError) -> Refusal {
    match error {
        ConnectError::Unauthorized { .. } => Refusal::Auth,
        ConnectError::Transport { source, .. } => judge_transport(source),
        ConnectError::Neither { first, second } => match (judge(first), judge(second)) {
            (Refusal::Auth, _) | (_, Refusal::Auth) => Refusal::Auth,
            (Refusal::Passing(a), Refusal::Passing(b)) => Refusal::Passing(a.max(b)),
            (Refusal::Passing(after), _) | (_, Refusal::Passing(after)) => Refusal::Passing(after),
            (Refusal::Lasting, Refusal::Lasting) => Refusal::Lasting,
        },
        ConnectError::NeitherEra { second, .. } => judge(second),
        other if other.is_retryable() => Refusal::Passing(None),
        _ => Refusal::Lasting,
    }
}

fn judge_transport(error: &TransportError) -> Refusal {
    match error {
        TransportError::Unauthorized { .. } | TransportError::Credentials { .. } => Refusal::Auth,
        TransportError::Http(failure) if matches!(failure.status, 401 | 403) => Refusal::Auth,
        TransportError::Http(failure) if error.is_retryable() => {
            Refusal::Passing(failure.retry_after)
        }
        error if error.is_retryable() => Refusal::Passing(None),
        _ => Refusal::Lasting,
    }
}

/// Subscribes to changes of a server's lists where that is required; ends when dropped.
#[derive(Debug)]
pub(crate) struct Listening(AbortHandle);

impl Listening {
    /// Servers up to 2025-11-25 announce changes unsolicited. A rejected or lost subscription implies nothing about the
    /// server's calls: it is reported, and the lists are requested at once, which shows whether we are still
    /// authorized, and periodically from then on.
    pub(crate) fn begin(
        client: &Client,
        signals: &Arc<Signals>,
        connection: u64,
        announces: impl Fn(ListKind) -> bool,
    ) -> Option<Self> {
        if !client.revision().is_modern() || !ListKind::ALL.into_iter().any(&announces) {
            return None;
        }
        let mut interests = Interests::default();
        if announces(ListKind::Tools) {
            interests = interests.with_tools();
        }
        if announces(ListKind::Prompts) {
            interests = interests.with_prompts();
        }
        if announces(ListKind::Resources) {
            interests = interests.with_resources();
        }
        let (client, signals) = (client.clone(), Arc::clone(signals));
        let task = tokio::spawn(async move {
            let error = match client.subscribe(interests).await {
                Ok(mut subscription) => {
                    // Between the first lists and now something may have changed.
                    signals.changed(&ListKind::ALL);
                    while let Some(event) = subscription.next().await {
                        // All other events reached the client's own handler, too.
                        if event == mcp_client::ClientEvent::Gap {
                            signals.client_event(event);
                        }
                    }
                    subscription.error().map(|error| error_chain(error))
                }
                Err(error) => Some(error_chain(&error)),
            };
            // The end of the connection is reported separately.
            signals.silent(connection, error.filter(|_| client.is_alive()));
        });
        Some(Self(task.abort_handle()))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}
