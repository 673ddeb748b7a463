//! Renames property keys the target rejects; the arguments get the original keys back.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Work, keyword};
use crate::{
    Action, KeyRule, KeyScope, Quarantine,
    graph::{Id, Part},
    restore::Undo,
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    let Some(rule) = work.target.keys else {
        return Ok(());
    };
    let (taken, refused) = keys(work, &rule)?;
    if refused.is_empty() {
        return Ok(());
    }
    let aliases = aliases(&rule, taken, &refused);
    let root = work.graph.root;
    // Rules that refer to keys from elsewhere would refer to the original ones.
    for key in [
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
    ] {
        if rule.scope == KeyScope::Root && work.node(root).has(key) {
            keyword::put_into_words(work, root, key);
        }
    }
    work.each(|work, id| {
        if rule.scope == KeyScope::Everywhere || id == root {
            rename(work, id, &aliases);
        }
        Ok(())
    })
}

/// All keys of the schema, and those the rule rejects, in order of appearance.
fn keys(work: &mut Work<'_>, rule: &KeyRule) -> Result<(HashSet<String>, Vec<String>), Quarantine> {
    let (mut taken, mut refused) = (HashSet::new(), Vec::new());
    let root = work.graph.root;
    work.each(|work, id| {
        for (name, _) in work.node(id).properties() {
            let bound = rule.scope == KeyScope::Everywhere || id == root;
            if taken.insert(name.clone()) && bound && !legal(rule, name) {
                refused.push(name.clone());
            }
        }
        Ok(())
    })?;
    Ok((taken, refused))
}

fn legal(rule: &KeyRule, key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| rule.first.holds(c))
        && chars.all(|c| rule.rest.holds(c))
        && key.len() <= rule.max
}

/// One alias per key for the whole schema, so that equal keys stay equal.
fn aliases(
    rule: &KeyRule,
    mut taken: HashSet<String>,
    refused: &[String],
) -> HashMap<String, String> {
    let mut aliases = HashMap::new();
    for key in refused {
        let mut stem: String = key.chars().map(|c| rule.rest.spell(c)).collect();
        if !stem.chars().next().is_some_and(|c| rule.first.holds(c)) {
            stem.insert(0, rule.first.filler());
        }
        stem.truncate(rule.max);
        let mut alias = stem.clone();
        let mut round = 1_u32;
        while !taken.insert(alias.clone()) {
            round += 1;
            let suffix = format!("_{round}");
            let suffix: String = suffix.chars().map(|c| rule.rest.spell(c)).collect();
            stem.truncate(rule.max.saturating_sub(suffix.len()));
            alias = format!("{stem}{suffix}");
        }
        aliases.insert(key.clone(), alias);
    }
    aliases
}

fn rename(work: &mut Work<'_>, id: Id, aliases: &HashMap<String, String>) {
    let alias = |name: &str| {
        aliases
            .get(name)
            .cloned()
            .unwrap_or_else(|| name.to_owned())
    };
    let mut renamed = Vec::new();
    let node = work.node_mut(id);
    let required: Vec<String> = node.required().map(alias).collect();
    node.set_required(required);
    if let Some(Part::Named(pairs)) = node.part_mut("properties") {
        for (name, _) in pairs {
            if let Some(alias) = aliases.get(name) {
                renamed.push((alias.clone(), std::mem::replace(name, alias.clone())));
            }
        }
    }
    if let Some(Part::Json(Value::Object(map))) = node.part_mut("dependentRequired") {
        *map = std::mem::take(map)
            .into_iter()
            .map(|(name, list)| {
                let list = list
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(alias);
                (alias(&name), Value::from(list.collect::<Vec<_>>()))
            })
            .collect();
    }
    if let Some(Part::Named(pairs)) = node.part_mut("dependentSchemas") {
        for (name, _) in pairs {
            *name = alias(name);
        }
    }
    for undo in &mut node.undo {
        match undo {
            Undo::Absent(names) | Undo::Spared(names) => {
                names.iter_mut().for_each(|name| *name = alias(name))
            }
            Undo::Default(defaults) => defaults
                .iter_mut()
                .for_each(|(name, _)| *name = alias(name)),
            _ => {}
        }
    }
    if renamed.is_empty() {
        return;
    }
    let at = node.at;
    node.undo.push(Undo::Rename(renamed));
    work.report.lossless(at, "properties", Action::Rewritten);
}
