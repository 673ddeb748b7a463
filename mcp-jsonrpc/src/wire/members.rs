//! The members of a JSON object, pulled one by one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::field::{Field, FieldSeed};
use crate::raw::RawJson;

/// What a struct knows about the names of its members.
pub(crate) trait Key: Sized {
    /// Tells which member `name` is.
    fn of(name: &str) -> Self;
}

impl Key for String {
    fn of(name: &str) -> Self {
        name.to_owned()
    }
}

/// A source of members. serde's `MapAccess` ties values to one lifetime; ours are owned, so that
/// members met before the tag of a union can be played back.
pub(crate) trait Members {
    /// The source's error.
    type Error: de::Error;

    /// The next member's name, or the end.
    fn key<K: Key>(&mut self) -> Result<Option<K>, Self::Error>;

    /// The value that belongs to the last name.
    fn value<T: Field>(&mut self) -> Result<T, Self::Error>;
}

/// A struct of the model: reads itself from the members of an object.
pub(crate) trait Object: Sized {
    /// Reads all members to the end.
    fn from_members<M: Members>(members: M) -> Result<Self, M::Error>;
}

/// Members straight from a deserializer.
pub(crate) struct Stream<'de, A> {
    access: A,
    input: PhantomData<&'de ()>,
}

impl<'de, A: MapAccess<'de>> Stream<'de, A> {
    pub(crate) fn new(access: A) -> Self {
        Self {
            access,
            input: PhantomData,
        }
    }
}

impl<'de, A: MapAccess<'de>> Members for Stream<'de, A> {
    type Error = A::Error;

    fn key<K: Key>(&mut self) -> Result<Option<K>, A::Error> {
        self.access.next_key_seed(KeySeed(PhantomData))
    }

    fn value<T: Field>(&mut self) -> Result<T, A::Error> {
        self.access.next_value_seed(FieldSeed::new())
    }
}

/// Members set aside earlier, then the rest of the stream.
pub(crate) struct Replay<M> {
    aside: std::vec::IntoIter<(String, RawJson)>,
    current: Option<RawJson>,
    rest: M,
}

impl<M> Replay<M> {
    pub(crate) fn new(aside: Vec<(String, RawJson)>, rest: M) -> Self {
        Self {
            aside: aside.into_iter(),
            current: None,
            rest,
        }
    }
}

impl<M: Members> Members for Replay<M> {
    type Error = M::Error;

    fn key<K: Key>(&mut self) -> Result<Option<K>, M::Error> {
        match self.aside.next() {
            Some((name, value)) => {
                self.current = Some(value);
                Ok(Some(K::of(&name)))
            }
            None => self.rest.key(),
        }
    }

    fn value<T: Field>(&mut self) -> Result<T, M::Error> {
        match self.current.take() {
            Some(raw) => T::read(raw.as_raw_value()).map_err(de::Error::custom),
            None => self.rest.value(),
        }
    }
}

/// Reads an [`Object`] where serde asks for one.
pub(crate) struct ObjectVisitor<T>(pub(crate) PhantomData<T>);

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::from_members(Stream::new(access))
    }
}

struct KeySeed<K>(PhantomData<K>);

impl<'de, K: Key> DeserializeSeed<'de> for KeySeed<K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: Key> Visitor<'_> for KeySeed<K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<K, E> {
        Ok(K::of(name))
    }
}
