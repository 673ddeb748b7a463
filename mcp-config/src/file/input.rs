//! Inputs that VS Code's files request from the user.

use serde_json::{Map, Value};

use crate::file::document::Node;
use crate::file::field::{self, Fault, Fields};

/// An input requested from the user once: `${input:id}` refers to its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Input {
    /// The id in `${input:…}`.
    pub id: String,
    /// The question.
    pub description: Option<String>,
    /// Whether the value is a secret.
    pub password: bool,
    /// The default value.
    pub default: Option<String>,
    /// The allowed values, if they are restricted.
    pub options: Option<Vec<String>>,
    pub(crate) extra: Map<String, Value>,
}

impl Input {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            description: None,
            password: false,
            default: None,
            options: None,
            extra: Map::new(),
        }
    }

    pub(crate) fn read(node: &Node) -> Result<Self, Fault> {
        let mut fields = Fields::of(node)?;
        let Some(id) = fields.take(&["id"], field::text)? else {
            return Err(Fault::new(node.at, "an input has no \"id\""));
        };
        Ok(Self {
            id,
            description: fields.take(&["description"], field::text)?,
            password: fields.take(&["password"], field::flag)?.unwrap_or(false),
            default: fields.take(&["default"], field::text)?,
            options: fields.take(&["options"], field::texts)?,
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("id".to_owned(), self.id.as_str().into());
        value.extend(self.extra.clone());
        let mut set = |name: &str, said: Option<Value>| {
            if let Some(said) = said {
                value.insert(name.to_owned(), said);
            }
        };
        set("description", self.description.clone().map(Value::from));
        set("password", self.password.then_some(Value::Bool(true)));
        set("default", self.default.clone().map(Value::from));
        set("options", self.options.clone().map(Value::from));
        Value::Object(value)
    }
}
