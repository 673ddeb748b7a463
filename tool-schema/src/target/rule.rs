//! The choices a target's table is made of.

use crate::name::Alphabet;

/// What a property key may look like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KeyRule {
    pub(crate) first: Alphabet,
    pub(crate) rest: Alphabet,
    pub(crate) max: usize,
    pub(crate) scope: KeyScope,
}

impl KeyRule {
    /// Keys of at most `max` characters (never fewer than 16), the first of
    /// `first`, the others of `rest`.
    pub const fn new(first: Alphabet, rest: Alphabet, max: usize, scope: KeyScope) -> Self {
        Self {
            first,
            rest,
            max: if max < 16 { 16 } else { max },
            scope,
        }
    }
}

/// Which property keys a rule binds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyScope {
    /// Those of the root.
    Root,
    /// All.
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
    /// Only where each turn passes through a property that may be left out.
    Optional,
    /// None: recursive definitions are written out to a bounded depth.
    None,
}

/// What may stand beside a `$ref`.
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

/// What may stand beside an `anyOf`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unions {
    /// Anything.
    Free,
    /// A description; all else moves into the branches.
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
    /// Strings that are not empty; other values are written as strings and
    /// turned back in the arguments.
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

/// How null is admitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nulls {
    /// As a type.
    Type,
    /// As a type, but a property that defaults to null is left out instead.
    Sparing,
    /// By `nullable: true`.
    Keyword,
    /// Not at all: such a property is left out instead.
    Never,
}

/// What becomes of a subschema without a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Untyped {
    /// It stays.
    Keep,
    /// It becomes a string that holds JSON, and the arguments are parsed.
    Text,
    /// It stays, and is a loss.
    Refuse,
}

/// What becomes of an object with keys of its own choosing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OpenObjects {
    /// It stays.
    Keep,
    /// It becomes a list of keys and values, and the arguments become a map again.
    Entries,
    /// The keyword is left out.
    Drop,
    /// It is closed, which is a loss unless its properties were listed.
    Close,
    /// A map becomes a list of keys and values, an object without listed properties becomes JSON
    /// text, and every other object is closed.
    EntriesOrClose,
}

/// How a property that may be left out is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Optional {
    /// By leaving it out of `required`.
    Omit,
    /// As required and nullable; nulls the original forbids are taken out of the
    /// arguments.
    Null,
}

/// CompileLimits within which a provider enforces a schema. Zero means none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StrictLimits {
    /// Properties of all objects of a tool.
    pub properties: usize,
    /// Levels of objects and arrays of a tool.
    pub depth: usize,
    /// Values of all enums of a tool.
    pub enum_values: usize,
    /// Characters of all property names and enum values of a tool.
    pub text: usize,
    /// Characters of one enum of more than 250 strings.
    pub large_enum_text: usize,
    /// Strict tools of a request.
    pub tools: usize,
    /// Optional properties of all strict tools of a request.
    pub optional: usize,
    /// Subschemas with more than one type of all strict tools of a request.
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
