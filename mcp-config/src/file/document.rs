//! A file as a tree of values with their positions.

use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::{Number, Value};

use crate::dialect::{Dialect, Format};
use crate::file::problem::{ConfigProblem, Place};

/// A value and its start, as a byte offset in the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

/// A member of an object and the start of its name.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) value: Node,
}

/// Reads a whole file.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Node, ConfigProblem> {
    match dialect.format() {
        Format::Json => parse_json(text),
        #[cfg(feature = "toml")]
        Format::Toml => {
            crate::file::toml_document::parse(text).map_err(|(at, why)| broken(text, at, &why))
        }
        #[cfg(feature = "yaml")]
        Format::Yaml => {
            crate::file::yaml_document::parse(text).map_err(|(at, why)| broken(text, at, &why))
        }
    }
}

fn broken(text: &str, at: usize, why: &str) -> ConfigProblem {
    ConfigProblem {
        place: Place::new(text, at, "$".to_owned()),
        server: None,
        message: format!("the file cannot be read: {why}"),
    }
}

/// JSON with comments and trailing commas.
pub(crate) const fn json_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn parse_json(text: &str) -> Result<Node, ConfigProblem> {
    match parse_to_ast(text, &CollectOptions::default(), &json_options()) {
        Ok(parsed) => Ok(parsed.value.map_or_else(Node::empty, Node::from)),
        Err(error) => {
            let mut why = error.kind().to_string();
            why.make_ascii_lowercase();
            Err(broken(text, error.range().start, &why))
        }
    }
}

impl Node {
    fn empty() -> Self {
        let kind = Kind::Object(Vec::new());
        Self { at: 0, kind }
    }

    /// The members, if it is an object.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// A member, if it is an object; of several with the same name the last one.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let mut members = self.members()?.iter().rev();
        members
            .find(|member| member.name == name)
            .map(|member| &member.value)
    }

    /// Its kind, for people.
    pub(crate) fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }

    /// The value without positions.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(value) => Value::Number(value.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Object(members) => {
                let pair = |member: &Member| (member.name.clone(), member.value.to_value());
                Value::Object(members.iter().map(pair).collect())
            }
        }
    }
}

impl From<ast::Value<'_>> for Node {
    fn from(value: ast::Value<'_>) -> Self {
        let (at, kind) = match value {
            ast::Value::NullKeyword(null) => (null.range.start, Kind::Null),
            ast::Value::BooleanLit(flag) => (flag.range.start, Kind::Bool(flag.value)),
            ast::Value::NumberLit(number) => {
                // A number that the parser accepts but JSON does not (`1e999`) stays text.
                let text = || Kind::Text(number.value.to_owned());
                let read = number.value.parse().map_or_else(|_| text(), Kind::Number);
                (number.range.start, read)
            }
            ast::Value::StringLit(text) => (text.range.start, Kind::Text(text.value.into_owned())),
            ast::Value::Array(list) => {
                let items = list.elements.into_iter().map(Self::from).collect();
                (list.range.start, Kind::List(items))
            }
            ast::Value::Object(object) => {
                let members = object.properties.into_iter().map(|member| Member {
                    at: member.range.start,
                    name: member.name.as_str().to_owned(),
                    value: member.value.into(),
                });
                (object.range.start, Kind::Object(members.collect()))
            }
        };
        Self { at, kind }
    }
}
