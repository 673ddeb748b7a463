//! The limits of the resource cache.

use std::time::Duration;

/// The limits of a [`ResourceCache`](crate::ResourceCache), in size and time.
#[derive(Clone, Debug)]
pub struct ResourceCacheLimits {
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) ttl: Duration,
    pub(super) shards: usize,
}

impl Default for ResourceCacheLimits {
    /// 256 entries, 32 MiB, five minutes, in 8 shards.
    fn default() -> Self {
        Self {
            entries: 256,
            bytes: 32 << 20,
            ttl: Duration::from_secs(5 * 60),
            shards: 8,
        }
    }
}

impl ResourceCacheLimits {
    /// The maximum number of resources; 0 disables the cache.
    #[must_use]
    pub fn with_entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// The approximate maximum size in bytes.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The TTL of a resource whose server sends none; zero means forever.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// The number of shards. With one, the whole cache is one exact LRU.
    #[must_use]
    pub fn with_shards(mut self, shards: usize) -> Self {
        self.shards = shards;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_256_entries_and_32_mebibytes_are_kept_for_five_minutes() {
        let limits = ResourceCacheLimits::default();
        assert_eq!((limits.entries, limits.bytes), (256, 32 * 1024 * 1024));
        assert_eq!(limits.ttl, Duration::from_secs(300));
    }
}
