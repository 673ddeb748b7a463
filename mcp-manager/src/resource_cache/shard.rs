//! A part of the cache: an exact LRU, and the reads under way.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use lru::LruCache;
use mcp_config::ServerName;
use mcp_jsonrpc::model::ReadResourceResult;

use super::key::{Hashed, Key};

/// A part of the cache.
pub(super) struct Shard {
    /// By hash: should two keys ever share one, the newer takes the place of the older.
    entries: LruCache<u64, Kept, Hashed>,
    /// Counts the invalidations.
    pub(super) generation: u64,
    /// Reads under way that others may join; the caller knows of which type.
    pub(super) flights: HashMap<Key, Flight, Hashed>,
}

/// A read under way.
pub(super) struct Flight {
    pub(super) generation: u64,
    pub(super) cell: Arc<dyn Any + Send + Sync>,
}

/// A resource that is kept.
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) result: Arc<ReadResourceResult>,
    /// `None`: never.
    pub(super) expires: Option<Instant>,
    pub(super) size: usize,
}

/// There was an invalidation since.
pub(super) struct Invalidated;

impl Default for Shard {
    fn default() -> Self {
        Self {
            // The caps are the cache's.
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

    /// Takes out what is kept under `key`; how large it was.
    pub(super) fn remove(
        &mut self,
        key: &Key,
        generation: u64,
    ) -> Result<Option<usize>, Invalidated> {
        self.require(generation)?;
        Ok(self.entries.pop(&key.hash).map(|kept| kept.size))
    }

    /// Keeps something for which there is room; how large what it replaced was.
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

    /// Pushes out what was unused for longest; how large it was.
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
