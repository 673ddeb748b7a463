//! The JSON Schema keywords this crate understands: how each contains other schemas and which types it applies to. The
//! order is the output order.

use crate::graph::types::Types;

/// How a keyword's value contains schemas.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Subschemas {
    /// Not at all: the value is plain JSON.
    Plain,
    /// The value is a schema.
    One,
    /// The value is a list of schemas.
    Many,
    /// The value maps names to schemas.
    Named,
}

/// The effect of a keyword on the set of accepted values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Role {
    /// None: it is an annotation.
    Note,
    /// It constrains values of the types in [`Keyword::applies`].
    Rule,
}

#[derive(Debug)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    pub(crate) shape: Subschemas,
    pub(crate) role: Role,
    pub(crate) applies: Types,
}

const fn note(name: &'static str) -> Keyword {
    Keyword {
        name,
        shape: Subschemas::Plain,
        role: Role::Note,
        applies: Types::ANY,
    }
}

const fn rule(name: &'static str, shape: Subschemas, applies: Types) -> Keyword {
    Keyword {
        name,
        shape,
        role: Role::Rule,
        applies,
    }
}

/// Every keyword a node may contain. `type` and `$ref` are separate fields.
const KEYWORDS: &[Keyword] = &[
    note("title"),
    note("description"),
    rule("format", Subschemas::Plain, Types::STRING.or(Types::NUMBER)),
    rule("const", Subschemas::Plain, Types::ANY),
    rule("enum", Subschemas::Plain, Types::ANY),
    note("default"),
    note("examples"),
    note("deprecated"),
    note("readOnly"),
    note("writeOnly"),
    rule("minLength", Subschemas::Plain, Types::STRING),
    rule("maxLength", Subschemas::Plain, Types::STRING),
    rule("pattern", Subschemas::Plain, Types::STRING),
    note("contentEncoding"),
    note("contentMediaType"),
    rule("minimum", Subschemas::Plain, Types::NUMBER),
    rule("maximum", Subschemas::Plain, Types::NUMBER),
    rule("exclusiveMinimum", Subschemas::Plain, Types::NUMBER),
    rule("exclusiveMaximum", Subschemas::Plain, Types::NUMBER),
    rule("multipleOf", Subschemas::Plain, Types::NUMBER),
    rule("properties", Subschemas::Named, Types::OBJECT),
    rule("required", Subschemas::Plain, Types::OBJECT),
    rule("patternProperties", Subschemas::Named, Types::OBJECT),
    rule("propertyNames", Subschemas::One, Types::OBJECT),
    rule("additionalProperties", Subschemas::One, Types::OBJECT),
    rule("unevaluatedProperties", Subschemas::One, Types::OBJECT),
    rule("minProperties", Subschemas::Plain, Types::OBJECT),
    rule("maxProperties", Subschemas::Plain, Types::OBJECT),
    rule("dependentRequired", Subschemas::Plain, Types::OBJECT),
    rule("dependentSchemas", Subschemas::Named, Types::OBJECT),
    rule("prefixItems", Subschemas::Many, Types::ARRAY),
    rule("items", Subschemas::One, Types::ARRAY),
    rule("unevaluatedItems", Subschemas::One, Types::ARRAY),
    rule("minItems", Subschemas::Plain, Types::ARRAY),
    rule("maxItems", Subschemas::Plain, Types::ARRAY),
    rule("uniqueItems", Subschemas::Plain, Types::ARRAY),
    rule("contains", Subschemas::One, Types::ARRAY),
    rule("minContains", Subschemas::Plain, Types::ARRAY),
    rule("maxContains", Subschemas::Plain, Types::ARRAY),
    rule("anyOf", Subschemas::Many, Types::ANY),
    rule("oneOf", Subschemas::Many, Types::ANY),
    rule("allOf", Subschemas::Many, Types::ANY),
    rule("not", Subschemas::One, Types::ANY),
    rule("if", Subschemas::One, Types::ANY),
    rule("then", Subschemas::One, Types::ANY),
    rule("else", Subschemas::One, Types::ANY),
];

/// Marks the end of a row of [`BY_LENGTH`].
const END: u8 = u8::MAX;

/// Indices into [`KEYWORDS`] by the length of the name: lookups compare a few names, not all.
const BY_LENGTH: [[u8; 8]; 24] = by_length();

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated at compile time: a name that does not fit does not compile"
)]
const fn by_length() -> [[u8; 8]; 24] {
    let mut rows = [[END; 8]; 24];
    let mut index = 0;
    while index < KEYWORDS.len() {
        let row = KEYWORDS[index].name.len();
        let mut at = 0;
        while rows[row][at] != END {
            at += 1;
        }
        rows[row][at] = index as u8;
        index += 1;
    }
    rows
}

/// The index of the keyword `name`.
fn position(name: &str) -> Option<usize> {
    let row = BY_LENGTH.get(name.len())?;
    let indices = row.iter().take_while(|index| **index != END);
    indices
        .map(|index| usize::from(*index))
        .find(|index| KEYWORDS.get(*index).is_some_and(|known| known.name == name))
}

/// The keyword `name`.
pub(crate) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.get(position(name)?)
}

/// The position of `name` in output; unknown names go last.
pub(crate) fn rank(name: &str) -> usize {
    position(name).unwrap_or(usize::MAX)
}

/// Whether `name` constrains what is accepted.
pub(crate) fn is_rule(name: &str) -> bool {
    find(name).is_some_and(|keyword| keyword.role == Role::Rule)
}
