//! Resolution of `$ref` inside one document. Nothing is ever fetched.

use std::rc::Rc;

use serde_json::Value;

use super::Step;

/// Finds the targets of references in one document.
pub(crate) struct Resolver<'s> {
    document: &'s Value,
    /// Named locations, collected when a reference first needs one.
    names: Option<Names<'s>>,
}

/// The target of a reference.
pub(crate) struct Found<'s> {
    pub(crate) value: &'s Value,
    pub(crate) base: &'s Value,
    pub(crate) path: Vec<Step>,
}

/// A location that can be referred to by name.
struct Named<'s> {
    /// The enclosing resource's own URI; empty if it has none.
    uri: Rc<str>,
    /// The anchor; `None` for the resource itself.
    anchor: Option<&'s str>,
    value: &'s Value,
    base: &'s Value,
    place: usize,
}

#[derive(Default)]
struct Names<'s> {
    found: Vec<Named<'s>>,
    /// Steps as links to the enclosing location, from 1; 0 is the document.
    places: Vec<(usize, Step)>,
}

impl<'s> Resolver<'s> {
    pub(crate) fn new(document: &'s Value) -> Self {
        Self {
            document,
            names: None,
        }
    }

    /// Resolves `reference` as written inside the resource `base`.
    pub(crate) fn resolve(&mut self, reference: &str, base: &'s Value) -> Option<Found<'s>> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decode(fragment);
        let resource = if uri.is_empty() {
            base
        } else {
            self.resource(uri, base)?
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let mut path = self.path_to(resource);
            let value = walk(resource, &fragment, &mut path)?;
            return Some(Found {
                value,
                base: resource,
                path,
            });
        }
        let names = self.names();
        let named = names.found.iter().find(|named| {
            std::ptr::eq(named.base, resource) && named.anchor == Some(fragment.as_str())
        })?;
        Some(Found {
            value: named.value,
            base: named.base,
            path: names.path(named.place),
        })
    }

    fn resource(&mut self, uri: &str, base: &'s Value) -> Option<&'s Value> {
        let mut resources = self
            .names()
            .found
            .iter()
            .filter(|named| named.anchor.is_none());
        let own = resources
            .clone()
            .find(|named| std::ptr::eq(named.value, base));
        let wanted = join(own.map_or("", |named| &named.uri), uri);
        resources
            .find(|named| *named.uri == wanted)
            .map(|named| named.value)
    }

    fn path_to(&mut self, resource: &'s Value) -> Vec<Step> {
        if std::ptr::eq(resource, self.document) {
            return Vec::new();
        }
        let names = self.names();
        let found = names
            .found
            .iter()
            .find(|named| named.anchor.is_none() && std::ptr::eq(named.value, resource));
        found.map_or_else(Vec::new, |named| names.path(named.place))
    }

    fn names(&mut self) -> &Names<'s> {
        let document = self.document;
        self.names.get_or_insert_with(|| Names::collect(document))
    }
}

impl<'s> Names<'s> {
    /// All `$id`s and anchors, wherever schemas may occur.
    fn collect(document: &'s Value) -> Self {
        let mut names = Self::default();
        let mut stack = vec![(document, document, Rc::from(""), 0)];
        while let Some((value, mut base, mut uri, place)) = stack.pop() {
            if let Value::Object(map) = value {
                let id = map
                    .get("$id")
                    .or_else(|| map.get("id"))
                    .and_then(Value::as_str);
                let mut anchors = Vec::new();
                match id.map(|id| id.strip_prefix('#').ok_or(id)) {
                    Some(Ok(anchor)) => anchors.push(anchor),
                    Some(Err(id)) => {
                        uri = join(&uri, id.trim_end_matches('#')).into();
                        base = value;
                        names.found.push(Named {
                            uri: Rc::clone(&uri),
                            anchor: None,
                            value,
                            base,
                            place,
                        });
                    }
                    None => {}
                }
                anchors.extend(
                    ["$anchor", "$dynamicAnchor"]
                        .iter()
                        .filter_map(|key| map.get(*key)?.as_str()),
                );
                for anchor in anchors {
                    names.found.push(Named {
                        uri: Rc::clone(&uri),
                        anchor: Some(anchor),
                        value,
                        base,
                        place,
                    });
                }
            }
            for (step, child) in children(value) {
                names.places.push((place, step));
                stack.push((child, base, Rc::clone(&uri), names.places.len()));
            }
        }
        names
    }

    fn path(&self, place: usize) -> Vec<Step> {
        let mut path = Vec::new();
        let mut at = place;
        while let Some((parent, step)) = at.checked_sub(1).and_then(|index| self.places.get(index))
        {
            path.push(step.clone());
            at = *parent;
        }
        path.reverse();
        path
    }
}

/// The containers inside `value`, without those that contain data instead of schemas.
fn children(value: &Value) -> Vec<(Step, &Value)> {
    let is_container = |value: &Value| value.is_object() || value.is_array();
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, child)| {
                let data = matches!(key.as_str(), "enum" | "const" | "default" | "examples")
                    && !child.is_object();
                is_container(child) && !data
            })
            .map(|(key, child)| (Step::Key(key.clone()), child))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .filter(|(_, child)| is_container(child))
            .map(|(index, child)| (Step::Index(index), child))
            .collect(),
        _ => Vec::new(),
    }
}

/// Follows a JSON pointer, including `~0`, `~1` and array indices.
fn walk<'s>(from: &'s Value, pointer: &str, path: &mut Vec<Step>) -> Option<&'s Value> {
    let mut at = from;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        at = match at {
            Value::Object(map) => {
                let next = map.get(&token)?;
                path.push(Step::Key(token));
                next
            }
            Value::Array(list) => {
                let index = token.parse().ok()?;
                path.push(Step::Index(index));
                list.get(index)?
            }
            _ => return None,
        };
    }
    Some(at)
}

/// Joins a reference to a base URI, as far as schema identifiers require it.
fn join(base: &str, uri: &str) -> String {
    let absolute = uri.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if absolute || base.is_empty() {
        return uri.to_owned();
    }
    if uri.starts_with('/') {
        let authority = base.find("://").and_then(|start| {
            let rest = base.get(start + 3..)?;
            base.get(..start + 3 + rest.find('/').unwrap_or(rest.len()))
        });
        return format!("{}{uri}", authority.unwrap_or_default());
    }
    let folder = base
        .rfind('/')
        .and_then(|end| base.get(..=end))
        .unwrap_or_default();
    format!("{folder}{uri}")
}

fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
