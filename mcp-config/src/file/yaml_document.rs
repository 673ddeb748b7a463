//! YAML, parsed into the same tree and written from JSON values.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Number, Value};

use crate::file::document::{Kind, Member, Node};

/// The maximum nesting depth, and the maximum number of values with aliases expanded.
const MAX_DEPTH: usize = 100;
const MAX_NODES: usize = 1 << 20;

/// The position of an error, and the error.
type Broken = (usize, String);

/// Parses a file; on failure returns the position and the error. An empty file is an empty object.
pub(crate) fn parse(text: &str) -> Result<Node, Broken> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or_default();
            (at, error.info().to_owned())
        })?;
        builder.event(event, span)?;
    }
    let empty = Node {
        at: 0,
        kind: Kind::Object(Vec::new()),
    };
    let root = builder.root.unwrap_or(empty);
    Ok(match root.kind {
        Kind::Null => Node {
            at: root.at,
            kind: Kind::Object(Vec::new()),
        },
        _ => root,
    })
}

/// Builds the tree from events, without recursion.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, usize)>,
    /// The number of values so far, counting those of aliases each time.
    nodes: usize,
    root: Option<Node>,
}

/// A list or an object that has not ended.
struct Open {
    at: usize,
    anchor: usize,
    /// The number of values at its start.
    nodes: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Object(Vec<Member>, Option<(usize, String)>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Broken> {
        let at = span.start.byte_offset().unwrap_or_default();
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = match self.wants_key() {
                    true => Kind::Text(text.into_owned()),
                    false => scalar(text.into_owned(), style, tag.as_deref()),
                };
                let before = self.nodes;
                self.nodes += 1;
                self.add(Node { at, kind }, anchor, before)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor) else {
                    return Err((at, "an alias of itself".to_owned()));
                };
                let (mut node, size) = (node.clone(), *size);
                node.at = at;
                let before = self.nodes;
                self.nodes += size;
                self.add(node, 0, before)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.start(at, anchor, OpenKind::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                self.start(at, anchor, OpenKind::Object(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err((at, "more than one document".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn wants_key(&self) -> bool {
        let last = self.open.last().map(|open| &open.kind);
        matches!(last, Some(OpenKind::Object(_, None)))
    }

    fn start(&mut self, at: usize, anchor: usize, kind: OpenKind) -> Result<(), Broken> {
        if self.wants_key() {
            return Err((at, "a key must be a text".to_owned()));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err((at, "it is nested too deeply".to_owned()));
        }
        let nodes = self.nodes;
        self.nodes += 1;
        self.open.push(Open {
            at,
            anchor,
            nodes,
            kind,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Broken> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let kind = match open.kind {
            OpenKind::List(items) => Kind::List(items),
            OpenKind::Object(members, _) => Kind::Object(merged(members)),
        };
        self.add(Node { at: open.at, kind }, open.anchor, open.nodes)
    }

    /// Adds a value to its parent; `before` is the number of values at its start.
    fn add(&mut self, node: Node, anchor: usize, before: usize) -> Result<(), Broken> {
        if self.nodes > MAX_NODES {
            return Err((node.at, "it has too many values".to_owned()));
        }
        if anchor != 0 {
            let size = self.nodes - before;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Object(members, key)) => match (key.take(), node.kind) {
                (Some((at, name)), kind) => {
                    let value = Node { at: node.at, kind };
                    members.push(Member { at, name, value });
                }
                (None, Kind::Text(name)) => *key = Some((node.at, name)),
                (None, _) => return Err((node.at, "a key must be a text".to_owned())),
            },
        }
        Ok(())
    }
}

/// An object with the members of `<<` that it does not define itself.
fn merged(members: Vec<Member>) -> Vec<Member> {
    if members.iter().all(|member| member.name != "<<") {
        return members;
    }
    let (merges, mut own): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| member.name == "<<");
    for merge in merges {
        let sources = match merge.value.kind {
            Kind::List(items) => items,
            _ => vec![merge.value],
        };
        for source in sources {
            for member in source.members().unwrap_or_default() {
                if own.iter().all(|other| other.name != member.name) {
                    own.push(member.clone());
                }
            }
        }
    }
    own
}

/// A scalar according to the core schema of YAML 1.2.
fn scalar(text: String, style: ScalarStyle, tag: Option<&Tag>) -> Kind {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
    if style != ScalarStyle::Plain || is_text {
        return Kind::Text(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        word => number(word).map_or_else(|| Kind::Text(word.to_owned()), Kind::Number),
    }
}

fn number(word: &str) -> Option<Number> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = word.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let signed = word.parse::<i64>().ok().map(Number::from);
        return signed.or_else(|| word.parse::<u64>().ok().map(Number::from));
    }
    let is_float = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let float = word
        .parse::<f64>()
        .ok()
        .filter(|_| word.chars().all(is_float))?;
    Number::from_f64(float)
}

/// Writes a file.
pub(crate) fn write(root: &Map<String, Value>) -> String {
    let mut out = String::new();
    members(root, 0, &mut out);
    out
}

/// An object's members, each on separate lines; the first is not indented if `out` is within a line.
pub(crate) fn members(object: &Map<String, Value>, indent: usize, out: &mut String) {
    for (name, value) in object {
        start(indent, out);
        out.push_str(&word(name));
        out.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                members(inner, indent + 2, out);
            }
            Value::Array(list) if !list.is_empty() => {
                out.push('\n');
                items(list, indent + 2, out);
            }
            _ => {
                out.push(' ');
                inline(value, out);
            }
        }
    }
}

/// A list's items, each on separate lines.
pub(crate) fn items(list: &[Value], indent: usize, out: &mut String) {
    for value in list {
        start(indent, out);
        out.push_str("- ");
        match value {
            Value::Object(inner) if !inner.is_empty() => members(inner, indent + 2, out),
            Value::Array(inner) if !inner.is_empty() => items(inner, indent + 2, out),
            _ => inline(value, out),
        }
    }
}

fn start(indent: usize, out: &mut String) {
    if out.is_empty() || out.ends_with('\n') {
        out.push_str(&" ".repeat(indent));
    }
}

fn inline(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&word(text)),
        // Empty containers, and values written as in JSON.
        other => out.push_str(&other.to_string()),
    }
    out.push('\n');
}

/// A plain text where it is unambiguous, else a quoted one.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./@+".contains(c);
    let first = |c: char| c.is_ascii_alphabetic() || "_/".contains(c);
    let old = ["y", "n", "yes", "no", "on", "off"];
    let is_plain = text.starts_with(first)
        && text.chars().all(plain)
        && !old.contains(&text.to_ascii_lowercase().as_str())
        && matches!(
            scalar(text.to_owned(), ScalarStyle::Plain, None),
            Kind::Text(_)
        );
    if is_plain {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control()
                || matches!(
                    c,
                    '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                ) =>
            {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
