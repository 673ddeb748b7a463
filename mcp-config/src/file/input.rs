//! What VS Code's files ask the user for.

use serde_json::{Map, Value};

use crate::file::document::Node;
use crate::file::field::{self, Fault, Fields};

/// Something the user is asked for once: `${input:id}` refers to the answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Input {
    /// What `${input:…}` names it by.
    pub id: String,
    /// What to ask.
    pub description: Option<String>,
    /// Whether the answer is a secret.
    pub password: bool,
    /// The answer if there is no other.
    pub default: Option<String>,
    /// The answers to choose from, if there is a choice.
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
