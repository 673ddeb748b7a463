//! Cache misses: one caller fetches, the others wait for it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_config::ServerName;
use mcp_jsonrpc::model::ReadResourceResult;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::ResourceCache;
use super::key::Key;
use super::shard::Flight;

/// The start of a read, passed to [`put`](ResourceCache::put) with the result.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub(super) key: Key,
    pub(super) generation: u64,
}

/// The reason why a resource could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadThroughError<E> {
    /// The fetch failed, possibly one started by another caller.
    Fetch(Arc<E>),
    /// The caller's time limit expired.
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
}

type Fetched<E> = Result<Arc<ReadResourceResult>, Arc<E>>;

/// A caller's part in a fetch in flight. The last one to leave removes the fetch.
struct Waiter<'a, E: Send + Sync + 'static> {
    cache: &'a ResourceCache,
    ticket: Ticket,
    cell: Arc<OnceCell<Fetched<E>>>,
}

impl ResourceCache {
    /// Returns the cached resource, or otherwise the result of `fetch`, which is then cached.
    ///
    /// Concurrent callers for the same resource share one fetch and all get its result or its error. If the fetching
    /// caller is dropped or times out, the next one fetches. A caller that arrives after an invalidation does not join
    /// a fetch that started before it.
    ///
    /// # Errors
    ///
    /// If the fetch failed, or exceeded `limit`, which is the caller's own.
    pub async fn read_through<E, F>(
        &self,
        server: &ServerName,
        uri: &str,
        limit: Duration,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<ReadResourceResult>, ReadThroughError<E>>
    where
        F: Future<Output = Result<ReadResourceResult, E>>,
        E: Send + Sync + 'static,
    {
        if let Some(kept) = self.get(server, uri, Instant::now().into_std()) {
            return Ok(kept);
        }
        let seat = Waiter::<E>::take(self, server, uri);
        let fetched = seat.cell.get_or_init(|| async {
            let result = fetch().await.map(Arc::new).map_err(Arc::new)?;
            self.put(&seat.ticket, Arc::clone(&result), Instant::now().into_std());
            Ok(result)
        });
        match tokio::time::timeout(limit, fetched).await {
            Ok(Ok(result)) => Ok(Arc::clone(result)),
            Ok(Err(error)) => Err(ReadThroughError::Fetch(Arc::clone(error))),
            Err(_) => Err(ReadThroughError::TimedOut { limit }),
        }
    }
}

impl<'a, E: Send + Sync + 'static> Waiter<'a, E> {
    /// Joins the fetch in flight, or starts one.
    fn take(cache: &'a ResourceCache, server: &ServerName, uri: &str) -> Self {
        let key = Key::new(server, uri, &cache.hasher);
        let mut shard = cache.shard(key.hash).lock();
        let generation = shard.generation;
        let joined = shard.flights.get(&key).and_then(|flight| {
            let cell: Arc<OnceCell<Fetched<E>>> = Arc::clone(&flight.cell).downcast().ok()?;
            (flight.generation == generation && !cell.initialized()).then_some(cell)
        });
        let cell = joined.unwrap_or_else(|| {
            let cell = Arc::new(OnceCell::new());
            let flight = Flight {
                generation,
                cell: Arc::<OnceCell<Fetched<E>>>::clone(&cell),
            };
            shard.flights.insert(key.clone(), flight);
            cell
        });
        Self {
            cache,
            ticket: Ticket { key, generation },
            cell,
        }
    }
}

impl<E: Send + Sync + 'static> Drop for Waiter<'_, E> {
    fn drop(&mut self) {
        let mut shard = self.cache.shard(self.ticket.key.hash).lock();
        let flight = shard.flights.get(&self.ticket.key);
        let ours = flight.is_some_and(|flight| {
            std::ptr::addr_eq(Arc::as_ptr(&flight.cell), Arc::as_ptr(&self.cell))
        });
        // The table's reference and ours: no other caller waits, and none can join under the lock.
        if ours && (self.cell.initialized() || Arc::strong_count(&self.cell) == 2) {
            shard.flights.remove(&self.ticket.key);
        }
    }
}

impl<E> fmt::Display for ReadThroughError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetch(_) => f.write_str("the resource could not be read"),
            Self::TimedOut { limit } => {
                write!(f, "the resource was not read within {limit:?}")
            }
        }
    }
}

impl<E: Error + 'static> Error for ReadThroughError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Fetch(error) => Some(error.as_ref()),
            Self::TimedOut { .. } => None,
        }
    }
}
