//! Where a compiled schema lets something through, the report says so of that very place.

use jsonschema::{Validator, error::ValidationErrorKind};
use serde_json::Value;
use tool_schema::{Action, Loss};

/// Keywords whose subschemas judge the same value: a rule may move between it and its parent.
const IN_PLACE: &[&str] = &[
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref",
];

/// A step from a value to a part of it, or a rule.
#[derive(PartialEq)]
enum Step {
    Property(String),
    /// A property that is not named: another rule may name it.
    AnyProperty,
    Item,
    Rule(String),
}

impl Step {
    fn meets(&self, other: &Self) -> bool {
        let any = |a: &Self, b: &Self| *a == Self::AnyProperty && matches!(b, Self::Property(_));
        // Draft 7 has one name for what later drafts call `dependentSchemas` and `dependentRequired`.
        let older = |a: &Self, b: &Self| match (a, b) {
            (Self::Rule(a), Self::Rule(b)) => a == "dependencies" && b.starts_with("dependent"),
            _ => false,
        };
        let meets = |a: &Self, b: &Self| any(a, b) || older(a, b);
        self == other || meets(self, other) || meets(other, self)
    }
}

/// The first rule of `schema` that `arguments` break and no loss speaks of.
pub(crate) fn unexplained(
    schema: &Value,
    before: &Validator,
    arguments: &Value,
    losses: &[Loss],
) -> Option<String> {
    let report = Report::new(losses);
    before.iter_errors(arguments).find_map(|error| {
        let path = error.evaluation_path().to_string();
        // Rules that are checked together are told at the path of one of them, and a key that is
        // required and forbidden as one that is missing.
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        let keyword = match error.kind() {
            ValidationErrorKind::Required { property }
                if property
                    .as_str()
                    .is_some_and(|key| error.instance().get(key).is_some()) =>
            {
                "additionalProperties"
            }
            kind => kind.keyword(),
        };
        let other = format!("{parent}/{keyword}");
        let explained = [&path, &other].into_iter().any(|path| {
            let Ways { place, tests, seen } = ways(schema, path);
            seen.iter()
                .any(|steps| report.explains(schema, &place, &tests, steps))
        });
        (!explained).then_some(path)
    })
}

struct Report<'a> {
    lossy: Vec<(&'a str, Vec<Step>)>,
    rewritten: Vec<Vec<Step>>,
}

impl<'a> Report<'a> {
    fn new(losses: &'a [Loss]) -> Self {
        let path = |loss: &Loss| {
            let keyword = match loss.keyword.as_str() {
                "schema" => "",
                keyword => keyword,
            };
            steps(format!("{}/{keyword}", loss.pointer).split('/').skip(1))
        };
        let lossy = losses.iter().filter(|loss| loss.lossy);
        let rewritten = losses
            .iter()
            .filter(|loss| loss.action == Action::Rewritten);
        Self {
            lossy: lossy
                .map(|loss| (loss.pointer.as_str(), path(loss)))
                .collect(),
            rewritten: rewritten.map(path).collect(),
        }
    }

    /// Whether a loss speaks of the rule at `path`, of what it is in, of what is in it, or of what
    /// decides whether it holds.
    fn explains(&self, schema: &Value, place: &str, tests: &[String], path: &[Step]) -> bool {
        let mut inside: Vec<&str> = tests.iter().map(String::as_str).collect();
        for place in tests.iter().map(String::as_str).chain([place]) {
            if let Some(part) = schema.pointer(place) {
                references(schema, part, &mut inside);
            }
        }
        self.lossy.iter().any(|(pointer, known)| {
            meets(known, path)
                || inside.iter().any(|inside| pointer.starts_with(inside))
                || (1..=path.len()).any(|end| {
                    // What is rewritten may be lost under its new name, at the same value.
                    known.len() <= end
                        && meets(known, &path[..end - 1])
                        && self
                            .rewritten
                            .iter()
                            .any(|old| old.len() == end && meets(old, path))
                })
        })
    }
}

/// Whether one leads to the other.
fn meets(a: &[Step], b: &[Step]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.meets(b))
}

/// The definitions that `part` leads to.
fn references<'a>(schema: &'a Value, part: &'a Value, found: &mut Vec<&'a str>) {
    let parts: Vec<&Value> = match part {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => return,
    };
    if let Some(Value::String(reference)) = part.get("$ref")
        && let Some(pointer) = reference.strip_prefix('#')
        && !found.contains(&pointer)
    {
        found.push(pointer);
        references(
            schema,
            schema.pointer(pointer).unwrap_or(&Value::Null),
            found,
        );
    }
    for part in parts {
        references(schema, part, found);
    }
}

/// A place in a schema.
struct Ways {
    /// Its pointer.
    place: String,
    /// The pointers of each `if` that decides whether it holds.
    tests: Vec<String>,
    /// It as it is seen from the root, and from each definition on the way to it.
    seen: Vec<Vec<Step>>,
}

fn ways(schema: &Value, path: &str) -> Ways {
    let all: Vec<&str> = path.split('/').skip(1).collect();
    let mut seen = vec![steps(all.iter().copied())];
    let mut tests = Vec::new();
    let mut at = String::new();
    for (index, step) in all.iter().enumerate() {
        if matches!(*step, "then" | "else") {
            tests.push(format!("{at}/if"));
        }
        if *step == "$ref"
            && let Some(Value::String(reference)) = schema.pointer(&format!("{at}/$ref"))
        {
            at = reference.trim_start_matches('#').to_owned();
            let rest = all[index + 1..].iter().copied();
            seen.push(steps(at.split('/').skip(1).chain(rest)));
        } else {
            at = format!("{at}/{step}");
        }
    }
    Ways {
        place: at,
        tests,
        seen,
    }
}

/// The steps of a pointer that lead to another value, and the rule at its end.
fn steps<'a>(pointer: impl Iterator<Item = &'a str>) -> Vec<Step> {
    let mut out = Vec::new();
    let mut pointer = pointer.filter(|step| !step.is_empty()).peekable();
    let is_index = |step: &&str| step.bytes().all(|byte| byte.is_ascii_digit());
    while let Some(step) = pointer.next() {
        match step {
            _ if IN_PLACE.contains(&step) => {
                pointer.next_if(is_index);
            }
            "properties" => {
                let name = pointer.next().map(|name| Step::Property(name.to_owned()));
                out.push(name.unwrap_or(Step::AnyProperty));
            }
            "patternProperties" => {
                pointer.next();
                out.push(Step::AnyProperty);
            }
            "additionalProperties" | "unevaluatedProperties" => out.push(Step::AnyProperty),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => {
                pointer.next_if(is_index);
                out.push(Step::Item);
            }
            "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
                out.push(Step::Rule(step.to_owned()));
                out.extend(pointer.next().map(|name| Step::Rule(name.to_owned())));
            }
            _ => out.push(Step::Rule(step.to_owned())),
        }
    }
    out
}
