//! The forms of elicitation: flat objects of simple fields.

use crate::json::ordered_map::OrderedMap;
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;
use crate::wire::tagged::tagged;

object! {
    /// A form: a JSON Schema of a flat object.
    pub struct FormSchema tag "type" = "object" {
        required {
            /// The fields, in display order.
            properties: OrderedMap<FieldSchema> = "properties",
        }
        optional {
            /// The names of fields that must be filled in.
            required: Vec<String> = "required",
            /// The dialect of JSON Schema.
            dialect: String = "$schema",
        }
    }
}

tagged! {
    /// A field of a form.
    pub enum FieldSchema by "type" keeps bad ones {
        /// Text, or one of several choices.
        String(StringSchema) = "string",
        /// A number.
        Number(NumberSchema) = "number",
        /// An integer.
        Integer(IntegerSchema) = "integer",
        /// A boolean.
        Boolean(BooleanSchema) = "boolean",
        /// Any of several choices (2025-11-25 and later).
        MultiSelect(MultiSelectSchema) = "array",
    }
}

object! {
    /// Text, or one of several choices.
    pub struct StringSchema tag "type" = "string" {
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// The minimum number of characters.
            min_length: i64 = "minLength",
            /// The maximum number of characters.
            max_length: i64 = "maxLength",
            /// The format.
            format: StringFormat = "format",
            /// A regular expression it must match (prose of 2025-11-25).
            pattern: String = "pattern",
            /// The choices, if only these may be chosen.
            values: Vec<String> = "enum",
            /// The display names of `values`, in the same order (older servers).
            value_names: Vec<String> = "enumNames",
            /// The choices with titles, if only these may be chosen (2025-11-25 and later).
            one_of: Vec<TitledValue> = "oneOf",
            /// The default (2025-11-25 and later).
            default: String = "default",
        }
    }
}

impl StringSchema {
    /// The choices with their display names; empty for free text.
    pub fn choices(&self) -> Vec<TitledValue> {
        choices(
            self.one_of.as_deref(),
            self.values.as_deref(),
            self.value_names.as_deref(),
        )
    }
}

string_enum! {
    /// The format of a text field.
    pub open StringFormat {
        /// A date.
        Date = "date",
        /// A date and a time.
        DateTime = "date-time",
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
    }
}

object! {
    /// A number.
    pub struct NumberSchema tag "type" = "number" {
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// The minimum.
            minimum: f64 = "minimum",
            /// The maximum.
            maximum: f64 = "maximum",
            /// The default (2025-11-25 and later).
            default: f64 = "default",
        }
    }
}

object! {
    /// An integer.
    pub struct IntegerSchema tag "type" = "integer" {
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// The minimum.
            minimum: f64 = "minimum",
            /// The maximum.
            maximum: f64 = "maximum",
            /// The default (2025-11-25 and later).
            default: f64 = "default",
        }
    }
}

object! {
    /// A boolean.
    pub struct BooleanSchema tag "type" = "boolean" {
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// The default.
            default: bool = "default",
        }
    }
}

object! {
    /// Any of several choices (2025-11-25 and later).
    pub struct MultiSelectSchema tag "type" = "array" {
        required {
            /// The choices.
            items: MultiSelectItems = "items",
        }
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// The minimum number of choices.
            min_items: i64 = "minItems",
            /// The maximum number of choices.
            max_items: i64 = "maxItems",
            /// The default.
            default: Vec<String> = "default",
        }
    }
}

object! {
    /// The choices of a [`MultiSelectSchema`]: `values`, or else `any_of`.
    pub struct MultiSelectItems {
        optional {
            /// Their type: `string`, beside `values`.
            kind: String = "type",
            /// The choices.
            values: Vec<String> = "enum",
            /// The choices with titles.
            any_of: Vec<TitledValue> = "anyOf",
        }
    }
}

impl MultiSelectItems {
    /// The choices with their display names.
    pub fn choices(&self) -> Vec<TitledValue> {
        choices(self.any_of.as_deref(), self.values.as_deref(), None)
    }
}

object! {
    /// A choice and its display name.
    pub struct TitledValue {
        required {
            /// The choice.
            value: String = "const",
            /// Its display name.
            title: String = "title",
        }
    }
}

fn choices(
    titled: Option<&[TitledValue]>,
    values: Option<&[String]>,
    names: Option<&[String]>,
) -> Vec<TitledValue> {
    match titled {
        Some(titled) => titled.to_vec(),
        None => values
            .unwrap_or_default()
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let name = names.and_then(|names| names.get(at)).unwrap_or(value);
                TitledValue::new(value, name)
            })
            .collect(),
    }
}
