//! Identifiers that are a JSON integer or a JSON string.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// The id of a JSON-RPC request: an integer or a string, never both.
///
/// `7` and `"7"` are different ids and print differently. `7.0` is read as `7`. A clone is cheap because text is
/// shared.
///
/// ```
/// use mcp_jsonrpc::RequestId;
///
/// assert_ne!(RequestId::from(7), RequestId::from("7"));
/// assert_eq!(RequestId::from(7).to_string(), "7");
/// assert_eq!(RequestId::from("7").to_string(), "\"7\"");
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RequestId(Repr);

/// The token that relates progress notifications to a request: an integer or a string.
///
/// The rules are those of [`RequestId`].
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ProgressToken(Repr);

#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Repr {
    Int(i64),
    /// Only above `i64::MAX`, so that each integer has one representation.
    Big(u64),
    Text(Arc<str>),
}

macro_rules! identifier {
    ($Name:ident) => {
        impl $Name {
            /// The integer, if it is one that fits in 64 signed bits.
            pub fn as_i64(&self) -> Option<i64> {
                match self.0 {
                    Repr::Int(n) => Some(n),
                    Repr::Big(_) | Repr::Text(_) => None,
                }
            }

            /// The string, if it is one.
            pub fn as_str(&self) -> Option<&str> {
                match &self.0 {
                    Repr::Text(text) => Some(text),
                    Repr::Int(_) | Repr::Big(_) => None,
                }
            }
        }

        impl From<i64> for $Name {
            fn from(n: i64) -> Self {
                Self(Repr::Int(n))
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                Self(Repr::Text(text.into()))
            }
        }

        impl From<String> for $Name {
            fn from(text: String) -> Self {
                Self(Repr::Text(text.into()))
            }
        }

        /// Integers bare, strings in quotes.
        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Name), "({})"), self.0)
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.0 {
                    Repr::Int(n) => serializer.serialize_i64(*n),
                    Repr::Big(n) => serializer.serialize_u64(*n),
                    Repr::Text(text) => serializer.serialize_str(text),
                }
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(ReprVisitor).map(Self)
            }
        }
    };
}

identifier!(RequestId);
identifier!(ProgressToken);

impl From<RequestId> for ProgressToken {
    fn from(id: RequestId) -> Self {
        Self(id.0)
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Big(n) => n.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

struct ReprVisitor;

impl Visitor<'_> for ReprVisitor {
    type Value = Repr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer or a string")
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> Result<Repr, E> {
        Ok(Repr::Int(n))
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> Result<Repr, E> {
        Ok(i64::try_from(n).map_or(Repr::Big(n), Repr::Int))
    }

    fn visit_f64<E: de::Error>(self, n: f64) -> Result<Repr, E> {
        whole(n)
            .map(Repr::Int)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Float(n), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Repr, E> {
        Ok(Repr::Text(text.into()))
    }
}

/// The integer that a float represents, if it represents one exactly.
pub(crate) fn whole(n: f64) -> Option<i64> {
    // Both bounds are powers of two, hence exact as floats.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "in range and without fraction"
    )]
    (n.fract() == 0.0 && (-BOUND..BOUND).contains(&n)).then_some(n as i64)
}
