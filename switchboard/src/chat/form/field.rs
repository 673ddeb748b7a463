//! A field of a form: how it is asked for, and what an answer means.

use serde_json::{Map, Value, json};

use crate::lang::t;

/// A field of a form.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    schema: &'a Value,
    required: bool,
}

/// A value that can be chosen, and what people call it.
#[derive(Debug, Eq, PartialEq)]
struct Choice<'a> {
    value: &'a str,
    title: &'a str,
}

impl<'a> Field<'a> {
    /// The fields of a form's schema, in its order.
    pub(super) fn all(schema: &'a Value) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            let mut names = required.into_iter().flatten();
            names.any(|it| it.as_str() == Some(name))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        let field = |(name, schema): (&'a String, &'a Value)| Self {
            name,
            schema,
            required: is_required(name),
        };
        fields.map(field).collect()
    }

    fn word(&self, key: &str) -> Option<&'a str> {
        self.schema.get(key).and_then(Value::as_str)
    }

    fn is_many(&self) -> bool {
        self.word("type") == Some("array")
    }

    /// What stands above the prompt: the description, and the choices by number.
    pub(super) fn explanation(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .word("description")
            .map(str::to_owned)
            .into_iter()
            .collect();
        for (number, choice) in self.choices().iter().enumerate() {
            let value = match choice.title == choice.value {
                true => String::new(),
                false => format!(" ({})", choice.value),
            };
            lines.push(format!("{}. {}{value}", number + 1, choice.title));
        }
        lines
    }

    /// The prompt: the title, a mark if it must be filled in, what it takes, and its default.
    pub(super) fn prompt(&self) -> String {
        let mut hints: Vec<String> = self.limits();
        if let Some(default) = self.schema.get("default") {
            let shown = match default {
                Value::String(text) => self.title_of(text).to_owned(),
                Value::Array(values) => {
                    let values = values.iter().filter_map(Value::as_str);
                    values
                        .map(|value| self.title_of(value))
                        .collect::<Vec<_>>()
                        .join(", ")
                }
                other => plain(other),
            };
            hints.push(t!("default {value}", value = shown));
        }
        let hints = match hints.is_empty() {
            true => String::new(),
            false => format!(" ({})", hints.join("; ")),
        };
        let mark = if self.required { "*" } else { "" };
        format!("{}{mark}{hints}: ", self.word("title").unwrap_or(self.name))
    }

    /// What a value must be.
    fn limits(&self) -> Vec<String> {
        let number = |key: &str| self.schema.get(key).filter(|it| it.is_number());
        let mut limits = Vec::new();
        match (self.choices().is_empty(), self.is_many()) {
            (false, true) => limits.push(t!("several, with commas").into_owned()),
            (false, false) => limits.push(t!("a number or a name").into_owned()),
            (true, _) => limits.extend(match self.word("type") {
                Some("boolean") => Some(t!("yes or no").into_owned()),
                Some("integer") => Some(t!("a whole number").into_owned()),
                Some("number") => Some(t!("a number").into_owned()),
                _ => self.word("format").map(str::to_owned),
            }),
        }
        let ends = [("minimum", "≥ "), ("maximum", "≤ ")];
        limits.extend(
            ends.iter()
                .filter_map(|(key, sign)| Some(format!("{sign}{}", plain(number(key)?)))),
        );
        if let Some(most) = number("maxLength") {
            limits.push(t!("at most {n} characters", n = plain(most)));
        }
        limits
    }

    fn choices(&self) -> Vec<Choice<'a>> {
        let items = self.schema.get("items").unwrap_or(self.schema);
        let names: Vec<&str> = items
            .get("enumNames")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let plain = items
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let plain = plain
            .filter_map(Value::as_str)
            .enumerate()
            .map(|(at, value)| Choice {
                value,
                title: names.get(at).copied().unwrap_or(value),
            });
        let titled = ["oneOf", "anyOf"].into_iter();
        let titled = titled
            .filter_map(|key| items.get(key)?.as_array())
            .flatten();
        let titled = titled.filter_map(|choice| {
            let value = choice.get("const")?.as_str()?;
            let title = choice.get("title").and_then(Value::as_str).unwrap_or(value);
            Some(Choice { value, title })
        });
        plain.chain(titled).collect()
    }

    fn title_of<'b>(&self, value: &'b str) -> &'b str
    where
        'a: 'b,
    {
        let choices = self.choices();
        let found = choices.into_iter().find(|choice| choice.value == value);
        found.map_or(value, |choice| choice.title)
    }

    /// Takes over what was typed. An empty line leaves the field to its default.
    pub(super) fn read(&self, text: &str, answers: &mut Map<String, Value>) {
        let text = text.trim();
        if text.is_empty() {
            answers.remove(self.name);
            return;
        }
        let value = match self.is_many() {
            true => text
                .split([',', '，'])
                .map(|part| self.meant(part.trim()))
                .collect(),
            false => self.meant(text),
        };
        answers.insert(self.name.to_owned(), value);
    }

    /// The value that a word means: a choice's value, title or number, or yes and no.
    fn meant(&self, word: &str) -> Value {
        let choices = self.choices();
        let same = |a: &str| a == word || a.to_lowercase() == word.to_lowercase();
        let found = choices.iter().find(|it| it.value == word);
        let found = found.or_else(|| choices.iter().find(|it| same(it.title) || same(it.value)));
        let number = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
        if let Some(choice) = found.or_else(number) {
            return json!(choice.value);
        }
        match (self.word("type"), word.to_lowercase().as_str()) {
            (Some("boolean"), "y" | "yes" | "是") => json!(true),
            (Some("boolean"), "n" | "no" | "否") => json!(false),
            _ => json!(word),
        }
    }
}

/// A value as people write it: a whole number has no point.
fn plain(value: &Value) -> String {
    match value.as_f64().filter(|number| number.fract() == 0.0) {
        Some(number) => format!("{number:.0}"),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({
            "required": ["size"],
            "properties": {
                "size": {"type": "string", "title": "Size", "default": "M",
                    "oneOf": [{"const": "S", "title": "Small"}, {"const": "M", "title": "Medium"}]},
                "age": {"type": "integer", "minimum": 1.0, "maximum": 9, "description": "In years"},
                "sure": {"type": "boolean"},
                "letters": {"type": "array", "items": {"enum": ["a", "b"]}},
                "name": {"type": "string", "maxLength": 3},
            },
        })
    }

    #[test]
    fn a_field_says_what_it_takes() {
        let form = form();
        let fields = Field::all(&form);
        let prompts: Vec<String> = fields.iter().map(Field::prompt).collect();
        assert_eq!(
            prompts,
            [
                "Size* (a number or a name; default Medium): ",
                "age (a whole number; ≥ 1; ≤ 9): ",
                "sure (yes or no): ",
                "letters (several, with commas): ",
                "name (at most 3 characters): ",
            ]
        );
        assert_eq!(fields[0].explanation(), ["1. Small (S)", "2. Medium (M)"]);
        assert_eq!(fields[1].explanation(), ["In years"]);
        assert_eq!(fields[3].explanation(), ["1. a", "2. b"]);
    }

    #[test]
    fn a_choice_is_meant_by_its_value_its_title_or_its_number() {
        let form = form();
        let fields = Field::all(&form);
        let check = |at: usize, text: &str, want: Value| {
            let mut answers = Map::new();
            fields[at].read(text, &mut answers);
            assert_eq!(answers.get(fields[at].name), Some(&want), "{text}");
        };
        for text in ["S", "small", "1"] {
            check(0, text, json!("S"));
        }
        check(0, "3", json!("3"));
        check(2, "yes", json!(true));
        check(2, "否", json!(false));
        check(3, " a, 2", json!(["a", "b"]));
        let mut answers = Map::from_iter([("name".to_owned(), json!("x"))]);
        fields[4].read(" ", &mut answers);
        assert!(answers.is_empty());
    }
}
