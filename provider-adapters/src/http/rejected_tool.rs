//! Finds the tool a provider rejected.

use serde_json::Value;

use crate::model::provider_error::{ErrorKind, ProviderError};
use crate::request::WireRequest;

/// The wire name of the tool that a request was rejected for. `None` if the provider complains about
/// something else, or if the tool is not certain.
pub(super) fn rejected_tool(error: &ProviderError, request: &WireRequest) -> Option<String> {
    if error.kind != ErrorKind::Request {
        return None;
    }
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    let tools = Tools::of(&body);
    let param = error.param.as_deref().unwrap_or_default();
    let text = format!("{param} {}", error.message);
    tools
        .by_place(&text)
        .or_else(|| tools.by_name(&text))
        .or_else(|| tools.by_property(&text))
}

/// The tools in a request's body: names and schemas, in order.
struct Tools<'a>(Vec<(&'a str, &'a Value)>);

impl<'a> Tools<'a> {
    fn of(body: &'a Value) -> Self {
        let list = body
            .get("tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let tools = list.flat_map(|tool| match tool.get("functionDeclarations") {
            Some(Value::Array(declared)) => declared.iter().collect(),
            _ => vec![tool.get("function").unwrap_or(tool)],
        });
        let schema = |tool: &'a Value| {
            let fields = ["parameters", "input_schema", "parametersJsonSchema"];
            fields
                .iter()
                .find_map(|field| tool.get(field))
                .unwrap_or(&Value::Null)
        };
        let named = |tool: &'a Value| Some((tool.get("name")?.as_str()?, schema(tool)));
        Self(tools.filter_map(named).collect())
    }

    /// `tools.22`, `tools[22]`, `function_declarations[3]`.
    fn by_place(&self, text: &str) -> Option<String> {
        let lists = ["function_declarations", "functionDeclarations", "tools"];
        let place = lists.iter().find_map(|list| number_after(text, list))?;
        self.0.get(place).map(|(name, _)| (*name).to_owned())
    }

    /// A name in quotes, or after the word `function` or `tool`.
    fn by_name(&self, text: &str) -> Option<String> {
        let named = |name: &str| {
            let quoted = ["'", "\"", "`"]
                .iter()
                .any(|q| text.contains(&format!("{q}{name}{q}")));
            quoted
                || ["function ", "tool "]
                    .iter()
                    .any(|word| has_word(text, word, name))
        };
        only(self.0.iter().filter(|(name, _)| named(name)))
    }

    /// A property that only one tool has.
    fn by_property(&self, text: &str) -> Option<String> {
        let property = property_in(text)?;
        only(
            self.0
                .iter()
                .filter(|(_, schema)| has_property(schema, property, 0)),
        )
    }
}

fn only<'a>(mut found: impl Iterator<Item = &'a (&'a str, &'a Value)>) -> Option<String> {
    match (found.next(), found.next()) {
        (Some((name, _)), None) => Some((*name).to_owned()),
        _ => None,
    }
}

/// The number right after `list`, as in `tools.22` or `tools[22]`.
fn number_after(text: &str, list: &str) -> Option<usize> {
    text.match_indices(list).find_map(|(at, _)| {
        let after = text.get(at + list.len()..)?.strip_prefix(['.', '['])?;
        let end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        after.get(..end)?.parse().ok()
    })
}

/// Whether `name` stands as a word of its own after `word`.
fn has_word(text: &str, word: &str, name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word).any(|(at, _)| {
        let after = text.get(at + word.len()..).unwrap_or_default();
        after
            .strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(sign))
    })
}

/// The last property of a path such as `('properties', 'x')`, `properties.x` or `properties[x]`.
fn property_in(text: &str) -> Option<&str> {
    let (_, after) = text.rsplit_once("properties")?;
    let start = after.find(|c: char| c.is_alphanumeric() || matches!(c, '$' | '@' | '_'))?;
    let marks = after.get(..start)?;
    if marks.is_empty()
        || marks
            .chars()
            .any(|c| !matches!(c, '.' | '/' | '[' | '\'' | '"' | ',' | ' ' | '('))
    {
        return None;
    }
    let from = after.get(start..)?;
    let end = from
        .find(['\'', '"', ']', '/', ':', ',', ')', ' '])
        .unwrap_or(from.len());
    from.get(..end)
        .map(|name| name.trim_end_matches('.'))
        .filter(|name| !name.is_empty())
}

fn has_property(schema: &Value, property: &str, depth: usize) -> bool {
    if depth > 64 {
        return false;
    }
    match schema {
        Value::Object(members) => {
            let own = members.get("properties").and_then(Value::as_object);
            own.is_some_and(|own| own.contains_key(property))
                || members
                    .values()
                    .any(|value| has_property(value, property, depth + 1))
        }
        Value::Array(items) => items
            .iter()
            .any(|item| has_property(item, property, depth + 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(property: &str) -> Value {
        json!({"type": "object", "properties": {property: {"type": "array"}}})
    }

    fn bodies() -> [Value; 4] {
        let names = [("get", "a"), ("send_mail", "$top"), ("send", "b")];
        let list = |tool: fn(&str, Value) -> Value| -> Vec<Value> {
            names
                .iter()
                .map(|(name, property)| tool(name, schema(property)))
                .collect()
        };
        [
            json!({"tools": list(|n, s| json!({"type": "function", "function": {"name": n, "parameters": s}}))}),
            json!({"tools": list(|n, s| json!({"type": "function", "name": n, "parameters": s}))}),
            json!({"tools": list(|n, s| json!({"name": n, "input_schema": s}))}),
            json!({"tools": [{"functionDeclarations": list(|n, s| json!({"name": n, "parameters": s}))}]}),
        ]
    }

    #[track_caller]
    fn check(param: Option<&str>, message: &str, want: Option<&str>) {
        for body in bodies() {
            let request = WireRequest {
                path: String::new(),
                headers: Vec::new(),
                body: serde_json::to_vec(&body).unwrap(),
            };
            let mut error = ProviderError::new(ErrorKind::Request, message);
            error.param = param.map(str::to_owned);
            assert_eq!(
                rejected_tool(&error, &request).as_deref(),
                want,
                "{message}"
            );
        }
    }

    #[test]
    fn a_place_a_name_or_a_property_leads_to_the_tool() {
        check(
            None,
            "tools.1.custom.input_schema: JSON schema is invalid.",
            Some("send_mail"),
        );
        check(
            Some("tools[2].parameters"),
            "array schema missing items.",
            Some("send"),
        );
        check(
            Some("tools[0].function.parameters"),
            "Invalid schema",
            Some("get"),
        );
        check(
            None,
            "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].items: missing field.",
            Some("send_mail"),
        );
        check(
            None,
            "Invalid schema for function 'send': In context=('properties', 'q'), array schema missing items.",
            Some("send"),
        );
        check(
            None,
            "the tool send_mail has a bad schema",
            Some("send_mail"),
        );
        check(
            None,
            "In context=('properties', '$top'), not allowed",
            Some("send_mail"),
        );
        check(
            None,
            "input_schema.properties.b: Property keys should match pattern",
            Some("send"),
        );
    }

    #[test]
    fn nothing_is_blamed_on_a_guess() {
        check(None, "max_tokens: must be positive", None);
        check(None, "please get a larger plan to send more", None);
        check(None, "tools.99: too many tools", None);
        check(None, "'send' and 'get' disagree", None);
        check(None, "properties.zzz: unknown", None);
        let mut error = ProviderError::new(ErrorKind::RateLimit, "tools.1 is slow");
        error.status = Some(429);
        let request = WireRequest {
            path: String::new(),
            headers: vec![],
            body: b"{}".to_vec(),
        };
        assert_eq!(rejected_tool(&error, &request), None);
    }
}
