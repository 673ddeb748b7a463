//! Names of many servers in one list, and the reverse mapping. Pure.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use mcp_jsonrpc::model::{CacheScope, Prompt, Resource, ResourceTemplate, Skill, Tool};
use mcp_manager::ServerName;
use sha2::{Digest, Sha256};

/// The longest name that the protocol recommends, in characters.
const MAX_NAME: usize = 128;
/// `_` and eight hexadecimal digits.
const MARK: usize = 9;

/// An item of a list, as it is named and exposed.
pub(crate) trait Item: Clone {
    /// What requests refer to it by.
    fn key(&self) -> &str;

    /// The same item under the name `{prefix}{name}`. URIs stay as they are.
    fn exposed(&self, prefix: &str) -> Self;
}

impl Item for Tool {
    fn key(&self) -> &str {
        &self.name
    }

    fn exposed(&self, prefix: &str) -> Self {
        let mut tool = self.clone();
        tool.name = join(prefix, &self.name);
        // Legacy clients cannot ask for tasks here.
        tool.execution = None;
        tool
    }
}

impl Item for Prompt {
    fn key(&self) -> &str {
        &self.name
    }

    fn exposed(&self, prefix: &str) -> Self {
        let mut prompt = self.clone();
        prompt.name = join(prefix, &self.name);
        prompt
    }
}

impl Item for Resource {
    fn key(&self) -> &str {
        &self.uri
    }

    fn exposed(&self, _: &str) -> Self {
        self.clone()
    }
}

impl Item for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
    }

    fn exposed(&self, _: &str) -> Self {
        self.clone()
    }
}

impl Item for Skill {
    fn key(&self) -> &str {
        &self.uri
    }

    fn exposed(&self, _: &str) -> Self {
        self.clone()
    }
}

/// The prefix of a server's names: `{server}__`, with `_` for what names may not contain.
pub(crate) fn server_prefix(server: &ServerName) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = server.as_str().chars();
    let name: String = name.map(|c| if legal(c) { c } else { '_' }).collect();
    format!("{name}__")
}

/// `{prefix}{name}`; a longer name than the protocol recommends ends in a hash instead.
fn join(prefix: &str, name: &str) -> String {
    let plain = format!("{prefix}{name}");
    if prefix.is_empty() || plain.chars().count() <= MAX_NAME {
        return plain;
    }
    let digest = Sha256::digest(plain.as_bytes());
    let (head, _) = digest.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let stem: String = plain.chars().take(MAX_NAME - MARK).collect();
    format!("{stem}_{:08x}", u32::from_be_bytes(*head))
}

/// What one server lists.
pub(crate) struct Part<'a, T> {
    pub(crate) server: &'a ServerName,
    pub(crate) prefix: &'a str,
    pub(crate) items: Vec<&'a T>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) scope: CacheScope,
}

/// The lists of all servers as one.
#[derive(Debug)]
pub(crate) struct Merged<T> {
    /// The exposed items: servers in their order, each with its items in its own order.
    pub(crate) items: Vec<T>,
    /// How long the list stays fresh: as long as the shortest-lived part.
    pub(crate) ttl: Option<Duration>,
    /// Private if any part is.
    pub(crate) scope: CacheScope,
    /// The items that a server of an earlier place has under the same name.
    pub(crate) hidden: Vec<(ServerName, String)>,
    /// By exposed name: the item's index, its server, and its name there.
    routes: HashMap<String, (usize, ServerName, String)>,
}

impl<T: Item> Merged<T> {
    pub(crate) fn new<'a>(parts: impl IntoIterator<Item = Part<'a, T>>) -> Self
    where
        T: 'a,
    {
        let mut merged = Self {
            items: Vec::new(),
            ttl: Some(Duration::MAX),
            scope: CacheScope::Public,
            hidden: Vec::new(),
            routes: HashMap::new(),
        };
        for part in parts {
            // `None` is the minimum: what may not be cached makes the whole so.
            merged.ttl = merged.ttl.min(part.ttl);
            if part.scope != CacheScope::Public {
                merged.scope = CacheScope::Private;
            }
            for item in part.items {
                let exposed = item.exposed(part.prefix);
                match merged.routes.entry(exposed.key().to_owned()) {
                    Entry::Occupied(_) => {
                        let name = item.key().to_owned();
                        merged.hidden.push((part.server.clone(), name));
                    }
                    Entry::Vacant(free) => {
                        let name = item.key().to_owned();
                        free.insert((merged.items.len(), part.server.clone(), name));
                        merged.items.push(exposed);
                    }
                }
            }
        }
        merged.ttl = merged.ttl.filter(|ttl| *ttl != Duration::MAX);
        merged
    }

    /// The server behind an exposed name, and the item's name there.
    pub(crate) fn route(&self, exposed: &str) -> Option<(&ServerName, &str)> {
        let (_, server, name) = self.routes.get(exposed)?;
        Some((server, name))
    }

    /// The exposed item of this name.
    pub(crate) fn find(&self, exposed: &str) -> Option<&T> {
        self.items.get(self.routes.get(exposed)?.0)
    }
}

impl Merged<ResourceTemplate> {
    /// The server whose template may have made this URI: the one with the longest literal start.
    pub(crate) fn maker(&self, uri: &str) -> Option<&ServerName> {
        let literal = |template: &'_ str| template.split('{').next().map_or(0, str::len);
        let fitting = self.routes.iter().filter(|(template, _)| {
            let start = template.get(..literal(template)).unwrap_or_default();
            !start.is_empty() && uri.starts_with(start)
        });
        let best = fitting.max_by_key(|(template, (at, ..))| (literal(template), usize::MAX - at));
        best.map(|(_, (_, server, _))| server)
    }
}

impl Merged<Skill> {
    /// The server whose skill has this file or directory.
    pub(crate) fn keeper(&self, uri: &str) -> Option<&ServerName> {
        let within = self.routes.iter().filter(|(skill, _)| {
            let folder = skill.rsplit_once('/').map_or("", |(folder, _)| folder);
            let rest = uri.strip_prefix(folder);
            !folder.is_empty() && rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        });
        // The most specific, should one lie within another.
        let best = within.max_by_key(|(skill, _)| skill.len());
        best.map(|(_, (_, server, _))| server)
    }
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::RawObject;
    use proptest::prelude::*;

    use super::*;

    type Servers = Vec<(String, bool, Vec<String>)>;

    fn merge(servers: &Servers) -> Merged<Tool> {
        let lists: Vec<_> = servers
            .iter()
            .map(|(name, prefixed, tools)| {
                let server: ServerName = name.parse().unwrap();
                let prefix = match prefixed {
                    true => server_prefix(&server),
                    false => String::new(),
                };
                let tools = tools.iter().map(|tool| Tool::new(tool, RawObject::empty()));
                (server, prefix, tools.collect::<Vec<_>>())
            })
            .collect();
        Merged::new(lists.iter().map(|(server, prefix, tools)| Part {
            server,
            prefix,
            items: tools.iter().collect(),
            ttl: None,
            scope: CacheScope::Public,
        }))
    }

    fn servers() -> impl Strategy<Value = Servers> {
        let tools = prop::collection::vec("[a-c_]{1,3}|[a-z]{100,140}", 0..5);
        let server = ("[a-c_ ]{1,3}", any::<bool>(), tools);
        prop::collection::vec(server, 0..5)
    }

    proptest! {
        #[test]
        fn every_exposed_name_leads_back_to_its_tool_and_every_tool_is_exposed_or_hidden(servers in servers()) {
            let merged = merge(&servers);
            let total: usize = servers.iter().map(|(_, _, tools)| tools.len()).sum();
            prop_assert_eq!(merged.items.len() + merged.hidden.len(), total);
            for tool in &merged.items {
                let (server, name) = merged.route(&tool.name).unwrap();
                let known = servers.iter().any(|(it, _, tools)| {
                    it == server.as_str() && tools.iter().any(|tool| tool == name)
                });
                prop_assert!(known);
                prop_assert_eq!(&merged.find(&tool.name).unwrap().name, &tool.name);
            }
        }

        #[test]
        fn another_server_changes_no_name_and_no_order(servers in servers(), more in servers()) {
            let before = merge(&servers);
            let after = merge(&servers.into_iter().chain(more).collect());
            let names = |merged: &Merged<Tool>| {
                merged.items.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
            };
            prop_assert_eq!(&names(&before)[..], &names(&after)[..before.items.len()]);
            for tool in &before.items {
                prop_assert_eq!(before.route(&tool.name), after.route(&tool.name));
            }
        }

        #[test]
        fn prefixed_names_are_legal(servers in servers()) {
            for (name, _, tools) in &servers {
                let one = merge(&vec![(name.clone(), true, tools.clone())]);
                for tool in &one.items {
                    prop_assert!(tool.name.chars().count() <= MAX_NAME);
                    prop_assert!(tool.name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)));
                }
            }
        }
    }

    #[test]
    fn a_list_lives_as_long_as_its_shortest_lived_part_and_is_private_if_any_part_is() {
        let name: ServerName = "a".parse().unwrap();
        let part = |seconds: Option<u64>, scope: CacheScope| Part::<Tool> {
            server: &name,
            prefix: "",
            items: Vec::new(),
            ttl: seconds.map(Duration::from_secs),
            scope,
        };
        let merge = |parts: Vec<Part<'_, Tool>>| {
            let merged = Merged::new(parts);
            (merged.ttl.map(|ttl| ttl.as_secs()), merged.scope)
        };
        let public = || CacheScope::Public;
        let both = merge(vec![part(Some(9), public()), part(Some(5), public())]);
        assert_eq!(both, (Some(5), CacheScope::Public));
        let one = merge(vec![
            part(Some(9), public()),
            part(None, CacheScope::Private),
        ]);
        assert_eq!(one, (None, CacheScope::Private));
        assert_eq!(merge(Vec::new()), (None, CacheScope::Public));
    }

    #[test]
    fn a_uri_belongs_to_the_template_with_the_longest_literal_start() {
        let (a, b): (ServerName, ServerName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let template = |uri: &str| ResourceTemplate::new(uri, "t");
        let (first, second) = (template("file:///{+path}"), template("file:///logs/{name}"));
        let part = |server, template| Part {
            server,
            prefix: "x__",
            items: vec![template],
            ttl: None,
            scope: CacheScope::Public,
        };
        let merged = Merged::new([part(&a, &first), part(&b, &second)]);
        assert_eq!(merged.maker("file:///logs/1"), Some(&b));
        assert_eq!(merged.maker("file:///etc"), Some(&a));
        assert_eq!(merged.maker("http://x"), None);
    }
}
