//! What can stand in a member of a wire object, and how it is read and written there.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, SeqAccess, Visitor,
};
use serde::ser::{Serialize, Serializer};

use crate::id::whole;

/// A value of a member. Like serde's own traits, but numbers follow the protocol's habits:
/// `60000.0` is read where an integer is due, and `50.0` is written as `50`.
pub(crate) trait Field: Sized {
    /// Reads the value.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Writes the value.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// What `null` means where the member is optional: nothing, unless the value can be null itself.
    fn from_null() -> Option<Self> {
        None
    }
}

/// Lets a [`Field`] be read where serde wants a seed.
pub(crate) struct FieldSeed<T>(PhantomData<T>);

impl<T> FieldSeed<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Field> DeserializeSeed<'de> for FieldSeed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }
}

/// Lets a [`Field`] be written where serde wants a value.
pub(crate) struct Written<'a, T>(pub(crate) &'a T);

impl<T: Field> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// Fields that are read and written as serde does it.
macro_rules! plain_fields {
    ($($Type:ty),* $(,)?) => {$(
        impl $crate::wire::field::Field for $Type {
            fn read<'de, D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ::serde::Deserialize::deserialize(deserializer)
            }

            fn write<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(self, serializer)
            }
        }
    )*};
}
pub(crate) use plain_fields;

plain_fields!(
    String,
    bool,
    crate::id::RequestId,
    crate::id::ProgressToken,
    crate::raw::RawObject,
    serde_json::Value,
    serde_json::Map<String, serde_json::Value>,
);

impl Field for crate::raw::RawJson {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }

    fn from_null() -> Option<Self> {
        Some(Self::null())
    }
}

impl Field for i64 {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(IntegerVisitor)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(*self)
    }
}

impl Field for f64 {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Up to here every whole number is a float.
        const EXACT: i64 = 1 << 53;
        match whole(*self) {
            Some(n) if (-EXACT..=EXACT).contains(&n) => serializer.serialize_i64(n),
            _ if self.is_finite() => serializer.serialize_f64(*self),
            _ => Err(serde::ser::Error::custom(
                "JSON has no number for NaN or infinity",
            )),
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(OptionVisitor(PhantomData))
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SeqVisitor(PhantomData))
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Written))
    }
}

impl<T: Field> Field for Box<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self::new)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).write(serializer)
    }
}

impl<V: Serialize + DeserializeOwned> Field for crate::ordered_map::OrderedMap<V> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> Result<i64, E> {
        Ok(n)
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> Result<i64, E> {
        i64::try_from(n).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(n), &self))
    }

    fn visit_f64<E: de::Error>(self, n: f64) -> Result<i64, E> {
        whole(n).ok_or_else(|| E::invalid_value(de::Unexpected::Float(n), &self))
    }
}

struct OptionVisitor<T>(PhantomData<T>);

impl<'de, T: Field> Visitor<'de> for OptionVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: de::Error>(self) -> Result<Option<T>, E> {
        Ok(T::from_null())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
        Ok(T::from_null())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        T::read(deserializer).map(Some)
    }
}

struct SeqVisitor<T>(PhantomData<T>);

impl<'de, T: Field> Visitor<'de> for SeqVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(FieldSeed::new())? {
            items.push(item);
        }
        Ok(items)
    }
}
