//! Subschemas without a type, for targets that require one everywhere.

use std::collections::HashSet;

use super::Work;
use crate::{
    Action, Quarantine, Untyped,
    graph::keyword,
    graph::types::Types,
    graph::{Id, Node, Part},
    restore::Undo,
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    if work.target.untyped == Untyped::Keep {
        return Ok(());
    }
    // Another pass handles open objects.
    let mut spared = HashSet::new();
    work.each(|work, id| {
        // Separate nodes: a merged node may also use it as a property.
        let rest = work.node(id).one("additionalProperties");
        if let Some(rest) = rest.filter(|rest| work.node(*rest).is_open()) {
            let own = work.graph.add(work.node(rest).clone());
            work.node_mut(id)
                .set("additionalProperties", Part::One(own));
            spared.insert(own);
        }
        let node = work.node(id);
        if spared.contains(&id) {
            return Ok(());
        }
        let said = node.types != Types::ANY
            || node.reference.is_some()
            || node.has("anyOf")
            || node.has("enum")
            || node.has("const");
        if said {
            return Ok(());
        }
        let at = node.at;
        let implied = node
            .keys
            .iter()
            .filter_map(|(key, _)| keyword::find(key))
            .filter(|known| known.role == keyword::Role::Rule && known.applies != Types::ANY)
            .fold(Types::NONE, |types, known| types.or(known.applies));
        match (work.target.untyped, implied) {
            (Untyped::Refuse, _) => work.report.lossy(at, "type", Action::Weakened),
            (_, Types::NONE) => {
                as_text(work, id, "Any JSON value, written as JSON text.", |_| false);
                work.report.lossless(at, "type", Action::Rewritten);
            }
            (_, implied) => {
                work.node_mut(id).types = implied;
                work.report.lossy(at, "type", Action::Narrowed);
            }
        }
        Ok(())
    })
}

/// Makes `id` a string that contains JSON. Rules not implied by `said` are described in words.
pub(super) fn as_text(work: &mut Work<'_>, id: Id, words: &str, said: impl Fn(&str) -> bool) {
    super::keyword::retire_notes(work, id);
    super::keyword::retire_rules(work, id, said);
    let node = work.node_mut(id);
    node.types = if node.types == Types::ANY || !node.types.holds(Types::NULL) {
        Types::STRING
    } else {
        Types::STRING.or(Types::NULL)
    };
    node.undo.push(Undo::Json);
    node.explain(words);
}

impl Work<'_> {
    /// A new node that anything matches, in the target's form.
    pub(super) fn open_node(&mut self, at: usize) -> Id {
        let id = self.graph.add(Node::new(at, Types::ANY));
        match self.target.untyped {
            Untyped::Keep => {}
            Untyped::Text => as_text(self, id, "Any JSON value, written as JSON text.", |_| false),
            Untyped::Refuse => self.report.lossy(at, "type", Action::Weakened),
        }
        id
    }
}
