//! The capabilities of a provider, as data.

use crate::NameRule;

mod rule;
mod table;

pub use rule::{
    Enums, KeyRule, KeyScope, Nulls, OpenObjects, Optional, Patterns, Recursion, RefSiblings,
    StrictLimits, TypeLists, Unions, Untyped,
};

/// The tool schemas and names that one provider's wire accepts.
///
/// The passes read this table and never a provider's name, so you can define a target for any other provider: start
/// from [`Target::json_schema`] or from the closest constant and change the differences.
///
/// ```
/// use tool_schema::{Target, Untyped};
///
/// const MINE: Target = Target::OPENAI.with_name("mine").with_max_tools(64).with_untyped(Untyped::Text);
/// # assert_eq!(MINE.name(), "mine");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub(crate) name: &'static str,
    pub(crate) strict: Option<(StrictLimits, &'static Target)>,
    pub(crate) tool_names: NameRule,
    pub(crate) max_tools: Option<usize>,
    pub(crate) keys: Option<KeyRule>,
    pub(crate) keywords: Option<&'static [&'static str]>,
    pub(crate) root_keywords: Option<&'static [&'static str]>,
    pub(crate) omits_empty_root: bool,
    pub(crate) formats: Option<&'static [&'static str]>,
    pub(crate) patterns: Patterns,
    pub(crate) max_min_items: Option<u64>,
    pub(crate) recursion: Recursion,
    pub(crate) ref_siblings: RefSiblings,
    pub(crate) unions: Unions,
    pub(crate) enums: Enums,
    pub(crate) type_lists: TypeLists,
    pub(crate) nulls: Nulls,
    pub(crate) untyped: Untyped,
    pub(crate) open_objects: OpenObjects,
    pub(crate) closed_objects_dropped: bool,
    pub(crate) empty_objects: bool,
    pub(crate) optional: Optional,
    pub(crate) needs_items: bool,
    pub(crate) needs_known_required: bool,
    pub(crate) output: bool,
}

impl Target {
    /// A target that accepts any JSON Schema with an object at the root, and names of up to 64 letters, digits, `_` and
    /// `-`.
    pub const fn json_schema(name: &'static str) -> Self {
        Self {
            name,
            strict: None,
            tool_names: NameRule::WORD_64,
            max_tools: None,
            keys: None,
            keywords: None,
            root_keywords: None,
            omits_empty_root: false,
            formats: None,
            patterns: Patterns::Any,
            max_min_items: None,
            recursion: Recursion::Any,
            ref_siblings: RefSiblings::Any,
            unions: Unions::Free,
            enums: Enums::Any,
            type_lists: TypeLists::Any,
            nulls: Nulls::Type,
            untyped: Untyped::Keep,
            open_objects: OpenObjects::Keep,
            closed_objects_dropped: false,
            empty_objects: true,
            optional: Optional::Omit,
            needs_items: false,
            needs_known_required: false,
            output: false,
        }
    }

    /// The target's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the provider enforces the schema on arguments.
    pub const fn is_strict(&self) -> bool {
        self.strict.is_some()
    }

    /// The rule for tool names.
    pub const fn tool_names(&self) -> NameRule {
        self.tool_names
    }

    /// The maximum number of tools in one request, if the provider has one.
    pub const fn max_tools(&self) -> Option<usize> {
        self.max_tools
    }

    /// Sets the target's name.
    #[must_use]
    pub const fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Marks the schema as enforced by the provider: a tool is compiled for this target only where that loses nothing
    /// and stays within `limits`, else for `otherwise`.
    #[must_use]
    pub const fn with_strict(mut self, limits: StrictLimits, otherwise: &'static Target) -> Self {
        self.strict = Some((limits, otherwise));
        self
    }

    /// Sets the rule for tool names.
    #[must_use]
    pub const fn with_tool_names(mut self, rule: NameRule) -> Self {
        self.tool_names = rule;
        self
    }

    /// Sets the maximum number of tools in one request.
    #[must_use]
    pub const fn with_max_tools(mut self, count: usize) -> Self {
        self.max_tools = Some(count);
        self
    }

    /// Sets the rule for property keys; keys that violate it are renamed, and restored in the arguments.
    #[must_use]
    pub const fn with_keys(mut self, rule: KeyRule) -> Self {
        self.keys = Some(rule);
        self
    }

    /// Sets the only keywords accepted. Without `$ref` and `$defs`, references are inlined.
    #[must_use]
    pub const fn with_keywords(mut self, keywords: &'static [&'static str]) -> Self {
        self.keywords = Some(keywords);
        self
    }

    /// Sets the only keywords accepted at the root.
    #[must_use]
    pub const fn with_root_keywords(mut self, keywords: &'static [&'static str]) -> Self {
        self.root_keywords = Some(keywords);
        self
    }

    /// Omits the schema of a tool without parameters.
    #[must_use]
    pub const fn with_empty_root_omitted(mut self) -> Self {
        self.omits_empty_root = true;
        self
    }

    /// Sets the only values of `format` accepted.
    #[must_use]
    pub const fn with_formats(mut self, formats: &'static [&'static str]) -> Self {
        self.formats = Some(formats);
        self
    }

    /// Sets the regular expressions accepted in `pattern`.
    #[must_use]
    pub const fn with_patterns(mut self, patterns: Patterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// Sets the largest `minItems` accepted.
    #[must_use]
    pub const fn with_max_min_items(mut self, count: u64) -> Self {
        self.max_min_items = Some(count);
        self
    }

    /// Sets the recursion accepted where `$ref` is.
    #[must_use]
    pub const fn with_recursion(mut self, recursion: Recursion) -> Self {
        self.recursion = recursion;
        self
    }

    /// Sets what is allowed beside a `$ref`.
    #[must_use]
    pub const fn with_ref_siblings(mut self, siblings: RefSiblings) -> Self {
        self.ref_siblings = siblings;
        self
    }

    /// Sets what is allowed beside an `anyOf`.
    #[must_use]
    pub const fn with_unions(mut self, unions: Unions) -> Self {
        self.unions = unions;
        self
    }

    /// Sets the values accepted in `enum`.
    #[must_use]
    pub const fn with_enums(mut self, enums: Enums) -> Self {
        self.enums = enums;
        self
    }

    /// Sets the lists accepted as `type`.
    #[must_use]
    pub const fn with_type_lists(mut self, lists: TypeLists) -> Self {
        self.type_lists = lists;
        self
    }

    /// Sets how null is expressed.
    #[must_use]
    pub const fn with_nulls(mut self, nulls: Nulls) -> Self {
        self.nulls = nulls;
        self
    }

    /// Sets the handling of a subschema without a type.
    #[must_use]
    pub const fn with_untyped(mut self, untyped: Untyped) -> Self {
        self.untyped = untyped;
        self
    }

    /// Sets the handling of an object with arbitrary keys.
    #[must_use]
    pub const fn with_open_objects(mut self, open: OpenObjects) -> Self {
        self.open_objects = open;
        self
    }

    /// Omits `additionalProperties: false`.
    #[must_use]
    pub const fn with_closed_objects_dropped(mut self) -> Self {
        self.closed_objects_dropped = true;
        self
    }

    /// Rejects objects without properties below the root.
    #[must_use]
    pub const fn without_empty_objects(mut self) -> Self {
        self.empty_objects = false;
        self
    }

    /// Sets how an optional property is written.
    #[must_use]
    pub const fn with_optional(mut self, optional: Optional) -> Self {
        self.optional = optional;
        self
    }

    /// Requires every array to declare its items.
    #[must_use]
    pub const fn with_items_needed(mut self) -> Self {
        self.needs_items = true;
        self
    }

    /// Requires every required property to be described.
    #[must_use]
    pub const fn with_known_required(mut self) -> Self {
        self.needs_known_required = true;
        self
    }

    /// Makes the target one for the schema of a reply instead of a tool's arguments.
    ///
    /// A root that is not one plain object is wrapped in the property `value`, so that any value can be expressed. The
    /// provider enforces the schema even where it had to be weakened, because the reply is validated against the
    /// original.
    #[must_use]
    pub const fn with_output(mut self) -> Self {
        self.output = true;
        self
    }

    /// Whether `keyword` is accepted.
    pub(crate) fn accepts(&self, keyword: &str) -> bool {
        self.keywords.is_none_or(|known| known.contains(&keyword))
    }

    /// Whether `keyword` is accepted at the root.
    pub(crate) fn accepts_at_root(&self, keyword: &str) -> bool {
        self.accepts(keyword)
            && self
                .root_keywords
                .is_none_or(|known| known.contains(&keyword))
    }

    /// What is allowed beside an `anyOf`: where types change, nothing that depends on them.
    pub(crate) fn unions(&self) -> Unions {
        let retyped =
            self.untyped == Untyped::Text || self.has_entries() || self.enums == Enums::Strings;
        match self.unions {
            Unions::Free if retyped => Unions::Described,
            unions => unions,
        }
    }

    /// Whether a map becomes a list of keys and values.
    pub(crate) fn has_entries(&self) -> bool {
        matches!(
            self.open_objects,
            OpenObjects::Entries | OpenObjects::EntriesOrClose
        )
    }

    /// Whether references may be kept.
    pub(crate) fn has_definitions(&self) -> bool {
        self.accepts("$ref") && self.accepts_at_root("$defs")
    }
}
