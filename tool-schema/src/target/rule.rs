//! The settings in a target's table.

use crate::name::Alphabet;

/// The rule for valid property keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KeyRule {
    pub(crate) first: Alphabet,
    pub(crate) rest: Alphabet,
    pub(crate) max: usize,
    pub(crate) scope: KeyScope,
}

impl KeyRule {
    /// Keys of at most `max` characters (never fewer than 16), the first from `first`, the others from `rest`.
    pub const fn new(first: Alphabet, rest: Alphabet, max: usize, scope: KeyScope) -> Self {
        Self {
            first,
            rest,
            max: if max < 16 { 16 } else { max },
            scope,
        }
    }
}

/// The property keys a rule applies to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyScope {
    /// The root's keys.
    Root,
    /// All keys.
    Everywhere,
}

/// The regular expressions accepted in `pattern`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Patterns {
    /// Any.
    Any,
    /// Those without look-around, back-references, word boundaries and large counts.
    Plain,
}

/// The recursion accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Recursion {
    /// Any.
    Any,
    /// Only if each cycle passes through an optional property.
    Optional,
    /// None: recursive definitions are inlined to a bounded depth.
    None,
}

/// What is allowed beside a `$ref`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RefSiblings {
    /// Anything.
    Any,
    /// `description` and `default`.
    Notes,
    /// Nothing.
    None,
}

/// What is allowed beside an `anyOf`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unions {
    /// Anything.
    Free,
    /// A description; everything else moves into the branches.
    Described,
    /// Nothing.
    Alone,
}

/// The values accepted in `enum`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Enums {
    /// Any.
    Any,
    /// Strings, numbers, booleans and null.
    Scalars,
    /// Strings, numbers and null.
    StringsAndNumbers,
    /// Non-empty strings; other values are written as strings and restored in the arguments.
    Strings,
}

/// The lists accepted as `type`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TypeLists {
    /// Any.
    Any,
    /// Those without `object` and `array`; others become an `anyOf`.
    Scalars,
    /// None; they become an `anyOf`.
    None,
}

/// How null is expressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nulls {
    /// As a type.
    Type,
    /// As a type, but a property that defaults to null is omitted instead.
    Sparing,
    /// With `nullable: true`.
    Keyword,
    /// Not at all: such a property is omitted instead.
    Never,
}

/// The handling of a subschema without a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Untyped {
    /// It stays.
    Keep,
    /// It becomes a string that contains JSON, and the arguments are parsed.
    Text,
    /// It stays, and is a loss.
    Refuse,
}

/// The handling of an object with arbitrary keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OpenObjects {
    /// It stays.
    Keep,
    /// It becomes a list of keys and values, and the arguments become a map again.
    Entries,
    /// The keyword is omitted.
    Drop,
    /// It is closed, which is a loss unless its properties were listed.
    Close,
    /// A map becomes a list of keys and values, an object without listed properties becomes JSON text, and every other
    /// object is closed.
    EntriesOrClose,
}

/// How an optional property is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Optional {
    /// Omitted from `required`.
    Omit,
    /// Required and nullable; nulls that the original forbids are removed from the arguments.
    Null,
}

/// Limits within which a provider enforces a schema. Zero means none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StrictLimits {
    /// The number of properties of all objects of a tool.
    pub properties: usize,
    /// The nesting depth of objects and arrays of a tool.
    pub depth: usize,
    /// The number of values of all enums of a tool.
    pub enum_values: usize,
    /// The number of characters of all property names and enum values of a tool.
    pub text: usize,
    /// The number of characters of one enum of more than 250 strings.
    pub large_enum_text: usize,
    /// The number of strict tools of a request.
    pub tools: usize,
    /// The number of optional properties of all strict tools of a request.
    pub optional: usize,
    /// The number of subschemas with more than one type of all strict tools of a request.
    pub unions: usize,
}

impl StrictLimits {
    /// No limits.
    pub const NONE: Self = Self {
        properties: 0,
        depth: 0,
        enum_values: 0,
        text: 0,
        large_enum_text: 0,
        tools: 0,
        optional: 0,
        unions: 0,
    };
}
