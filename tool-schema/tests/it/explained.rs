//! Where a compiled schema lets something through, the report names that very place.

use jsonschema::{Validator, error::ValidationErrorKind};
use serde_json::Value;
use tool_schema::{Action, Loss};

use crate::oracle::validator;

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

/// The first rule of `schema` that `arguments` break and no loss explains.
pub(crate) fn unexplained(
    schema: &Value,
    before: &Validator,
    arguments: &Value,
    losses: &[Loss],
) -> Option<String> {
    let report = Report::new(losses);
    before.iter_errors(arguments).find_map(|error| {
        let path = error.evaluation_path().to_string();
        // Rules that are checked together are reported at the path of one of them, and a key that is
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
        let instance = error.instance_path().to_string();
        let explained = [&path, &other].into_iter().any(|path| {
            let ways = ways(schema, path);
            report.explains(schema, &ways)
                || ways.tests.iter().any(|test| {
                    let value = test.value(arguments, &instance);
                    value.is_none_or(|value| report.decides(schema, &test.pointer, value))
                })
        });
        (!explained).then_some(path)
    })
}

struct Report<'a> {
    lossy: Vec<(&'a Loss, Vec<Step>)>,
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
            lossy: lossy.map(|loss| (loss, path(loss))).collect(),
            rewritten: rewritten.map(path).collect(),
        }
    }

    /// The losses inside one of the subschemas at `places`.
    fn inside(&self, places: &[&str]) -> Vec<&'a Loss> {
        let is_inside = |loss: &Loss| {
            places.iter().any(|place| {
                let rest = loss.pointer.strip_prefix(place);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let losses = self.lossy.iter().map(|(loss, _)| *loss);
        losses.filter(|loss| is_inside(loss)).collect()
    }

    /// Whether a loss speaks of the rule, of what it is in, or of what is in it.
    fn explains(&self, schema: &Value, ways: &Ways) -> bool {
        let mut definitions = Vec::new();
        if let Some(part) = schema.pointer(&ways.place) {
            references(schema, part, &mut definitions);
        }
        !self.inside(&definitions).is_empty() || ways.seen.iter().any(|path| self.speaks_of(path))
    }

    fn speaks_of(&self, path: &[Step]) -> bool {
        self.lossy.iter().any(|(_, known)| {
            meets(known, path)
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

    /// Whether the losses inside the `if` at `test` can change its verdict on `value`.
    fn decides(&self, schema: &Value, test: &str, value: &Value) -> bool {
        let Some(part) = schema.pointer(test) else {
            return true;
        };
        let mut places = vec![test];
        references(schema, part, &mut places);
        let changes: Vec<Change<'_>> = self
            .inside(&places)
            .into_iter()
            .flat_map(|loss| changes(schema, loss))
            .collect();
        let verdict = |changes: &[Change<'_>]| {
            let mut changed = schema.clone();
            changes.iter().for_each(|change| change.apply(&mut changed));
            let mut alone = changed.pointer(test).cloned().unwrap_or_default();
            if let Value::Object(alone) = &mut alone {
                for key in ["$schema", "$defs", "definitions"] {
                    alone.extend(
                        changed
                            .get(key)
                            .map(|value| (key.to_owned(), value.clone())),
                    );
                }
            }
            validator(&alone).map(|validator| validator.is_valid(value))
        };
        let before = verdict(&[]);
        verdict(&changes) != before || changes.iter().any(|one| verdict(&[*one]) != before)
    }
}

/// What a loss may have made of a schema.
#[derive(Clone, Copy)]
enum Change<'a> {
    Without(&'a Loss),
    Becomes(&'a Loss, bool),
}

impl Change<'_> {
    fn apply(self, schema: &mut Value) {
        match self {
            Self::Without(loss) => {
                let place = schema.pointer_mut(&loss.pointer);
                if let Some(map) = place.and_then(Value::as_object_mut) {
                    map.shift_remove(&loss.keyword);
                }
            }
            Self::Becomes(loss, verdict) => {
                if let Some(place) = schema.pointer_mut(&loss.pointer) {
                    *place = verdict.into();
                }
            }
        }
    }
}

fn changes<'a>(schema: &Value, loss: &'a Loss) -> Vec<Change<'a>> {
    let place = schema.pointer(&loss.pointer);
    let has = place.is_some_and(|place| place.get(&loss.keyword).is_some());
    match loss.action {
        Action::Dropped | Action::Described | Action::Weakened if has => {
            vec![Change::Without(loss)]
        }
        _ => vec![Change::Becomes(loss, true), Change::Becomes(loss, false)],
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
    /// Each `if` that decides whether it holds.
    tests: Vec<Test>,
    /// It as it is seen from the root, and from each definition on the way to it.
    seen: Vec<Vec<Step>>,
}

/// An `if` on the way to a place.
struct Test {
    pointer: String,
    /// How deep in the arguments the value is that it judges; `None` if it judges a key.
    depth: Option<usize>,
}

impl Test {
    /// The value it judges, on the way to the one at `instance`.
    fn value<'v>(&self, arguments: &'v Value, instance: &str) -> Option<&'v Value> {
        let steps: Vec<&str> = instance.split('/').take(self.depth? + 1).collect();
        arguments.pointer(&steps.join("/"))
    }
}

fn ways(schema: &Value, path: &str) -> Ways {
    let all: Vec<&str> = path.split('/').skip(1).collect();
    let mut seen = vec![steps(all.iter().copied())];
    let mut tests = Vec::new();
    let mut at = String::new();
    for (index, step) in all.iter().enumerate() {
        if matches!(*step, "then" | "else") {
            let before = steps(all[..index].iter().copied());
            let names = Step::Rule("propertyNames".to_owned());
            let parts = before.iter().filter(|step| !matches!(step, Step::Rule(_)));
            tests.push(Test {
                pointer: format!("{at}/if"),
                depth: (!before.contains(&names)).then(|| parts.count()),
            });
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
