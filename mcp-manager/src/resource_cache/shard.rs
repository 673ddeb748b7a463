//! A shard of the cache: an exact LRU, and the fetches in flight.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use lru::LruCache;
use mcp_config::ServerName;
use mcp_jsonrpc::model::ReadResourceResult;

use super::key::{Hashed, Key};

/// A shard of the cache.
pub(super) struct Shard {
    /// By hash: if two keys share one, the newer entry replaces the older.
    entries: LruCache<u64, Kept, Hashed>,
    /// The number of invalidations.
    pub(super) generation: u64,
    /// Fetches in flight that others may join; the caller knows their type.
    pub(super) flights: HashMap<Key, Flight, Hashed>,
}

/// A fetch in flight.
pub(super) struct Flight {
    pub(super) generation: u64,
    pub(super) cell: Arc<dyn Any + Send + Sync>,
}

/// A cached resource.
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) result: Arc<ReadResourceResult>,
    /// `None` means never.
    pub(super) expires: Option<Instant>,
    pub(super) size: usize,
}

/// The entry was invalidated in the meantime.
pub(super) struct Invalidated;

impl Default for Shard {
    fn default() -> Self {
        Self {
            // The limits are enforced by the whole cache.
            entries: LruCache::unbounded_with_hasher(Hashed::default()),
            generation: 0,
            flights: HashMap::default(),
        }
    }
}

impl Shard {
    pub(super) fn get(
        &mut self,
        hash: u64,
        server: &ServerName,
        uri: &str,
        now: Instant,
    ) -> Option<Arc<ReadResourceResult>> {
        let kept = self.entries.get(&hash)?;
        let fresh = kept.expires.is_none_or(|expires| now < expires);
        (fresh && kept.key.is(server, uri)).then(|| Arc::clone(&kept.result))
    }

    /// Removes the entry of `key` and returns its size.
    pub(super) fn remove(
        &mut self,
        key: &Key,
        generation: u64,
    ) -> Result<Option<usize>, Invalidated> {
        self.require(generation)?;
        Ok(self.entries.pop(&key.hash).map(|kept| kept.size))
    }

    /// Inserts an entry for which there is room; returns the size of the replaced one.
    pub(super) fn put(
        &mut self,
        kept: Kept,
        generation: u64,
    ) -> Result<Option<usize>, Invalidated> {
        self.require(generation)?;
        Ok(self.entries.put(kept.key.hash, kept).map(|old| old.size))
    }

    fn require(&self, generation: u64) -> Result<(), Invalidated> {
        (generation == self.generation)
            .then_some(())
            .ok_or(Invalidated)
    }

    /// Evicts the least recently used entry and returns its size.
    pub(super) fn pop_oldest(&mut self) -> Option<usize> {
        self.entries.pop_lru().map(|(_, kept)| kept.size)
    }

    pub(super) fn invalidate(&mut self, hash: u64) -> Option<usize> {
        self.generation += 1;
        self.entries.pop(&hash).map(|kept| kept.size)
    }

    pub(super) fn invalidate_where(&mut self, stale: impl Fn(&Key) -> bool) -> Vec<usize> {
        self.generation += 1;
        let keys = self.entries.iter().map(|(_, kept)| &kept.key);
        let gone: Vec<u64> = keys.filter(|key| stale(key)).map(|key| key.hash).collect();
        let sizes = gone.iter().filter_map(|hash| self.entries.pop(hash));
        sizes.map(|kept| kept.size).collect()
    }
}
