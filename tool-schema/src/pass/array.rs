//! Arrays: items where the target requires them, tuples where it does not support them.

use serde_json::Value;

use super::{Work, combine, keyword, root::alike};
use crate::{
    Action, Quarantine,
    graph::types::Types,
    graph::{Id, Node, Part, write::plain},
    report::words,
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    if work.target.needs_items {
        // Where all arrays declare their items, none is left unevaluated, from any location.
        work.each(|work, id| {
            combine::unevaluated(work, id, "unevaluatedItems");
            keyword::put_into_words(work, id, "unevaluatedItems");
            Ok(())
        })?;
    }
    work.each(|work, id| {
        no_items(work, id);
        let node = work.node(id);
        if work.target.needs_items
            && node.types != Types::ANY
            && node.types.holds(Types::ARRAY)
            && !node.has("items")
        {
            let at = node.at;
            let open = work.open_node(at);
            work.node_mut(id).set("items", Part::One(open));
            work.report.lossless(at, "items", Action::Rewritten);
        }
        Ok(())
    })
}

/// `items: false` limits the length of the array.
fn no_items(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let Some(items) = node.one("items") else {
        return;
    };
    if !work.is_never(items) || work.target.untyped == crate::Untyped::Keep {
        return;
    }
    let at = node.at;
    let length = node.many("prefixItems").len();
    let node = work.node_mut(id);
    node.take("items");
    shorten(node, length);
    work.report.lossless(at, "items", Action::Rewritten);
}

fn shorten(node: &mut Node, length: usize) {
    let length = length as u64;
    if node
        .json("maxItems")
        .and_then(Value::as_u64)
        .is_none_or(|max| max > length)
    {
        node.set("maxItems", Part::Json(length.into()));
    }
}

/// Replaces a tuple by a list of the values its positions accept, in any order.
pub(super) fn tuple(work: &mut Work<'_>, id: Id) {
    let at = work.node(id).at;
    let places = work.node(id).many("prefixItems").to_vec();
    let rest = work.node(id).one("items");
    let closed = rest.is_some_and(|rest| work.is_never(rest));
    let length = places.len() as u64;
    let bounded = closed
        || work
            .node(id)
            .json("maxItems")
            .and_then(Value::as_u64)
            .is_some_and(|max| max <= length);
    let mut kinds: Vec<Id> = Vec::new();
    for place in places.iter().copied().chain(rest.filter(|_| !bounded)) {
        if !kinds.iter().any(|known| alike(work, *known, place, &mut 0)) {
            kinds.push(place);
        }
    }
    let open_end = !bounded && rest.is_none();
    let sentence = words::schema_rule("prefixItems", &plain(&work.graph, &places));
    let items = match kinds.as_slice() {
        _ if open_end => work.open_node(at),
        [only] => *only,
        _ => {
            let mut union = Node::new(at, Types::ANY);
            union.set("anyOf", Part::Many(kinds.clone()));
            work.graph.add(union)
        }
    };
    let exact = kinds.len() == 1 && !open_end;
    let node = work.node_mut(id);
    node.take("prefixItems");
    node.set("items", Part::One(items));
    if closed {
        shorten(node, places.len());
    }
    if exact {
        work.report.lossless(at, "prefixItems", Action::Rewritten);
    } else {
        if let Some(sentence) = sentence {
            work.node_mut(id).explain(&sentence);
        }
        work.report.lossy(at, "prefixItems", Action::Weakened);
    }
}
