//! `required`: only described properties, and all of them where the target writes an optional property as nullable.

use serde_json::Value;

use super::Work;
use crate::{
    Action, Optional, Quarantine,
    graph::{Id, Part},
    restore::{Undo, fits},
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        if work.target.needs_known_required {
            known(work, id);
        }
        if work.target.optional == Optional::Null && !work.node(id).properties().is_empty() {
            all(work, id);
        }
        Ok(())
    })
}

/// Describes required properties that are not described, or drops them where none are allowed.
fn known(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let described = node.property_map();
    let (kept, unknown): (Vec<String>, Vec<String>) = node
        .required()
        .map(str::to_owned)
        .partition(|name| described.contains_key(name.as_str()));
    if unknown.is_empty() {
        return;
    }
    let at = node.at;
    let rest = node.one("additionalProperties");
    if rest.is_some_and(|rest| work.is_never(rest)) {
        work.node_mut(id).set_required(kept);
        work.report.lossy(at, "required", Action::Weakened);
        return;
    }
    let mut properties = node.properties().to_vec();
    for name in unknown {
        let child = match rest {
            Some(rest) => rest,
            None => work.open_node(at),
        };
        properties.push((name, child));
    }
    let node = work.node_mut(id);
    node.set("properties", Part::Named(properties));
    work.report.lossless(at, "required", Action::Rewritten);
}

/// Requires every property; optional ones become nullable.
fn all(work: &mut Work<'_>, id: Id) {
    let node = work.node(id).clone();
    let mut properties = node.properties().to_vec();
    let mut absent = Vec::new();
    let mut defaults = Vec::new();
    let required = node.required_set();
    for (name, child) in properties
        .iter_mut()
        .filter(|(name, _)| !required.contains(name.as_str()))
    {
        let target = work.graph.follow(*child);
        let at = work.node(*child).at;
        if fits(&work.graph, *child, &Value::Null) {
            // Null means null here, so only a default can represent an absent key.
            let default = work
                .node(*child)
                .json("default")
                .or(work.node(target).json("default"));
            match default
                .filter(|value| fits(&work.graph, *child, value))
                .cloned()
            {
                Some(value) => {
                    defaults.push((name.clone(), value));
                    work.report.lossless(at, "required", Action::Rewritten);
                }
                None => work.report.lossy(at, "required", Action::Narrowed),
            }
            continue;
        }
        *child = work.or_null(*child);
        work.node_mut(*child).explain("Null to leave it out.");
        absent.push(name.clone());
        work.report.lossless(at, "required", Action::Rewritten);
    }
    let node = work.node_mut(id);
    let names = properties.iter().map(|(name, _)| name.clone()).collect();
    node.set("properties", Part::Named(properties));
    node.set_required(names);
    if !absent.is_empty() {
        node.undo.push(Undo::Absent(absent));
    }
    if !defaults.is_empty() {
        node.undo.push(Undo::Default(defaults));
    }
}
