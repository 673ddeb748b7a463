//! What a resource is kept under, owned or borrowed, hashed once.

use std::borrow::Borrow;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};

use crate::name::ServerName;

/// A server and a URI.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) hash: u64,
    pub(super) server: ServerName,
    uri: Box<str>,
}

/// A [`Key`], borrowed.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    pub(super) hash: u64,
    server: &'a str,
    uri: &'a str,
}

/// Takes the hash that the key already has.
pub(super) type Hashed = BuildHasherDefault<Same>;

#[derive(Default)]
pub(super) struct Same(u64);

impl Key {
    pub(super) fn new(server: &ServerName, uri: &str, hasher: &RandomState) -> Self {
        Self {
            hash: Sought::new(server, uri, hasher).hash,
            server: server.clone(),
            uri: uri.into(),
        }
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.uri.len()
    }
}

impl<'a> Sought<'a> {
    pub(super) fn new(server: &'a ServerName, uri: &'a str, hasher: &RandomState) -> Self {
        let server = server.as_str();
        let hash = hasher.hash_one((server, uri));
        Self { hash, server, uri }
    }
}

/// What keys are looked up by.
pub(super) trait Look {
    fn sought(&self) -> Sought<'_>;
}

impl Look for Key {
    fn sought(&self) -> Sought<'_> {
        Sought {
            hash: self.hash,
            server: self.server.as_str(),
            uri: &self.uri,
        }
    }
}

impl Look for Sought<'_> {
    fn sought(&self) -> Sought<'_> {
        *self
    }
}

impl<'a> Borrow<dyn Look + 'a> for Key {
    fn borrow(&self) -> &(dyn Look + 'a) {
        self
    }
}

impl PartialEq for dyn Look + '_ {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.sought(), other.sought());
        (a.hash, a.uri, a.server) == (b.hash, b.uri, b.server)
    }
}

impl Eq for dyn Look + '_ {}

impl Hash for dyn Look + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.sought().hash);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let (a, b): (&dyn Look, &dyn Look) = (self, other);
        a == b
    }
}

impl Eq for Key {}

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
