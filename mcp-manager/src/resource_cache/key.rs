//! The keys of cached resources.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};

use mcp_config::ServerName;

/// A server and a URI, hashed once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Key {
    pub(super) hash: u64,
    pub(super) server: ServerName,
    uri: Box<str>,
}

/// Uses the hash that a key already has.
pub(super) type Hashed = BuildHasherDefault<Same>;

#[derive(Default)]
pub(super) struct Same(u64);

/// The hash of a key, with a secret seed: authors of URIs cannot provoke collisions.
pub(super) fn hash(server: &ServerName, uri: &str, hasher: &RandomState) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(server.as_str().as_bytes());
    // A byte that occurs in no server's name.
    state.write_u8(0);
    state.write(uri.as_bytes());
    state.finish()
}

impl Key {
    pub(super) fn new(server: &ServerName, uri: &str, hasher: &RandomState) -> Self {
        Self {
            hash: hash(server, uri, hasher),
            server: server.clone(),
            uri: uri.into(),
        }
    }

    pub(super) fn is(&self, server: &ServerName, uri: &str) -> bool {
        *self.uri == *uri && self.server == *server
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.uri.len()
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
