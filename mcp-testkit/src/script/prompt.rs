//! Prompts of a scripted server.

use serde_json::{Value, json};

use super::Ask;

/// A prompt: its listed form, and the messages it expands to.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub(crate) declared: Value,
    pub(crate) messages: Vec<Value>,
    pub(crate) completions: Vec<(String, Vec<String>)>,
    pub(crate) asks: Vec<Ask>,
}

impl Prompt {
    /// A prompt with one user message. `{name}` in the text stands for the argument `name`.
    #[must_use]
    pub fn new(name: &str, arguments: &[&str], text: &str) -> Self {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|argument| json!({"name": argument, "required": true}))
            .collect();
        Self {
            declared: json!({
                "name": name,
                "title": format!("The {name} prompt"),
                "description": format!("Expands {name}."),
                "arguments": arguments,
            }),
            messages: vec![json!({"role": "user", "content": {"type": "text", "text": text}})],
            completions: Vec::new(),
            asks: Vec::new(),
        }
    }

    /// Completes this argument from these values.
    #[must_use]
    pub fn completing(mut self, argument: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        self.completions.push((argument.to_owned(), values));
        self
    }

    /// Asks the client something before it is expanded.
    #[must_use]
    pub fn asking(mut self, ask: Ask) -> Self {
        self.asks.push(ask);
        self
    }

    /// Adds a message, in wire format.
    #[must_use]
    pub fn with_message(mut self, message: Value) -> Self {
        self.messages.push(message);
        self
    }

    /// The result of `prompts/get`.
    pub(crate) fn expanded(&self, arguments: &Value) -> Value {
        json!({
            "description": self.declared.get("description"),
            "messages": self.expand(arguments),
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.declared
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The messages with the arguments filled in.
    fn expand(&self, arguments: &Value) -> Vec<Value> {
        let mut messages = self.messages.clone();
        for message in &mut messages {
            let Some(Value::String(text)) = message.pointer_mut("/content/text") else {
                continue;
            };
            for (name, value) in arguments.as_object().into_iter().flatten() {
                let value = value.as_str().unwrap_or_default();
                *text = text.replace(&format!("{{{name}}}"), value);
            }
        }
        messages
    }
}
