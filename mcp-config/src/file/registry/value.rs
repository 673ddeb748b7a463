//! The values of a `server.json`: given ones, and those that its user is asked for.

use crate::file::document::{Kind, Member, Node};
use crate::file::field::{self, Fault};
use crate::file::input::{Input, InputKind, reference};

/// What the user is asked for.
pub(super) struct Asked<'a> {
    pub(super) inputs: Vec<Input>,
    /// How many values of an input there are.
    count: &'a dyn Fn(&Input) -> usize,
}

impl<'a> Asked<'a> {
    pub(super) fn new(count: &'a dyn Fn(&Input) -> usize) -> Self {
        Self {
            inputs: Vec::new(),
            count,
        }
    }

    /// References to the values of an input.
    fn references(&mut self, input: Input) -> Vec<String> {
        let most = if input.multiple { usize::MAX } else { 1 };
        let count = (self.count)(&input).min(most);
        let references = (0..count).map(|at| reference(&input.id, at)).collect();
        self.inputs.push(input);
        references
    }
}

/// Headers or environment variables: those with a value, and required ones.
pub(super) fn variables(
    node: Option<&Node>,
    asked: &mut Asked<'_>,
) -> Result<Vec<(String, String)>, Fault> {
    let mut pairs = Vec::new();
    for item in list(node)? {
        let name = item.get("name").map(field::text).transpose()?;
        let name = name.ok_or_else(|| Fault::new(item.at, "has no \"name\""))?;
        if let Some(value) = values(item, &name, asked)?.into_iter().next() {
            pairs.push((name, value));
        }
    }
    Ok(pairs)
}

/// The words that arguments are on a command line.
pub(super) fn arguments(node: Option<&Node>, asked: &mut Asked<'_>) -> Result<Vec<String>, Fault> {
    let mut words = Vec::new();
    for item in list(node)? {
        let text = |name: &str| item.get(name).map(field::text).transpose();
        let name = text("name")?;
        let hint = text("valueHint")?
            .or_else(|| name.clone())
            .unwrap_or_default();
        let id = hint.trim_start_matches('-').to_owned();
        let values = values(item, &id, asked)?;
        match (text("type")?.as_deref(), name) {
            (Some("named"), Some(name)) => {
                if values.is_empty() && id.is_empty() && flagged(item, "isRequired")? {
                    words.push(name.clone());
                }
                for value in values {
                    words.extend([name.clone(), value]);
                }
            }
            _ => words.extend(values),
        }
    }
    Ok(words)
}

fn list(node: Option<&Node>) -> Result<&[Node], Fault> {
    match node.map(|node| (node, &node.kind)) {
        None | Some((_, Kind::Null)) => Ok(&[]),
        Some((_, Kind::List(items))) => Ok(items),
        Some((node, _)) => Err(Fault::expected("a list", node)),
    }
}

fn flagged(node: &Node, name: &str) -> Result<bool, Fault> {
    Ok(node
        .get(name)
        .map(field::flag)
        .transpose()?
        .unwrap_or(false))
}

/// The values of an input: its own, else as many of the user's as there are. One without a name cannot be asked for.
fn values(node: &Node, id: &str, asked: &mut Asked<'_>) -> Result<Vec<String>, Fault> {
    if let Some(value) = node.get("value").map(field::text).transpose()? {
        return Ok(vec![template(&value, node.get("variables"), asked)?]);
    }
    let input = input(node, id)?;
    match id.is_empty() || id.contains(['}', '{']) {
        true => Ok(Vec::new()),
        false => Ok(asked.references(input)),
    }
}

fn input(node: &Node, id: &str) -> Result<Input, Fault> {
    let text = |name: &str| node.get(name).map(field::text).transpose();
    let mut input = Input::new(id);
    input.description = text("description")?;
    input.default = text("default")?;
    input.password = flagged(node, "isSecret")?;
    input.required = flagged(node, "isRequired")?;
    input.multiple = flagged(node, "isRepeated")?;
    input.kind = match text("format")?.as_deref() {
        Some("number") => InputKind::Number,
        Some("boolean") => InputKind::Boolean,
        Some("filepath") => InputKind::File,
        _ => InputKind::Text,
    };
    // Without a choice, anything may be said.
    let options = node.get("choices").map(field::texts).transpose()?;
    input.options = options.filter(|options| !options.is_empty());
    Ok(input)
}

/// A text in which `{name}` of the variables stands for the user's values.
pub(super) fn template(
    text: &str,
    names: Option<&Node>,
    asked: &mut Asked<'_>,
) -> Result<String, Fault> {
    let names = names.and_then(Node::members).unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let end = after.find(['{', '}']);
        let inside = end.and_then(|end| after.get(..end)).unwrap_or_default();
        let behind = end.and_then(|end| after.get(end..)?.strip_prefix('}'));
        let known = |member: &&Member| member.name == inside;
        match (names.iter().find(known), behind) {
            (Some(member), Some(behind)) => {
                out.push_str(&std::mem::take(&mut plain).replace("${", "${:-$}{"));
                match member.value.get("value").map(field::text).transpose()? {
                    Some(value) => out.push_str(&value.replace("${", "${:-$}{")),
                    None => {
                        let mut input = input(&member.value, inside)?;
                        // The text cannot do without it.
                        input.required |= !input.is_wanted();
                        input.multiple = false;
                        asked.inputs.push(input);
                        out.push_str(&reference(inside, 0));
                    }
                }
                rest = behind;
            }
            _ => {
                plain.push('{');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    out.push_str(&plain.replace("${", "${:-$}{"));
    Ok(out)
}
