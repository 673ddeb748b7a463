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
    /// What the value is.
    pub kind: InputKind,
    /// Whether the server needs a value.
    pub required: bool,
    /// Whether there may be several values.
    pub multiple: bool,
    /// The default values of an input that takes several.
    pub defaults: Vec<String>,
    /// The smallest number.
    pub min: Option<f64>,
    /// The largest number.
    pub max: Option<f64>,
    pub(crate) extra: Map<String, Value>,
}

/// What the value of an [`Input`] is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// A text.
    #[default]
    Text,
    /// A decimal number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// The path of a file.
    File,
    /// The path of a folder.
    Folder,
}

impl Input {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            description: None,
            password: false,
            default: None,
            options: None,
            kind: InputKind::Text,
            required: false,
            multiple: false,
            defaults: Vec::new(),
            min: None,
            max: None,
            extra: Map::new(),
        }
    }

    /// Whether a file that is read without anybody to ask refers to its value: the server does not work without
    /// it, or it has one.
    pub(crate) fn is_wanted(&self) -> bool {
        self.required || self.password || self.default.is_some()
    }

    /// The name by which files refer to an input's value at this place, from 0: the first one's is its id, `id#2` the
    /// second one's.
    pub fn answer_id(id: &str, at: usize) -> String {
        match at {
            0 => id.to_owned(),
            at => format!("{id}#{}", at + 1),
        }
    }

    pub(crate) fn read(node: &Node) -> Result<Self, Fault> {
        let mut fields = Fields::of(node)?;
        let Some(id) = fields.take(&["id"], field::text)? else {
            return Err(Fault::new(node.at, "an input has no \"id\""));
        };
        Ok(Self {
            description: fields.take(&["description"], field::text)?,
            password: fields.take(&["password"], field::flag)?.unwrap_or(false),
            default: fields.take(&["default"], field::text)?,
            options: fields.take(&["options"], field::texts)?,
            required: true,
            extra: fields.rest(),
            ..Self::new(&id)
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

/// A reference to the value of an input at this place: `${input:id}`, and `${input:id#2}` for the second one.
pub(crate) fn reference(id: &str, at: usize) -> String {
    format!("${{input:{}}}", Input::answer_id(id, at))
}
