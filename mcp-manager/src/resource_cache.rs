//! A cache of resources.

mod key;
mod limits;
mod miss;
mod shard;

use std::fmt;
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_jsonrpc::model::ReadResourceResult;
use parking_lot::Mutex;

use self::key::Key;
pub use self::limits::ResourceCacheLimits;
pub use self::miss::{ReadThroughError, Ticket};
use self::shard::{Invalidated, Kept, Shard};
use mcp_config::ServerName;

/// The maximum TTL that a server can set.
const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// A cache of resources, by server and URI: TTL and LRU, bounded in entries and bytes.
///
/// - An expired entry is a miss, and stays until it is evicted; it is never served.
/// - An entry is fresh for the server's TTL (`ttlMs`; an entry with a TTL of zero is not cached), else for
///   [`ResourceCacheLimits::with_ttl`]; zero there means forever.
/// - The result of a read that started before an invalidation is not cached after it.
///
/// A cache belongs to one user: results marked as private never leave it, and a multi-user host gives each user a
/// cache. A read takes the lock of one of a few shards; each is an exact LRU, and the limits apply to all of them
/// together.
pub struct ResourceCache {
    limits: ResourceCacheLimits,
    hasher: RandomState,
    first: Padded,
    others: Box<[Padded]>,
    entries: AtomicUsize,
    bytes: AtomicUsize,
}

/// Aligned to separate cache lines.
#[derive(Default)]
#[repr(align(128))]
struct Padded(Mutex<Shard>);

impl ResourceCache {
    /// Creates a cache with these limits.
    pub fn new(limits: ResourceCacheLimits) -> Self {
        Self {
            hasher: RandomState::new(),
            first: Padded::default(),
            others: (1..limits.shards).map(|_| Padded::default()).collect(),
            limits,
            entries: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// The cached resource, if it is fresh at `now`. Counts as a use of it.
    pub fn get(
        &self,
        server: &ServerName,
        uri: &str,
        now: Instant,
    ) -> Option<Arc<ReadResourceResult>> {
        let hash = key::hash(server, uri, &self.hasher);
        self.shard(hash).lock().get(hash, server, uri, now)
    }

    /// Caches a resource read at `now`, replacing the previous entry. Counts as a use of it. A result that is
    /// immediately stale or larger than the whole cache is not cached.
    pub fn set(
        &self,
        server: &ServerName,
        uri: &str,
        result: Arc<ReadResourceResult>,
        now: Instant,
    ) {
        let ticket = self.ticket(server, uri);
        self.put(&ticket, result, now);
    }

    /// Records that a read starts, so that [`put`](Self::put) can detect an invalidation in the meantime.
    pub fn ticket(&self, server: &ServerName, uri: &str) -> Ticket {
        let key = Key::new(server, uri, &self.hasher);
        let generation = self.shard(key.hash).lock().generation;
        Ticket { key, generation }
    }

    /// Caches the result of a read, like [`set`](Self::set), unless it was invalidated in the meantime. Returns whether
    /// it is cached.
    pub fn put(&self, ticket: &Ticket, result: Arc<ReadResourceResult>, now: Instant) -> bool {
        let Ticket { key, generation } = ticket;
        let shard = self.shard(key.hash);
        let replaced = match shard.lock().remove(key, *generation) {
            Ok(replaced) => replaced,
            Err(Invalidated) => return false,
        };
        self.release(replaced);
        let Some(expires) = self.expiry(&result, now) else {
            return false;
        };
        let size = key.size() + size(&result);
        // Room is reserved first: so the limits hold at every moment, for all callers together.
        if !self.reserve(key.hash, size) {
            return false;
        }
        let kept = Kept {
            key: key.clone(),
            result,
            expires,
            size,
        };
        // Another task may have invalidated or inserted it by now.
        let (kept, gone) = match shard.lock().put(kept, *generation) {
            Ok(replaced) => (true, replaced),
            Err(Invalidated) => (false, Some(size)),
        };
        self.release(gone);
        kept
    }

    /// Removes a resource.
    pub fn invalidate(&self, server: &ServerName, uri: &str) {
        let hash = key::hash(server, uri, &self.hasher);
        let gone = self.shard(hash).lock().invalidate(hash);
        self.release(gone);
    }

    /// Removes all resources of a server, after a change of its lists or a new connection.
    pub fn invalidate_server(&self, server: &ServerName) {
        self.invalidate_where(|key| key.server == *server);
    }

    /// Removes all resources.
    pub fn clear(&self) {
        self.invalidate_where(|_| true);
    }

    /// The number of cached resources, including expired ones and those being inserted. Never more than the limit: this
    /// is the counter that enforces it.
    pub fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The approximate number of cached bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // The high bits: the maps inside use the low ones.
        let at = (hash >> 48) as usize % (1 + self.others.len());
        let other = at.checked_sub(1).and_then(|at| self.others.get(at));
        &other.unwrap_or(&self.first).0
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Shard>> {
        let all = std::iter::once(&self.first).chain(&self.others);
        all.map(|shard| &shard.0)
    }

    /// The expiry of a result: `None` if it is immediately stale, `Some(None)` if it never expires.
    fn expiry(&self, result: &ReadResourceResult, now: Instant) -> Option<Option<Instant>> {
        let ttl = match result.ttl_ms {
            Some(ms) => {
                let said = Duration::from_millis(ms.try_into().unwrap_or(0));
                Some(said.min(MAX_TTL)).filter(|ttl| !ttl.is_zero())?
            }
            None if self.limits.ttl.is_zero() => return Some(None),
            None => self.limits.ttl,
        };
        Some(now.checked_add(ttl))
    }

    /// Reserves room for one more entry of `size` bytes. Evicts the least recently used entries, those of the entry's
    /// own shard first.
    fn reserve(&self, hash: u64, size: usize) -> bool {
        if size > self.limits.bytes || self.limits.entries == 0 {
            return false;
        }
        while !self.take(size) {
            let mut shards = std::iter::once(self.shard(hash)).chain(self.all());
            match shards.find_map(|shard| shard.lock().pop_oldest()) {
                Some(size) => self.release([size]),
                // All the room is reserved by writers that are about to insert.
                None => std::thread::yield_now(),
            }
        }
        true
    }

    fn take(&self, size: usize) -> bool {
        let within = |taken: usize, more: usize, cap: usize| {
            taken.checked_add(more).filter(|&sum| sum <= cap)
        };
        let (order, seen) = (Ordering::Relaxed, Ordering::Relaxed);
        let entry = |taken| within(taken, 1, self.limits.entries);
        if self.entries.fetch_update(order, seen, entry).is_err() {
            return false;
        }
        let room = |taken| within(taken, size, self.limits.bytes);
        let taken = self.bytes.fetch_update(order, seen, room).is_ok();
        if !taken {
            self.entries.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }

    fn release(&self, sizes: impl IntoIterator<Item = usize>) {
        for size in sizes {
            self.entries.fetch_sub(1, Ordering::Relaxed);
            self.bytes.fetch_sub(size, Ordering::Relaxed);
        }
    }

    fn invalidate_where(&self, stale: impl Fn(&Key) -> bool) {
        for shard in self.all() {
            let gone = shard.lock().invalidate_where(&stale);
            self.release(gone);
        }
    }
}

/// The approximate size of a result in bytes.
fn size(result: &ReadResourceResult) -> usize {
    let texts = result.contents.iter().map(|part| {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        part.uri.len() + len(&part.mime_type) + len(&part.text) + len(&part.blob)
    });
    texts.sum::<usize>() + size_of_val(result.contents.as_slice()) + size_of_val(result)
}

impl Default for ResourceCache {
    fn default() -> Self {
        Self::new(ResourceCacheLimits::default())
    }
}

impl fmt::Debug for ResourceCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceCache")
            .field("entries", &self.len())
            .field("bytes", &self.bytes())
            .field("limits", &self.limits)
            .finish()
    }
}
