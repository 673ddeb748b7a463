//! Ids of tool calls.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of one tool call: it relates the call to its chunks, its end and its result. Cheap to clone. Unique within a
/// turn.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(Arc<str>);

impl CallId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name for a call that came without one: nine letters and digits, which every provider
    /// accepts, always the same for the same seed and number.
    pub(crate) fn generate(seed: u64, number: u64) -> Self {
        Self(short_hash(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).into())
    }
}

/// Nine letters and digits that stand for `seed`.
pub(crate) fn short_hash(seed: u64) -> String {
    const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut bits = mix(seed);
    let sign = |_| {
        let at = usize::try_from(bits % 62).unwrap_or_default();
        bits /= 62;
        char::from(SIGNS.get(at).copied().unwrap_or(b'0'))
    };
    (0..9).map(sign).collect()
}

/// A number that stands for `bytes`. Not for enemies: it is fast, not secret.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| mix(hash ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let (words, rest) = bytes.as_chunks::<8>();
    let start = step(0, bytes.len() as u64);
    let hash = words
        .iter()
        .fold(start, |hash, word| step(hash, u64::from_le_bytes(*word)));
    rest.iter()
        .fold(hash, |hash, byte| step(hash, u64::from(*byte)))
}

/// Spreads every bit of `x` over the whole number.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for CallId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl AsRef<str> for CallId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for CallId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for CallId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for CallId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
