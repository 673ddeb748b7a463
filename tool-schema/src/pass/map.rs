//! Objects with arbitrary keys, and the closing of those without.

use serde_json::{Value, json};

use super::{Work, enumeration, keyword, untyped};
use crate::{
    Action, OpenObjects, Quarantine,
    graph::types::Types,
    graph::{Id, Node, Part},
    report::words,
    restore::{Undo, fits},
};

/// An object's rule for keys it does not list.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Unsaid,
    Closed,
    Open,
    Like(Id),
}

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        let node = work.node(id);
        if node.types == Types::ANY && !node.has("properties") && !node.has("additionalProperties")
            || !node.types.holds(Types::OBJECT)
        {
            return Ok(());
        }
        let rest = rest(work, id);
        match work.target.open_objects {
            OpenObjects::Keep => {
                if rest == Rest::Closed && work.target.closed_objects_dropped {
                    unclose(work, id);
                }
            }
            OpenObjects::Drop => drop_rest(work, id, rest),
            OpenObjects::Entries => entries(work, id, rest)?,
            OpenObjects::Close => close(work, id, rest),
            OpenObjects::EntriesOrClose => entries_or_close(work, id, rest)?,
        }
        Ok(())
    })
}

fn rest(work: &Work<'_>, id: Id) -> Rest {
    match work.node(id).one("additionalProperties") {
        None => Rest::Unsaid,
        Some(rest) => {
            let node = work.node(work.graph.follow(rest));
            if node.types == Types::NONE {
                Rest::Closed
            } else if node.is_open() {
                Rest::Open
            } else {
                Rest::Like(rest)
            }
        }
    }
}

/// Removes what other passes could no longer express once they have rewritten it.
pub(super) fn shed(work: &mut Work<'_>, id: Id) {
    if work.node(id).has("patternProperties") && !work.target.accepts("patternProperties") {
        patterns(work, id);
    }
    let rest = rest(work, id);
    let mixed = !work.node(id).properties().is_empty() || id == work.graph.root;
    let entries = work.target.has_entries() && !mixed;
    let is_map = matches!(rest, Rest::Like(_));
    if is_map
        && !entries
        && !matches!(
            work.target.open_objects,
            OpenObjects::Keep | OpenObjects::Close | OpenObjects::EntriesOrClose
        )
    {
        drop_rest(work, id, rest);
    }
    if let Some(rule) = work.node(id).one("propertyNames")
        && !keyword::taken(work, id, "propertyNames")
    {
        if is_map && entries {
            // Keys are strings even if the schema does not declare it.
            let mut strings = work.node(rule).clone();
            strings.types = strings.types.and(Types::STRING);
            let strings = work.graph.add(strings);
            work.node_mut(id).set("propertyNames", Part::One(strings));
        } else {
            names(work, id);
        }
    }
}

/// Patterns that leave no other keys become a map of any of their values.
fn patterns(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let pairs = node.named("patternProperties").to_vec();
    if rest(work, id) != Rest::Closed || pairs.is_empty() {
        return keyword::put_into_words(work, id, "patternProperties");
    }
    let at = node.at;
    if let [(pattern, values)] = pairs.as_slice()
        && node.properties().is_empty()
        && !node.has("propertyNames")
    {
        let mut names = Node::new(at, Types::STRING);
        names.set("pattern", Part::Json(pattern.as_str().into()));
        let names = work.graph.add(names);
        let node = work.node_mut(id);
        node.take("patternProperties");
        node.set("additionalProperties", Part::One(*values));
        node.set("propertyNames", Part::One(names));
        work.report
            .lossless(at, "patternProperties", Action::Rewritten);
        return;
    }
    keyword::put_into_words(work, id, "patternProperties");
    let values: Vec<Id> = pairs.into_iter().map(|(_, values)| values).collect();
    let any = match values.as_slice() {
        [only] => *only,
        _ => {
            let mut union = Node::new(at, Types::ANY);
            union.set("anyOf", Part::Many(values));
            work.graph.add(union)
        }
    };
    work.node_mut(id)
        .set("additionalProperties", Part::One(any));
}

/// A rule for keys; one that every key satisfies has no effect.
fn names(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let at = node.at;
    let rule = node
        .one("propertyNames")
        .map(|names| work.node(work.graph.follow(names)));
    if rule.is_some_and(|rule| rule.types.holds(Types::STRING) && !rule.has_rules()) {
        work.node_mut(id).take("propertyNames");
        work.report.lossless(at, "propertyNames", Action::Dropped);
    } else {
        keyword::put_into_words(work, id, "propertyNames");
    }
}

fn unclose(work: &mut Work<'_>, id: Id) {
    let at = work.node(id).at;
    work.node_mut(id).take("additionalProperties");
    work.report
        .lossy(at, "additionalProperties", Action::Dropped);
}

fn drop_rest(work: &mut Work<'_>, id: Id, rest: Rest) {
    let at = work.node(id).at;
    match rest {
        Rest::Unsaid => {}
        Rest::Closed => unclose(work, id),
        Rest::Open => {
            work.node_mut(id).take("additionalProperties");
            work.report
                .lossless(at, "additionalProperties", Action::Dropped);
        }
        Rest::Like(values) => {
            let schema = crate::graph::write::plain(&work.graph, &[values]);
            let sentence = words::schema_rule(
                "additionalProperties",
                schema.get(0).unwrap_or(&Value::Null),
            );
            let node = work.node_mut(id);
            node.take("additionalProperties");
            if let Some(sentence) = &sentence {
                node.explain(sentence);
            }
            let action = if sentence.is_some() {
                Action::Described
            } else {
                Action::Dropped
            };
            work.report.lossy(at, "additionalProperties", action);
        }
    }
}

fn entries(work: &mut Work<'_>, id: Id, rest: Rest) -> Result<(), Quarantine> {
    let node = work.node(id);
    let at = node.at;
    if !node.properties().is_empty() || id == work.graph.root {
        let free = rest == Rest::Open || rest == Rest::Unsaid && !node.has("properties");
        if work.target.omits_empty_root && node.properties().is_empty() && free {
            work.report
                .lossy(at, "additionalProperties", Action::Narrowed);
        }
        drop_rest(work, id, rest);
        return Ok(());
    }
    let patterned = node.has("patternProperties");
    match rest {
        Rest::Like(values) if !patterned => into_entries(work, id, values)?,
        _ if work.target.empty_objects => drop_rest(work, id, rest),
        Rest::Closed if !patterned && fits(&work.graph, id, &json!({})) => {
            let mut values = vec![json!({})];
            values.extend(node.types.holds(Types::NULL).then_some(Value::Null));
            enumeration::label(work, id, values);
            work.report
                .lossless(at, "additionalProperties", Action::Rewritten);
        }
        _ => {
            let open = |key: &str| rest == Rest::Open && key == "additionalProperties";
            untyped::as_text(work, id, "A JSON object, written as JSON text.", open);
            work.report.lossy(at, "type", Action::Weakened);
        }
    }
    Ok(())
}

fn entries_or_close(work: &mut Work<'_>, id: Id, rest: Rest) -> Result<(), Quarantine> {
    let node = work.node(id);
    let at = node.at;
    if !node.properties().is_empty() || id == work.graph.root || node.has("patternProperties") {
        close(work, id, rest);
        return Ok(());
    }
    match rest {
        Rest::Like(values) => into_entries(work, id, values)?,
        Rest::Open | Rest::Unsaid if !node.has("properties") => {
            let open = |key: &str| key == "additionalProperties";
            untyped::as_text(work, id, "A JSON object, written as JSON text.", open);
            work.report.lossy(at, "type", Action::Weakened);
        }
        _ => close(work, id, rest),
    }
    Ok(())
}

/// Turns a map into a list of its entries.
fn into_entries(work: &mut Work<'_>, id: Id, values: Id) -> Result<(), Quarantine> {
    let at = work.node(id).at;
    let mut key = work.graph.add(Node::new(at, Types::STRING));
    if let Some(names) = work.node(id).one("propertyNames") {
        key = work.merger().merge(names, key)?;
    }
    let mut entry = Node::new(at, Types::OBJECT);
    entry.set(
        "properties",
        Part::Named(vec![("key".to_owned(), key), ("value".to_owned(), values)]),
    );
    entry.set_required(vec!["key".to_owned(), "value".to_owned()]);
    let entry = work.graph.add(entry);
    keyword::retire_notes(work, id);
    let node = work.node_mut(id);
    let at_least = node.json("minProperties").and_then(Value::as_u64);
    let at_most = node.json("maxProperties").cloned();
    let nulls = node.types.and(Types::NULL);
    // A key that occurs twice counts once.
    if at_least.is_some_and(|count| count > 1) {
        node.take("minProperties");
        work.report.lossy(at, "minProperties", Action::Weakened);
    }
    keyword::retire_rules(work, id, |key| {
        matches!(
            key,
            "additionalProperties"
                | "properties"
                | "propertyNames"
                | "minProperties"
                | "maxProperties"
        )
    });
    let node = work.node_mut(id);
    node.types = Types::ARRAY.or(nulls);
    node.set("items", Part::One(entry));
    if let Some(count) = at_least {
        node.set("minItems", Part::Json(count.into()));
    }
    if let Some(count) = at_most {
        node.set("maxItems", Part::Json(count));
    }
    node.undo.push(Undo::Entries);
    node.explain("A list of keys, each with its value.");
    Ok(())
}

fn close(work: &mut Work<'_>, id: Id, rest: Rest) {
    let node = work.node(id);
    let at = node.at;
    let listed = node.has("properties");
    let empty = node.properties().is_empty();
    match rest {
        Rest::Closed => {}
        Rest::Unsaid if listed => {
            work.report
                .lossless(at, "additionalProperties", Action::Rewritten)
        }
        _ => work
            .report
            .lossy(at, "additionalProperties", Action::Narrowed),
    }
    if empty && id != work.graph.root && !work.target.empty_objects {
        work.report.lossy(at, "properties", Action::Weakened);
    }
    if !listed {
        work.report.lossless(at, "properties", Action::Rewritten);
    }
    let never = work.graph.add(Node::new(at, Types::NONE));
    let node = work.node_mut(id);
    if !listed {
        node.set("properties", Part::Named(Vec::new()));
    }
    node.set("additionalProperties", Part::One(never));
}
