//! Answers that stay fresh for a while, as 2026-07-28 lets servers say.
//!
//! An answer is kept for its `ttlMs`, for everybody or only for whoever asked, until a
//! notification says that it changed. An answer that was under way when that happened is not kept.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    CacheScope, Discover, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    ReadResource,
};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::event::Event;

/// No server decides for longer than this.
const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Methods whose answers may be kept.
const CACHEABLE: [&str; 6] = [
    Discover::NAME,
    ListTools::NAME,
    ListPrompts::NAME,
    ListResources::NAME,
    ListResourceTemplates::NAME,
    ReadResource::NAME,
];

/// A cache of answers, bounded in entries and bytes. A cheap clone; clients may share one.
///
/// Entries belong to a server (by its name with us) and, where the server calls them private, to
/// the [`cache_partition`](crate::Builder::cache_partition) of the client that asked.
#[derive(Clone)]
pub struct ResponseCache {
    store: Arc<Mutex<Store>>,
}

/// Where an answer under way will be kept, unless what it says changes first.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    key: Key,
    partition: Arc<str>,
    generation: u64,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Key {
    server: Arc<str>,
    method: String,
    params: String,
    /// `None`: for everybody.
    partition: Option<Arc<str>>,
}

#[derive(Debug)]
struct Entry {
    body: Arc<str>,
    until: Instant,
}

#[derive(Debug)]
struct Store {
    entries: LruCache<Key, Entry>,
    bytes: usize,
    max_bytes: usize,
    /// Counts the changes each server told of.
    generations: BTreeMap<Arc<str>, u64>,
}

/// What an answer says about how long it may be kept.
#[derive(serde::Deserialize)]
struct Freshness {
    #[serde(rename = "ttlMs", default)]
    ttl_ms: Option<i64>,
    #[serde(rename = "cacheScope", default)]
    scope: Option<CacheScope>,
}

impl ResponseCache {
    /// A cache of at most so many entries and bytes.
    pub fn new(entries: NonZeroUsize, bytes: usize) -> Self {
        let store = Store {
            entries: LruCache::new(entries),
            bytes: 0,
            max_bytes: bytes,
            generations: BTreeMap::new(),
        };
        Self {
            store: Arc::new(Mutex::new(store)),
        }
    }

    /// How many answers are kept, fresh or not.
    pub fn len(&self) -> usize {
        self.store.lock().entries.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything about a server.
    pub fn forget(&self, server: &str) {
        self.store.lock().forget(server, |_| true);
    }

    /// Where the answer to this request goes; `None` if answers to it are never kept.
    pub(crate) fn place(
        &self,
        server: &Arc<str>,
        partition: &Arc<str>,
        method: &str,
        params: impl FnOnce() -> Option<String>,
    ) -> Option<Place> {
        if !CACHEABLE.contains(&method) {
            return None;
        }
        let key = Key {
            server: Arc::clone(server),
            method: method.to_owned(),
            params: params()?,
            partition: None,
        };
        let generation = self.store.lock().generation(server);
        Some(Place {
            key,
            partition: Arc::clone(partition),
            generation,
        })
    }

    /// The answer kept there, if it is still fresh.
    pub(crate) fn get(&self, place: &Place) -> Option<Arc<str>> {
        let now = Instant::now();
        let mut store = self.store.lock();
        let fresh = |entry: &Entry| (entry.until > now).then(|| Arc::clone(&entry.body));
        let public = store.entries.get(&place.key).and_then(fresh);
        public.or_else(|| store.entries.get(&place.private()).and_then(fresh))
    }

    /// Keeps a complete answer for as long as it says.
    pub(crate) fn put(&self, place: &Place, body: &str) {
        let Ok(Freshness { ttl_ms, scope }) = serde_json::from_str(body) else {
            return;
        };
        let ttl = Duration::from_millis(ttl_ms.unwrap_or(0).try_into().unwrap_or(0)).min(MAX_TTL);
        let key = match scope {
            Some(CacheScope::Public) => place.key.clone(),
            _ => place.private(),
        };
        let mut store = self.store.lock();
        if ttl.is_zero() || store.generation(&key.server) != place.generation {
            return;
        }
        let entry = Entry {
            body: body.into(),
            until: Instant::now() + ttl,
        };
        store.insert(key, entry);
    }

    /// A server told of a change.
    pub(crate) fn changed(&self, server: &str, event: &Event) {
        let stale: fn(&Key) -> bool = match event {
            Event::ToolsChanged => |key| key.method == ListTools::NAME,
            Event::PromptsChanged => |key| key.method == ListPrompts::NAME,
            // A resource that is gone from the list may be gone altogether.
            Event::ResourcesChanged => |key| key.method.starts_with("resources/"),
            // The URI may name a part of what was read.
            Event::ResourceUpdated { .. } => |key| key.method == ReadResource::NAME,
            Event::Gap => |_| true,
            _ => return,
        };
        self.store.lock().forget(server, stale);
    }

    /// A cursor went bad: all pages of that list are.
    pub(crate) fn forget_list(&self, server: &str, method: &str) {
        let list = method.to_owned();
        self.store
            .lock()
            .forget(server, move |key| key.method == list);
    }
}

impl Default for ResponseCache {
    /// 512 entries, 32 MiB.
    fn default() -> Self {
        Self::new(
            NonZeroUsize::new(512).unwrap_or(NonZeroUsize::MIN),
            32 << 20,
        )
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.lock();
        f.debug_struct("ResponseCache")
            .field("entries", &store.entries.len())
            .field("bytes", &store.bytes)
            .finish()
    }
}

impl Place {
    fn private(&self) -> Key {
        Key {
            partition: Some(Arc::clone(&self.partition)),
            ..self.key.clone()
        }
    }
}

impl Key {
    fn size(&self) -> usize {
        self.method.len() + self.params.len()
    }
}

impl Store {
    fn generation(&self, server: &str) -> u64 {
        self.generations.get(server).copied().unwrap_or(0)
    }

    fn insert(&mut self, key: Key, entry: Entry) {
        let size = key.size() + entry.body.len();
        if size > self.max_bytes {
            return;
        }
        self.bytes += size;
        if let Some((old_key, old)) = self.entries.push(key, entry) {
            self.bytes -= old_key.size() + old.body.len();
        }
        while self.bytes > self.max_bytes
            && let Some((key, entry)) = self.entries.pop_lru()
        {
            self.bytes -= key.size() + entry.body.len();
        }
    }

    fn forget(&mut self, server: &str, stale: impl Fn(&Key) -> bool) {
        let generation = self.generation(server) + 1;
        self.generations.insert(server.into(), generation);
        let gone: Vec<Key> = self
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| &*key.server == server && stale(key))
            .cloned()
            .collect();
        for key in gone {
            if let Some(entry) = self.entries.pop(&key) {
                self.bytes -= key.size() + entry.body.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(cache: &ResponseCache, who: &str, method: &str, params: &str) -> Option<Place> {
        cache.place(&"s".into(), &who.into(), method, || Some(params.to_owned()))
    }

    fn answer(ttl: i64, scope: &str) -> String {
        format!(r#"{{"ttlMs":{ttl},"cacheScope":"{scope}","tools":[]}}"#)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_kept_for_its_time_and_no_longer() {
        let cache = ResponseCache::default();
        let place = place(&cache, "me", "tools/list", "{}").unwrap();
        cache.put(&place, &answer(1000, "public"));
        tokio::time::advance(Duration::from_millis(999)).await;
        assert!(cache.get(&place).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(cache.get(&place), None);
    }

    #[tokio::test]
    async fn private_answers_stay_with_whoever_asked() {
        let cache = ResponseCache::default();
        let mine = place(&cache, "me", "tools/list", "{}").unwrap();
        let yours = place(&cache, "you", "tools/list", "{}").unwrap();
        for (scope, shared) in [
            (answer(1000, "private"), false),
            (answer(1000, "public"), true),
        ] {
            cache.put(&mine, &scope);
            assert!(cache.get(&mine).is_some());
            assert_eq!(cache.get(&yours).is_some(), shared);
        }
        assert!(
            place(&cache, "me", "tools/call", "{}").is_none(),
            "calls are never kept"
        );
    }

    #[tokio::test]
    async fn what_changed_meanwhile_is_not_kept() {
        let cache = ResponseCache::default();
        let place = place(&cache, "me", "tools/list", "{}").unwrap();
        cache.changed("s", &Event::ToolsChanged);
        cache.put(&place, &answer(1000, "public"));
        assert_eq!(cache.get(&place), None);
    }

    #[tokio::test]
    async fn a_notification_forgets_what_it_is_about_and_nothing_else() {
        let cache = ResponseCache::default();
        let keep = |method: &str| {
            let place = place(&cache, "me", method, "{}").unwrap();
            cache.put(&place, &answer(1000, "public"));
            place
        };
        let (tools, prompts) = (keep("tools/list"), keep("prompts/list"));
        cache.changed("s", &Event::ToolsChanged);
        assert_eq!(cache.get(&tools), None);
        assert!(cache.get(&prompts).is_some());
        cache.changed("other", &Event::Gap);
        assert!(cache.get(&prompts).is_some());
        cache.changed("s", &Event::Gap);
        assert!(cache.is_empty());
    }

    #[tokio::test]
    async fn without_a_time_nothing_is_kept() {
        let cache = ResponseCache::default();
        let place = place(&cache, "me", "tools/list", "{}").unwrap();
        for body in [
            r#"{"tools":[]}"#,
            &answer(0, "public"),
            &answer(-5, "public"),
            "[]",
        ] {
            cache.put(&place, body);
            assert_eq!(cache.get(&place), None, "{body}");
        }
    }

    proptest! {
        #[test]
        fn the_caps_hold_whatever_is_put_in(sizes in prop::collection::vec(0_usize..400, 0..60)) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.unwrap().block_on(async {
                let cache = ResponseCache::new(NonZeroUsize::new(8).unwrap(), 1000);
                for (n, size) in sizes.into_iter().enumerate() {
                    let place = place(&cache, "me", "tools/list", &n.to_string()).unwrap();
                    let body = format!(r#"{{"ttlMs":9,"x":"{}"}}"#, "y".repeat(size));
                    cache.put(&place, &body);
                    let store = cache.store.lock();
                    let counted: usize =
                        store.entries.iter().map(|(k, e)| k.size() + e.body.len()).sum();
                    assert_eq!(store.bytes, counted);
                    assert!(store.bytes <= 1000 && store.entries.len() <= 8);
                }
            });
        }
    }
}
