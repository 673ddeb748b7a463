//! Edits of entries in a YAML file's text. `None` where the text has no place for them.

use std::ops::Range;

use granit_parser::{Event, Parser, StructureStyle};
use serde_json::{Map, Value};

use crate::dialect::keys::Keys;
use crate::file::yaml_document::{items, members, word};

/// Adds an entry, replacing one with the same name.
pub(crate) fn put(text: &str, keys: &Keys, name: &str, entry: &Value) -> Option<String> {
    insert(text, keys, name, |indent| {
        let mut lines = String::new();
        match keys.is_list {
            true => items(std::slice::from_ref(entry), indent, &mut lines),
            false => {
                let one = Map::from_iter([(name.to_owned(), entry.clone())]);
                members(&one, indent, &mut lines);
            }
        }
        Some(lines)
    })
}

/// Adds an entry as written in another file.
pub(crate) fn copy(text: &str, keys: &Keys, name: &str, from: &str) -> Option<String> {
    let other = Outline::of(from, keys)?;
    let found = other.entries.iter().rfind(|entry| entry.name == name)?;
    let raw = from.get(found.lines.clone())?;
    insert(text, keys, name, |indent| {
        let own = found.indent;
        let shifted = raw.lines().map(|line| match line.get(own..) {
            Some(rest) if !rest.trim().is_empty() => format!("{}{rest}\n", " ".repeat(indent)),
            _ => "\n".to_owned(),
        });
        Some(shifted.collect())
    })
}

/// Removes an entry.
pub(crate) fn remove(text: &str, keys: &Keys, name: &str) -> Option<String> {
    let outline = Outline::of(text, keys)?;
    let found = outline.entries.iter().rfind(|entry| entry.name == name)?;
    let mut changed = text.to_owned();
    changed.replace_range(found.lines.clone(), "");
    // A key without a value would be null rather than an empty list or object.
    if outline.entries.len() == 1 {
        let key = outline.key?;
        let empty = if keys.is_list { " []" } else { " {}" };
        changed.insert_str(key.colon, empty);
    }
    Some(changed)
}

fn insert(
    text: &str,
    keys: &Keys,
    name: &str,
    lines: impl FnOnce(usize) -> Option<String>,
) -> Option<String> {
    let outline = Outline::of(text, keys)?;
    let windows = text.contains("\r\n");
    let broken = |lines: String| match windows {
        true => lines.replace('\n', "\r\n"),
        false => lines,
    };
    let mut changed = text.to_owned();
    let found = outline.entries.iter().rfind(|entry| entry.name == name);
    if let Some(found) = found {
        changed.replace_range(found.lines.clone(), &broken(lines(found.indent)?));
        return Some(changed);
    }
    if let Some(last) = outline.entries.last() {
        let mut lines = broken(lines(last.indent)?);
        if !changed.get(..last.lines.end)?.ends_with('\n') {
            lines.insert_str(0, if windows { "\r\n" } else { "\n" });
        }
        changed.insert_str(last.lines.end, &lines);
        return Some(changed);
    }
    if let Some(key) = outline.key {
        // `key: {}`, `key: []` or nothing: the value is removed.
        let lines = broken(lines(key.indent + 2)?);
        let end = changed.get(key.value.end..)?.find('\n');
        let line_end = end.map_or(changed.len(), |at| key.value.end + at + 1);
        let mut head = changed.get(key.value.end..line_end)?.to_owned();
        if !head.ends_with('\n') {
            head.push_str(if windows { "\r\n" } else { "\n" });
        }
        changed.replace_range(key.colon..line_end, &format!("{head}{lines}"));
        return Some(changed);
    }
    if outline.is_flow {
        return None;
    }
    let mut end = String::new();
    if changed.trim().is_empty() {
        for (name, value) in keys.preamble {
            end.push_str(&format!("{name}: {}\n", word(value)));
        }
    } else if !changed.ends_with('\n') {
        end.push('\n');
    }
    end.push_str(&format!("{}:\n{}", keys.container, lines(2)?));
    changed.push_str(&broken(end));
    Some(changed)
}

/// The positions of the entries in a file.
#[derive(Debug, Default)]
struct Outline {
    /// The key of the container, if there is one.
    key: Option<Key>,
    entries: Vec<Entry>,
    /// Whether everything is in braces.
    is_flow: bool,
}

#[derive(Clone, Debug)]
struct Key {
    indent: usize,
    /// The position after the colon.
    colon: usize,
    /// The value, if it is on the key's line.
    value: Range<usize>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    indent: usize,
    /// Its complete lines.
    lines: Range<usize>,
}

impl Outline {
    /// The outline of a file whose container is in block style or empty; `None` otherwise.
    fn of(text: &str, keys: &Keys) -> Option<Self> {
        let mut outline = Self::default();
        let Some(root) = Tree::of(text)? else {
            return Some(outline);
        };
        let TreeKind::Object(pairs) = &root.kind else {
            return None;
        };
        outline.is_flow = root.is_flow;
        let mut pairs = pairs.iter().rev();
        let Some((key, value)) = pairs.find(|(key, _)| key.is_text(keys.container)) else {
            return Some(outline);
        };
        let colon = key.range.end + text.get(key.range.end..)?.find(':')? + 1;
        outline.key = Some(Key {
            indent: indent_of(text, key.range.start),
            colon,
            value: value.range.start.max(colon)..value.range.end.max(colon),
        });
        let entry = |name: String, start: usize, end: usize| Entry {
            name,
            indent: indent_of(text, start),
            lines: lines_of(text, start..end),
        };
        // Flow style is left alone.
        let is_block = |is_empty: bool| !value.is_flow || is_empty;
        match &value.kind {
            _ if root.is_flow => return None,
            TreeKind::Scalar(word) if matches!(word.as_str(), "" | "~" | "null") => {}
            TreeKind::Object(pairs) if !keys.is_list && is_block(pairs.is_empty()) => {
                outline
                    .entries
                    .extend(pairs.iter().filter_map(|(key, value)| {
                        let end = key.range.end.max(value.range.end);
                        Some(entry(key.text()?.to_owned(), key.range.start, end))
                    }));
            }
            TreeKind::List(list) if keys.is_list && is_block(list.is_empty()) => {
                for item in list {
                    let name = item.get("name").and_then(Tree::text).map(str::to_owned);
                    // It starts at its dash.
                    let dash = text.get(..item.range.start)?.rfind('-')?;
                    outline
                        .entries
                        .push(entry(name.unwrap_or_default(), dash, item.range.end));
                }
            }
            _ => return None,
        }
        Some(outline)
    }
}

/// The number of blanks before a position in its line.
fn indent_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    at - before.rfind('\n').map_or(0, |line| line + 1)
}

/// The complete lines of a range, without trailing blank ones.
fn lines_of(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.start - indent_of(text, range.start);
    let within = text.get(range.start..range.end).unwrap_or_default();
    let end = range.start + within.trim_end().len();
    let rest = text.get(end..).unwrap_or_default();
    start..rest.find('\n').map_or(text.len(), |line| end + line + 1)
}

/// A value and its position.
struct Tree {
    range: Range<usize>,
    is_flow: bool,
    kind: TreeKind,
}

enum TreeKind {
    Scalar(String),
    List(Vec<Tree>),
    Object(Vec<(Tree, Tree)>),
}

impl Tree {
    /// The tree of a text that was parsed before; `Some(None)` if it is empty.
    fn of(text: &str) -> Option<Option<Self>> {
        let mut open: Vec<(Self, Vec<Self>)> = Vec::new();
        let mut root = None;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.ok()?;
            let range = span.start.byte_offset()?..span.end.byte_offset()?;
            let node = |kind, is_flow| Self {
                range: range.clone(),
                is_flow,
                kind,
            };
            let done = match event {
                Event::Scalar(text, ..) => node(TreeKind::Scalar(text.into_owned()), false),
                Event::Alias(_) => node(TreeKind::Scalar("*".to_owned()), false),
                Event::SequenceStart(style, ..) => {
                    let list = TreeKind::List(Vec::new());
                    open.push((node(list, style == StructureStyle::Flow), Vec::new()));
                    continue;
                }
                Event::MappingStart(style, ..) => {
                    let object = TreeKind::Object(Vec::new());
                    open.push((node(object, style == StructureStyle::Flow), Vec::new()));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let (mut done, inner) = open.pop()?;
                    // A block ends with its last item.
                    let last = inner.iter().map(|it| it.range.end).max();
                    done.range.end = match (done.is_flow, last) {
                        (false, Some(last)) => last,
                        _ => range.end,
                    };
                    done.fill(inner);
                    done
                }
                _ => continue,
            };
            match open.last_mut() {
                Some((_, inner)) => inner.push(done),
                None => root = Some(done),
            }
        }
        // A text of comments only may be an empty scalar.
        Some(root.filter(|root| !root.is_text("")))
    }

    fn fill(&mut self, inner: Vec<Self>) {
        match &mut self.kind {
            TreeKind::List(list) => *list = inner,
            TreeKind::Object(pairs) => {
                let mut inner = inner.into_iter();
                while let (Some(key), Some(value)) = (inner.next(), inner.next()) {
                    pairs.push((key, value));
                }
            }
            TreeKind::Scalar(_) => {}
        }
    }

    fn text(&self) -> Option<&str> {
        match &self.kind {
            TreeKind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    fn is_text(&self, text: &str) -> bool {
        self.text() == Some(text)
    }

    fn get(&self, name: &str) -> Option<&Self> {
        let TreeKind::Object(pairs) = &self.kind else {
            return None;
        };
        let (_, value) = pairs.iter().rev().find(|(key, _)| key.is_text(name))?;
        Some(value)
    }
}
