//! The known providers.
//!
//! Sources: the providers' public documentation on function calling and structured outputs, and reports of what their
//! servers reject.

use super::{
    Enums, KeyRule, KeyScope, Nulls, OpenObjects, Optional, Patterns, Recursion, RefSiblings,
    StrictLimits, Target, TypeLists, Unions, Untyped,
};
use crate::{NameRule, name::Alphabet};

/// All JSON Schema keywords except those rejected at the root of a function's parameters.
const PLAIN_ROOT: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "examples",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "$defs",
];

/// The same, where `not` is accepted as well.
const ANTHROPIC_ROOT: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "examples",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "not",
    "$defs",
];

const STRICT_FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

const STRICT_ROOT: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
];

impl Target {
    /// OpenAI functions without `strict`.
    pub const OPENAI: Self = Self::json_schema("openai")
        .with_root_keywords(PLAIN_ROOT)
        .with_max_tools(128)
        .with_items_needed();

    /// OpenAI functions with `strict: true`.
    pub const OPENAI_STRICT: Self = Self::json_schema("openai-strict")
        .with_strict(
            StrictLimits {
                properties: 5_000,
                depth: 10,
                enum_values: 1_000,
                text: 120_000,
                large_enum_text: 15_000,
                ..StrictLimits::NONE
            },
            &Self::OPENAI,
        )
        .with_keywords(&[
            "type",
            "description",
            "format",
            "const",
            "enum",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "minItems",
            "maxItems",
            "anyOf",
            "$ref",
            "$defs",
        ])
        .with_root_keywords(STRICT_ROOT)
        .with_formats(STRICT_FORMATS)
        .with_ref_siblings(RefSiblings::None)
        .with_unions(Unions::Described)
        // Objects and arrays are written in another form than the listed values.
        .with_enums(Enums::Scalars)
        .with_untyped(Untyped::Refuse)
        .with_open_objects(OpenObjects::Close)
        .with_optional(Optional::Null)
        .with_items_needed()
        .with_known_required()
        .with_max_tools(128);

    /// Anthropic tools without `strict`.
    pub const ANTHROPIC: Self = Self::json_schema("anthropic")
        .with_root_keywords(ANTHROPIC_ROOT)
        .with_keys(KeyRule::new(
            Alphabet::WORD_DOT,
            Alphabet::WORD_DOT,
            64,
            KeyScope::Root,
        ));

    /// Anthropic tools with `strict: true`.
    pub const ANTHROPIC_STRICT: Self = Self::json_schema("anthropic-strict")
        .with_strict(
            StrictLimits {
                tools: 20,
                optional: 24,
                unions: 16,
                ..StrictLimits::NONE
            },
            &Self::ANTHROPIC,
        )
        .with_keywords(&[
            "type",
            "description",
            "format",
            "const",
            "enum",
            "default",
            "pattern",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "minItems",
            "anyOf",
            "$ref",
            "$defs",
        ])
        .with_root_keywords(STRICT_ROOT)
        .with_formats(&[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "uri",
            "ipv4",
            "ipv6",
            "uuid",
        ])
        .with_patterns(Patterns::Plain)
        .with_max_min_items(1)
        .with_recursion(Recursion::None)
        .with_ref_siblings(RefSiblings::Notes)
        .with_unions(Unions::Described)
        .with_enums(Enums::Scalars)
        .with_nulls(Nulls::Sparing)
        .with_untyped(Untyped::Refuse)
        .with_open_objects(OpenObjects::Close)
        .with_known_required()
        .with_keys(KeyRule::new(
            Alphabet::WORD_DOT,
            Alphabet::WORD_DOT,
            64,
            KeyScope::Root,
        ));

    /// Gemini function declarations with `parametersJsonSchema`.
    pub const GEMINI: Self = Self::json_schema("gemini")
        .with_tool_names(NameRule::GEMINI)
        .with_max_tools(512)
        .with_keywords(&[
            "type",
            "title",
            "description",
            "format",
            "enum",
            "default",
            "minimum",
            "maximum",
            "properties",
            "required",
            "additionalProperties",
            "prefixItems",
            "items",
            "minItems",
            "maxItems",
            "anyOf",
            "$ref",
            "$defs",
        ])
        .with_recursion(Recursion::Optional)
        .with_ref_siblings(RefSiblings::Notes)
        .with_enums(Enums::StringsAndNumbers)
        .with_known_required();

    /// Gemini function declarations with `parameters`, a subset of OpenAPI 3.0.
    pub const GEMINI_OPENAPI: Self = Self::json_schema("gemini-openapi")
        .with_tool_names(NameRule::GEMINI)
        .with_max_tools(512)
        .with_keywords(&[
            "type",
            "title",
            "description",
            "format",
            "enum",
            "default",
            "minLength",
            "maxLength",
            "pattern",
            "minimum",
            "maximum",
            "properties",
            "required",
            "minProperties",
            "maxProperties",
            "items",
            "minItems",
            "maxItems",
            "anyOf",
            "nullable",
        ])
        .with_root_keywords(&[
            "type",
            "title",
            "description",
            "properties",
            "required",
            "minProperties",
            "maxProperties",
        ])
        .with_empty_root_omitted()
        .with_unions(Unions::Alone)
        .with_enums(Enums::Strings)
        .with_type_lists(TypeLists::None)
        .with_nulls(Nulls::Keyword)
        .with_untyped(Untyped::Text)
        .with_open_objects(OpenObjects::Entries)
        .without_empty_objects()
        .with_closed_objects_dropped()
        .with_items_needed()
        .with_known_required()
        .with_keys(KeyRule::new(
            Alphabet::NAME_START,
            Alphabet::NAME,
            64,
            KeyScope::Everywhere,
        ));

    /// OpenAI replies in a JSON schema, not enforced.
    const OPENAI_PLAIN_OUTPUT: Self = Self::OPENAI.with_name("openai-plain-output").with_output();

    /// OpenAI replies in a JSON schema with `strict: true`. Maps are written as lists of keys and values, and values of
    /// any type as JSON text.
    pub const OPENAI_OUTPUT: Self = Self {
        strict: match Self::OPENAI_STRICT.strict {
            Some((limits, _)) => Some((limits, &Self::OPENAI_PLAIN_OUTPUT)),
            None => None,
        },
        ..Self::OPENAI_STRICT
            .with_name("openai-output")
            .with_untyped(Untyped::Text)
            .with_open_objects(OpenObjects::EntriesOrClose)
            .with_output()
    };

    /// Anthropic replies through a tool that the model has to call, not enforced.
    const ANTHROPIC_PLAIN_OUTPUT: Self = Self::ANTHROPIC
        .with_name("anthropic-plain-output")
        .with_output();

    /// Anthropic replies with an output format, which is always enforced.
    pub const ANTHROPIC_OUTPUT: Self = Self {
        strict: match Self::ANTHROPIC_STRICT.strict {
            Some((limits, _)) => Some((limits, &Self::ANTHROPIC_PLAIN_OUTPUT)),
            None => None,
        },
        ..Self::ANTHROPIC_STRICT
            .with_name("anthropic-output")
            .with_untyped(Untyped::Text)
            .with_open_objects(OpenObjects::EntriesOrClose)
            .with_output()
    };

    /// Gemini replies with `responseJsonSchema`.
    pub const GEMINI_OUTPUT: Self = Self::GEMINI.with_name("gemini-output").with_output();

    /// Gemini replies with `responseSchema`, a subset of OpenAPI 3.0.
    pub const GEMINI_OPENAPI_OUTPUT: Self = Self::GEMINI_OPENAPI
        .with_name("gemini-openapi-output")
        .with_output();

    /// DeepSeek functions without `strict`.
    pub const DEEPSEEK: Self = Self::OPENAI.with_name("deepseek");

    /// DeepSeek functions with `strict: true` on its beta endpoint.
    pub const DEEPSEEK_STRICT: Self = Self::json_schema("deepseek-strict")
        .with_strict(StrictLimits::NONE, &Self::DEEPSEEK)
        .with_max_tools(128)
        .with_keywords(&[
            "type",
            "description",
            "format",
            "const",
            "enum",
            "default",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
        ])
        .with_root_keywords(&[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
        ])
        .with_formats(&["email", "hostname", "ipv4", "ipv6", "uuid"])
        .with_unions(Unions::Described)
        .with_enums(Enums::Scalars)
        .with_type_lists(TypeLists::Scalars)
        .with_untyped(Untyped::Refuse)
        .with_open_objects(OpenObjects::Close)
        .without_empty_objects()
        .with_optional(Optional::Null)
        .with_items_needed()
        .with_known_required();

    /// Bedrock's Converse, for any model. Amazon's own models accept only `type`, `properties` and `required` at the
    /// root.
    pub const BEDROCK: Self = Self::json_schema("bedrock")
        .with_root_keywords(&["type", "properties", "required"])
        .with_keys(KeyRule::new(
            Alphabet::WORD_DOT,
            Alphabet::WORD_DOT,
            64,
            KeyScope::Root,
        ))
        .with_items_needed();

    /// Mistral functions.
    pub const MISTRAL: Self = Self::OPENAI
        .with_name("mistral")
        .with_closed_objects_dropped();

    /// Groq functions.
    pub const GROQ: Self = Self::OPENAI.with_name("groq");

    /// xAI functions.
    pub const XAI: Self = Self::OPENAI.with_name("xai");

    /// Ollama tools. Keywords that its types do not have never reach the model.
    pub const OLLAMA: Self = Self::json_schema("ollama")
        .with_keywords(&[
            "type",
            "description",
            "enum",
            "properties",
            "required",
            "items",
        ])
        .with_type_lists(TypeLists::None)
        .with_nulls(Nulls::Never)
        .with_untyped(Untyped::Text)
        .with_open_objects(OpenObjects::Drop);

    /// All targets for tools, in the order of their constants.
    pub const ALL: &'static [Self] = &[
        Self::OPENAI,
        Self::OPENAI_STRICT,
        Self::ANTHROPIC,
        Self::ANTHROPIC_STRICT,
        Self::GEMINI,
        Self::GEMINI_OPENAPI,
        Self::DEEPSEEK,
        Self::DEEPSEEK_STRICT,
        Self::BEDROCK,
        Self::MISTRAL,
        Self::GROQ,
        Self::XAI,
        Self::OLLAMA,
    ];

    /// All targets for replies, in the order of their constants.
    pub const OUTPUTS: &'static [Self] = &[
        Self::OPENAI_OUTPUT,
        Self::ANTHROPIC_OUTPUT,
        Self::GEMINI_OUTPUT,
        Self::GEMINI_OPENAPI_OUTPUT,
    ];

    /// The known target of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|target| target.name == name).copied()
    }
}
