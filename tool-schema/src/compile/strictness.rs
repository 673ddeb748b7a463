//! The use that a schema makes of a provider's strict limits.

use serde_json::Value;

use crate::{
    NotStrict, StrictLimits,
    graph::types::Types,
    graph::{Graph, Id},
};

/// The counts of a compiled schema.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    properties: usize,
    depth: usize,
    enum_values: usize,
    text: usize,
    large_enum_text: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

impl Use {
    pub(crate) fn of(graph: &Graph) -> Self {
        let mut total = Self::default();
        let mut seen = vec![false; graph.len()];
        let mut queue = std::collections::VecDeque::from([(graph.root, 0)]);
        while let Some((id, depth)) = queue.pop_front() {
            match seen.get_mut(id) {
                Some(flag) if !*flag => *flag = true,
                _ => continue,
            }
            total.count(graph, id, depth);
            let node = graph.node(id);
            let deeper =
                node.types != Types::ANY && node.types.meets(Types::OBJECT.or(Types::ARRAY));
            queue.extend(
                node.children()
                    .map(|child| (child, depth + usize::from(deeper))),
            );
        }
        total
    }

    fn count(&mut self, graph: &Graph, id: Id, depth: usize) {
        let node = graph.node(id);
        self.depth = self.depth.max(depth);
        self.properties += node.properties().len();
        self.optional += node.optional().count();
        self.text += node
            .properties()
            .iter()
            .map(|(name, _)| name.chars().count())
            .sum::<usize>();
        if node.has("anyOf") || (node.types != Types::ANY && node.types.count() > 1) {
            self.unions += 1;
        }
        let length = |value: &Value| match value {
            Value::String(text) => text.chars().count(),
            other => other.to_string().len(),
        };
        if let Some(value) = node.json("const") {
            self.text += length(value);
        }
        if let Some(Value::Array(values)) = node.json("enum") {
            let text: usize = values.iter().map(length).sum();
            self.enum_values += values.len();
            self.text += text;
            if values.len() > 250 {
                self.large_enum_text = self.large_enum_text.max(text);
            }
        }
    }

    /// The limits that this tool alone exceeds.
    pub(crate) fn excess(&self, limits: &StrictLimits) -> impl Iterator<Item = NotStrict> + use<> {
        let counts = [
            ("properties", self.properties, limits.properties),
            ("levels of objects and arrays", self.depth, limits.depth),
            ("enum values", self.enum_values, limits.enum_values),
            ("characters of keys and enum values", self.text, limits.text),
            (
                "characters in one enum",
                self.large_enum_text,
                limits.large_enum_text,
            ),
            ("optional properties", self.optional, limits.optional),
            ("unions", self.unions, limits.unions),
        ];
        counts.into_iter().filter_map(|(of, used, limit)| {
            is_beyond(used, limit).then_some(NotStrict::TooMuch { of, used, limit })
        })
    }
}

/// Whether `used` exceeds a limit, where there is one.
pub(crate) fn is_beyond(used: usize, limit: usize) -> bool {
    limit != 0 && used > limit
}
