//! The rewrites, one file each, in the order they run. A pass reads the target's table, changes the graph and reports
//! its changes; a schema that requires no changes passes through untouched.

use std::collections::HashSet;

use crate::{
    CompileLimits, Quarantine, Target,
    graph::{Graph, Id, Node, merge::Memo, merge::Merger, walk::Walk},
    report::Report,
};

mod ambiguity;
mod array;
mod audit;
mod bounds;
mod combine;
mod condition;
mod enumeration;
mod impossible;
mod key;
mod keyword;
mod map;
mod nullable;
mod refs;
mod root;
mod strict;
mod untyped;

/// The number of members of an intersection that are merged one after the other.
const FEW: usize = 8;

/// The state the passes work on.
pub(crate) struct Work<'a> {
    pub(crate) graph: Graph,
    pub(crate) target: &'a Target,
    pub(crate) limits: &'a CompileLimits,
    pub(crate) report: Report,
    /// The text of the root that has no place in the schema.
    pub(crate) aside: Option<String>,
    memo: Memo,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        graph: Graph,
        report: Report,
        target: &'a Target,
        limits: &'a CompileLimits,
    ) -> Self {
        Self {
            graph,
            target,
            limits,
            report,
            aside: None,
            memo: Memo::new(),
        }
    }

    /// Runs all passes. Anything a pass removes without a report is reported as a loss.
    pub(crate) fn run(&mut self) -> Result<(), Quarantine> {
        let passes = [
            refs::run,
            root::run,
            combine::run,
            condition::run,
            untyped::run,
            enumeration::run,
            impossible::run,
            array::run,
            nullable::run,
            map::run,
            strict::run,
            bounds::run,
            keyword::run,
            key::run,
            // The keywords that used a condition's evaluation may have been removed by now.
            condition::drop_idle,
            ambiguity::run,
        ];
        let mut held = audit::held(&self.graph);
        for pass in passes {
            let (reported, changes) = (self.report.len(), self.graph.changes());
            pass(self)?;
            if self.graph.changes() != changes {
                held = audit::account(self, held, reported);
            }
        }
        Ok(())
    }

    /// Calls `visit` for every node in use, including those it adds.
    fn each(
        &mut self,
        mut visit: impl FnMut(&mut Self, Id) -> Result<(), Quarantine>,
    ) -> Result<(), Quarantine> {
        let mut walk = Walk::new(&self.graph);
        while let Some(id) = walk.next(&self.graph) {
            visit(self, id)?;
            self.graph.check(self.limits)?;
        }
        Ok(())
    }

    fn node(&self, id: Id) -> &Node {
        self.graph.node(id)
    }

    fn node_mut(&mut self, id: Id) -> &mut Node {
        self.graph.node_mut(id)
    }

    fn merger(&mut self) -> Merger<'_> {
        Merger::new(
            &mut self.graph,
            &mut self.report,
            &mut self.memo,
            self.limits,
        )
    }

    /// Constrains `id` by all members of its `allOf`, and by its reference if there are rules beside it.
    fn fold(&mut self, id: Id) -> Result<(), Quarantine> {
        // Each member counts once, however often it is referred to.
        let mut folded = HashSet::from([id]);
        loop {
            let node = self.node_mut(id);
            let mut members: Vec<Id> = node.reference.take().into_iter().collect();
            members.extend(node.many("allOf"));
            node.take("allOf");
            members
                .iter_mut()
                .for_each(|member| *member = self.graph.follow(*member));
            members.retain(|member| folded.insert(*member));
            if members.is_empty() {
                return Ok(());
            }
            // Many members are first merged among themselves: each is then copied a few times instead of once for every
            // other.
            while members.len() > FEW {
                members = members
                    .chunks(2)
                    .map(|pair| match pair {
                        [a, b] => self.merger().merge(*a, *b),
                        rest => Ok(rest.first().copied().unwrap_or(id)),
                    })
                    .collect::<Result<_, _>>()?;
            }
            for member in members {
                self.merger().narrow(id, member)?;
            }
        }
    }
}
