//! Types of the members of a wire object, and how they are read and written.

use std::borrow::Cow;

use serde::ser::{self, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::json::ordered_map::OrderedMap;
use crate::json::raw::{RawJson, RawObject, RawRef};
use crate::json::read_error::ReadError;
use crate::json::reader::{MAX_DEPTH, Reader};
use crate::message::id::{ProgressToken, RequestId, whole};

/// A value of a member. Numbers follow the protocol's conventions: `60000.0` is accepted as an integer, and `50.0` is
/// written as `50`.
pub(crate) trait Field: Sized {
    /// Reads the value.
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError>;

    /// Writes the value.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// The meaning of `null` for an optional member: absent, unless the value itself can be null.
    fn from_null() -> Option<Self> {
        None
    }
}

/// Serializes a [`Field`] with serde.
pub(crate) struct Written<'a, T>(pub(crate) &'a T);

impl<T: Field> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// Deserializes a [`Field`] with serde.
macro_rules! deserialize_fields {
    ($($Type:ty),* $(,)?) => {$(
        impl<'de> ::serde::Deserialize<'de> for $Type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let raw = $crate::json::raw::RawJson::deserialize(deserializer)?;
                let mut reader = $crate::json::reader::Reader::new(raw.get());
                <Self as $crate::wire::field::Field>::read(&mut reader)
                    .map_err(::serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use deserialize_fields;

/// Fields written by serde as they are.
macro_rules! serialize_plainly {
    () => {
        fn write<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            ::serde::Serialize::serialize(self, serializer)
        }
    };
}
pub(crate) use serialize_plainly;

impl Field for String {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader.string().map(Cow::into_owned)
    }

    serialize_plainly!();
}

impl Field for bool {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader.boolean()
    }

    serialize_plainly!();
}

impl Field for i64 {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader.integer()
    }

    serialize_plainly!();
}

impl Field for f64 {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader.float()
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Up to this bound every whole number is exact as a float.
        const EXACT: i64 = 1 << 53;
        match whole(*self) {
            Some(n) if (-EXACT..=EXACT).contains(&n) => serializer.serialize_i64(n),
            _ if self.is_finite() => serializer.serialize_f64(*self),
            _ => Err(ser::Error::custom("JSON has no number for NaN or infinity")),
        }
    }
}

impl Field for RawJson {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader
            .raw(MAX_DEPTH)
            .map(|text| RawRef::checked(text).into())
    }

    serialize_plainly!();

    fn from_null() -> Option<Self> {
        Some(Self::null())
    }
}

impl Field for RawObject {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        match reader.peek() {
            Some(b'{') => RawJson::read(reader)?.try_into(),
            _ => Err(reader.mismatch("an object")),
        }
    }

    serialize_plainly!();
}

/// Fields that serde_json reads better than we would.
macro_rules! foreign_fields {
    ($($Type:ty),* $(,)?) => {$(
        impl Field for $Type {
            fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
                Ok(serde_json::from_str(reader.raw(MAX_DEPTH)?)?)
            }

            serialize_plainly!();
        }
    )*};
}

foreign_fields!(RequestId, ProgressToken, Value, Map<String, Value>);

impl<T: Field> Field for Option<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        if reader.null()? {
            Ok(T::from_null())
        } else {
            T::read(reader).map(Some)
        }
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        let mut list = Self::new();
        let mut items = reader.array()?;
        while items.next(reader)? {
            let item = T::read(reader).map_err(|error| error.in_item(list.len()))?;
            if list.is_empty() {
                // Most lists have one item, and items are large: a capacity of four is seldom needed.
                list.reserve_exact(1);
            }
            list.push(item);
        }
        Ok(list)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Written))
    }
}

impl<V: Field> Field for OrderedMap<V> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        let mut map = Self::new();
        let mut members = reader.object()?;
        while let Some(name) = members.next(reader)? {
            let name = name.decode()?.into_owned();
            let value = V::read(reader).map_err(|error| error.in_member(&name))?;
            map.push(name, value);
        }
        map.settle();
        Ok(map)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name, Written(value))))
    }
}
