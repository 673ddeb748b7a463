//! The set of JSON types a schema admits.

use serde_json::Value;

/// A set of JSON types. A set that contains numbers contains integers too, so that intersection is a plain bit-and.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    pub(crate) const INTEGER: Self = Self(1 << 2);
    pub(crate) const NUMBER: Self = Self(1 << 2 | 1 << 3);
    pub(crate) const STRING: Self = Self(1 << 4);
    pub(crate) const ARRAY: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);
    pub(crate) const ANY: Self = Self(0b111_1111);

    /// The types for `name`, including misspellings seen in the wild. The flag is true if the spelling was JSON
    /// Schema's own.
    pub(crate) fn named(name: &str) -> Option<(Self, bool)> {
        Some(match name {
            "null" => (Self::NULL, true),
            "boolean" => (Self::BOOLEAN, true),
            "integer" => (Self::INTEGER, true),
            "number" => (Self::NUMBER, true),
            "string" => (Self::STRING, true),
            "array" => (Self::ARRAY, true),
            "object" => (Self::OBJECT, true),
            _ => match name.to_ascii_lowercase().as_str() {
                "null" | "none" => (Self::NULL, false),
                "bool" | "boolean" => (Self::BOOLEAN, false),
                "int" | "int32" | "int64" | "integer" | "long" => (Self::INTEGER, false),
                "float" | "double" | "decimal" | "number" => (Self::NUMBER, false),
                "str" | "text" | "string" => (Self::STRING, false),
                "list" | "tuple" | "array" => (Self::ARRAY, false),
                "dict" | "map" | "object" => (Self::OBJECT, false),
                "any" => (Self::ANY, false),
                _ => return None,
            },
        })
    }

    /// The smallest set that contains `value`.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(n) if n.is_i64() || n.is_u64() => Self::INTEGER,
            Value::Number(n) => match n.as_f64() {
                Some(f) if f.fract() == 0.0 => Self::INTEGER,
                _ => Self(1 << 3),
            },
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether every type of `other` is in `self`.
    pub(crate) fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The members in a fixed order, numbers once, null last.
    pub(crate) fn each(self) -> impl Iterator<Item = (Self, &'static str)> {
        let number = if self.holds(Self::NUMBER) {
            (Self::NUMBER, "number")
        } else {
            (Self::INTEGER, "integer")
        };
        [
            (Self::STRING, "string"),
            number,
            (Self::BOOLEAN, "boolean"),
            (Self::ARRAY, "array"),
            (Self::OBJECT, "object"),
            (Self::NULL, "null"),
        ]
        .into_iter()
        .filter(move |(kind, _)| self.holds(*kind))
    }

    /// The number of types `each` lists.
    pub(crate) fn count(self) -> usize {
        self.each().count()
    }
}
