//! A JSON object that preserves the order of its members.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::raw::RawJson;

/// A JSON object whose members keep the order they were written or inserted in.
///
/// It is meant for the small objects of the protocol: a look-up scans the members. Two maps are equal if they hold
/// equal members in the same order. Of members with the same name the last one wins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OrderedMap<V>(Vec<(String, V)>);

/// Members unknown to this crate, preserved byte for byte.
pub type RawMap = OrderedMap<RawJson>;

impl<V> OrderedMap<V> {
    /// An object without members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the member `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.iter()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// Whether there is a member `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a member, in its old position if it exists, else at the end. Returns the old value.
    pub fn insert(&mut self, key: impl Into<String>, value: V) -> Option<V> {
        let key = key.into();
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((key, value));
                None
            }
        }
    }

    /// Removes a member and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The member names, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Appends a member without checking for duplicates; [`settle`](Self::settle) must follow.
    pub(crate) fn push(&mut self, key: String, value: V) {
        self.0.push((key, value));
    }

    /// Removes duplicates in `n log n`: the first position and the last value of each name remain.
    pub(crate) fn settle(&mut self) {
        const FEW: usize = 16;
        let twice =
            match self.0.len() {
                0 | 1 => return,
                2..=FEW => self.0.iter().enumerate().any(|(at, (name, _))| {
                    self.0.iter().take(at).any(|(earlier, _)| earlier == name)
                }),
                _ => true,
            };
        if !twice {
            return;
        }
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        let mut kept: Vec<(String, V)> = Vec::with_capacity(self.0.len());
        for (name, value) in self.0.drain(..) {
            match first.get(&name).and_then(|at| kept.get_mut(*at)) {
                Some(slot) => slot.1 = value,
                None => {
                    first.insert(name.clone(), kept.len());
                    kept.push((name, value));
                }
            }
        }
        self.0 = kept;
    }
}

impl RawMap {
    /// Sets a member to `value`, serialized as JSON.
    pub fn set<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        self.insert(key, RawJson::from_serialize(value)?);
        Ok(())
    }

    /// Reads a member as a `T`: `None` if it is absent or has another type.
    pub fn read_as<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.get(key)?.parse().ok()
    }
}

impl<V> Default for OrderedMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<String>, V> FromIterator<(K, V)> for OrderedMap<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut map = Self(members.into_iter().map(|(k, v)| (k.into(), v)).collect());
        map.settle();
        map
    }
}

impl<V> IntoIterator for OrderedMap<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, V> IntoIterator for &'a OrderedMap<V> {
    type Item = (&'a str, &'a V);
    type IntoIter =
        std::iter::Map<std::slice::Iter<'a, (String, V)>, fn(&'a (String, V)) -> (&'a str, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<V: Serialize> Serialize for OrderedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for OrderedMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

struct MapVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for MapVisitor<V> {
    type Value = OrderedMap<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<OrderedMap<V>, A::Error> {
        let mut map = OrderedMap::new();
        while let Some((key, value)) = access.next_entry()? {
            map.push(key, value);
        }
        map.settle();
        Ok(map)
    }
}
