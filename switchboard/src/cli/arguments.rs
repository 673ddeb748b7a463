//! Tool arguments parsed from command-line words: `k=v` is typed by the tool's schema, `k:=json` is
//! taken as is.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Number, Value};
use tool_schema::Validator;

use crate::display::signature::follow;
use crate::display::untrusted;

/// How deep references and alternatives are followed.
const DEPTH: u32 = 8;

/// Why a command-line word is not a valid argument.
#[derive(Debug)]
pub(crate) enum ArgumentError {
    /// It is neither `k=v` nor `k:=json`.
    NoPair(String),
    /// What follows `:=` is not JSON.
    NoJson(String, serde_json::Error),
    /// The value does not match the type of the argument.
    Unfit {
        name: String,
        text: String,
        wanted: String,
    },
    /// The tool has no argument of this name.
    Unknown { name: String, known: Vec<String> },
    /// The arguments as a whole do not match the schema.
    Misfit(Vec<String>),
}

/// Whether arguments are validated against the tool's schema.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Validation {
    /// They are.
    Schema,
    /// They are left to the server to validate.
    None,
}

/// Adds the words to the arguments. A name that comes twice is a list, if the tool takes one there.
pub(crate) fn read(
    words: &[String],
    schema: &Value,
    validation: Validation,
    arguments: &mut Map<String, Value>,
) -> Result<(), ArgumentError> {
    let mut given = Map::new();
    for word in words {
        let (name, value) = pair(word, schema, validation)?;
        match given.get_mut(&name) {
            Some(Value::Array(so_far)) => match value {
                Value::Array(more) => so_far.extend(more),
                value => so_far.push(value),
            },
            _ => {
                given.insert(name, value);
            }
        }
    }
    arguments.extend(given);
    match validation {
        Validation::Schema => check(arguments, schema),
        Validation::None => Ok(()),
    }
}

/// Validates the arguments. An unknown name is rejected even where the schema allows it: it is more
/// likely a typo.
fn check(arguments: &Map<String, Value>, schema: &Value) -> Result<(), ArgumentError> {
    for name in arguments.keys() {
        property(name, schema)?;
    }
    // What cannot be checked here is left to the server.
    let Ok(validator) = Validator::new(schema) else {
        return Ok(());
    };
    let checked = validator.check(&Value::Object(arguments.clone()));
    checked.map_err(|mismatch| {
        let problems = mismatch.problems().iter();
        let bare = |problem: &String| match problem.strip_prefix("the arguments: ") {
            Some(bare) => bare.to_owned(),
            None => problem.clone(),
        };
        ArgumentError::Misfit(problems.map(bare).collect())
    })
}

fn pair(
    word: &str,
    schema: &Value,
    validation: Validation,
) -> Result<(String, Value), ArgumentError> {
    let no_pair = || ArgumentError::NoPair(word.to_owned());
    let (name, text) = word.split_once('=').ok_or_else(no_pair)?;
    let (name, is_json) = match name.strip_suffix(':') {
        Some(name) => (name, true),
        None => (name, false),
    };
    if name.is_empty() {
        return Err(no_pair());
    }
    let about = match (property(name, schema), validation) {
        (about, Validation::Schema) => about?,
        (about, Validation::None) => about.unwrap_or_default(),
    };
    if is_json {
        let value = serde_json::from_str(text);
        let value = value.map_err(|error| ArgumentError::NoJson(word.to_owned(), error))?;
        return Ok((name.to_owned(), value));
    }
    let Some(about) = about else {
        return Ok((name.to_owned(), guess(text)));
    };
    match fit(text, about, schema, DEPTH) {
        Some(value) => Ok((name.to_owned(), value)),
        None if validation == Validation::None => Ok((name.to_owned(), guess(text))),
        None => Err(ArgumentError::Unfit {
            name: name.to_owned(),
            text: text.to_owned(),
            wanted: describe(follow(about, schema, DEPTH)),
        }),
    }
}

/// The schema of an argument; `None` if any value is allowed.
fn property<'a>(name: &str, schema: &'a Value) -> Result<Option<&'a Value>, ArgumentError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(about) = properties.and_then(|properties| properties.get(name)) {
        return Ok(Some(about));
    }
    let unknown = || {
        let known = properties.into_iter().flatten();
        Err(ArgumentError::Unknown {
            name: name.to_owned(),
            known: known.map(|(name, _)| name.clone()).collect(),
        })
    };
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => unknown(),
        Some(about @ Value::Object(_)) => Ok(Some(about)),
        None if properties.is_some() && !is_open(schema) => unknown(),
        _ => Ok(None),
    }
}

/// Whether names other than those in `properties` are allowed.
fn is_open(schema: &Value) -> bool {
    let places = [
        "patternProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "if",
        "dependentSchemas",
        "unevaluatedProperties",
    ];
    places.iter().any(|place| schema.get(place).is_some())
}

/// Parses a text as a value that the schema accepts.
fn fit(text: &str, schema: &Value, root: &Value, depth: u32) -> Option<Value> {
    let schema = follow(schema, root, depth);
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let same = |choice: &&Value| match choice {
            Value::String(choice) => choice == text,
            choice => serde_json::from_str::<Value>(text).is_ok_and(|value| value == **choice),
        };
        return choices.iter().find(same).cloned();
    }
    let deeper = depth.checked_sub(1)?;
    let named = |name: &str| of_type(text, name, schema, root, deeper);
    match schema.get("type") {
        Some(Value::String(name)) => named(name),
        // A string accepts everything, so it is tried last.
        Some(Value::Array(names)) => {
            let names = || names.iter().filter_map(Value::as_str);
            let narrow = names().filter(|name| *name != "string").find_map(named);
            narrow.or_else(|| names().find(|name| *name == "string").and_then(named))
        }
        _ => {
            let ways = ["anyOf", "oneOf"]
                .into_iter()
                .filter_map(|key| schema.get(key)?.as_array());
            let ways: Vec<&Value> = ways.flatten().collect();
            if ways.is_empty() {
                return Some(guess(text));
            }
            let is_text =
                |way: &&&Value| follow(way, root, depth).get("type") == Some(&"string".into());
            let narrow = ways.iter().filter(|way| !is_text(way));
            let wide = ways.iter().filter(is_text);
            narrow
                .chain(wide)
                .find_map(|way| fit(text, way, root, deeper))
        }
    }
}

fn of_type(text: &str, name: &str, schema: &Value, root: &Value, depth: u32) -> Option<Value> {
    match name {
        "string" => Some(text.into()),
        "integer" => {
            let number: Number = serde_json::from_str(text).ok()?;
            (number.is_i64() || number.is_u64()).then_some(Value::Number(number))
        }
        "number" => serde_json::from_str(text).ok().map(Value::Number),
        "boolean" => text.parse().ok().map(Value::Bool),
        "null" => (text == "null").then_some(Value::Null),
        "array" => match serde_json::from_str(text) {
            Ok(list @ Value::Array(_)) => Some(list),
            _ => {
                let item = match schema.get("items") {
                    Some(items) => fit(text, items, root, depth)?,
                    None => guess(text),
                };
                Some(Value::Array(vec![item]))
            }
        },
        "object" => serde_json::from_str(text).ok().map(Value::Object),
        _ => Some(guess(text)),
    }
}

/// Parses JSON, or falls back to text.
fn guess(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn describe(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum") {
        return format!("one of {choices}");
    }
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(names) => format!("one of {names}"),
        None => "something else".to_owned(),
    }
}

/// Names that the server chose, each escaped to fit on a line.
fn lines(names: &[String]) -> Vec<Cow<'_, str>> {
    names.iter().map(|name| untrusted::line(name)).collect()
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPair(word) => {
                write!(
                    f,
                    "{word:?} is not an argument: write name=value or name:=JSON"
                )
            }
            Self::NoJson(word, error) => write!(f, "{word:?} has no JSON after `:=`: {error}"),
            Self::Unfit { name, text, wanted } => {
                write!(f, "argument {name:?} takes {wanted}, not {text:?}")
            }
            Self::Unknown { name, known } if known.is_empty() => {
                write!(
                    f,
                    "the tool takes no argument {name:?}: it takes none at all"
                )
            }
            Self::Unknown { name, known } => {
                write!(
                    f,
                    "the tool takes no argument {name:?}; it takes: {}",
                    lines(known).join(", ")
                )
            }
            Self::Misfit(problems) => {
                write!(
                    f,
                    "the arguments do not fit: {}",
                    lines(problems).join("; ")
                )
            }
        }
    }
}

impl std::error::Error for ArgumentError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
                "on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
                "level": {"enum": [1, 2, "max"]}, "maybe": {"type": ["string", "null", "integer"]},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "point": {"$ref": "#/$defs/point"}, "any": {},
            },
            "additionalProperties": false,
            "$defs": {"point": {"type": "object"}},
        })
    }

    #[track_caller]
    fn check(words: &[&str], want: Value) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut arguments = Map::new();
        match read(&words, &schema(), Validation::Schema, &mut arguments) {
            Ok(()) => assert_eq!(Value::Object(arguments), want),
            Err(error) => assert_eq!(json!(error.to_string()), want),
        }
    }

    #[test]
    fn values_become_what_the_schema_takes() {
        check(
            &["text=12", "count=12", "ratio=1.5"],
            json!({"text": "12", "count": 12, "ratio": 1.5}),
        );
        check(&["on=true", "level=2"], json!({"on": true, "level": 2}));
        check(
            &["level=max", "maybe=null"],
            json!({"level": "max", "maybe": null}),
        );
        check(&["maybe=7", "either=x"], json!({"maybe": 7, "either": "x"}));
        check(
            &["point={\"x\":1}", "any=[1]"],
            json!({"point": {"x": 1}, "any": [1]}),
        );
        check(&["text=a=b"], json!({"text": "a=b"}));
    }

    #[test]
    fn a_name_that_comes_twice_is_a_list() {
        check(&["tags=a"], json!({"tags": ["a"]}));
        check(
            &["tags=a", "tags=b,c", "tags=[\"d\"]"],
            json!({"tags": ["a", "b,c", "d"]}),
        );
        check(&["text=a", "text=b"], json!({"text": "b"}));
    }

    #[test]
    fn json_is_taken_as_it_is() {
        check(
            &["count:=7", "tags:=[\"a\"]"],
            json!({"count": 7, "tags": ["a"]}),
        );
    }

    #[test]
    fn whoever_insists_sends_what_the_tool_does_not_take() {
        let words = ["count=many", "txt=1", "tags:=[1]"].map(str::to_owned);
        let mut arguments = Map::new();
        read(&words, &schema(), Validation::None, &mut arguments).unwrap();
        assert_eq!(
            Value::Object(arguments),
            json!({"count": "many", "txt": 1, "tags": [1]})
        );
    }

    #[test]
    fn what_is_missing_or_unknown_is_refused_by_name() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        });
        let parse = |words: &[&str], schema: &Value| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let read = read(&words, schema, Validation::Schema, &mut Map::new());
            read.map_err(|error| error.to_string())
        };
        assert_eq!(
            parse(&["a=1"], &schema).unwrap_err(),
            "the arguments do not fit: the key \"b\" is missing"
        );
        assert_eq!(
            parse(&["a=1", "b=2", "c=3"], &schema).unwrap_err(),
            "the tool takes no argument \"c\"; it takes: a, b"
        );
        assert!(
            parse(&["a:=\"x\"", "b=2"], &schema)
                .unwrap_err()
                .contains("`/a`: must be")
        );
        let none = json!({"type": "object", "properties": {}});
        assert!(parse(&["x=1"], &none).unwrap_err().ends_with("none at all"));
        // If the schema lists no names, any name may be right.
        for open in [
            json!({"type": "object"}),
            json!({"properties": {}, "additionalProperties": true}),
            json!({"properties": {}, "anyOf": [{"required": ["x"]}]}),
        ] {
            assert_eq!(parse(&["x=1"], &open), Ok(()));
        }
    }

    #[test]
    fn what_does_not_fit_is_reported() {
        check(
            &["count=many"],
            json!("argument \"count\" takes integer, not \"many\""),
        );
        check(
            &["level=3"],
            json!("argument \"level\" takes one of [1,2,\"max\"], not \"3\""),
        );
        check(
            &["word"],
            json!("\"word\" is not an argument: write name=value or name:=JSON"),
        );
        let mut known = Map::new();
        let error = read(
            &["txt=1".to_owned()],
            &schema(),
            Validation::Schema,
            &mut known,
        )
        .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the tool takes no argument \"txt\"; it takes: text, count")
        );
    }

    proptest! {
        /// Text stays text, whatever it looks like.
        #[test]
        fn text_is_never_read_as_something_else(text in ".*") {
            let mut arguments = Map::new();
            let words = [format!("text={text}")];
            read(&words, &schema(), Validation::Schema, &mut arguments).unwrap();
            prop_assert_eq!(arguments.get("text"), Some(&Value::String(text)));
        }

        /// Any JSON can be given by `:=`.
        #[test]
        fn json_round_trips(number in any::<i64>(), text in ".*") {
            let value = json!({"n": number, "t": [text]});
            let mut arguments = Map::new();
            let words = [format!("any:={value}")];
            read(&words, &schema(), Validation::Schema, &mut arguments).unwrap();
            prop_assert_eq!(arguments.get("any"), Some(&value));
        }
    }
}
