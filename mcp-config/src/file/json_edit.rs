//! Edits of entries in the text of a JSON file with comments. `None` where the text has no place for them.

use std::ops::Range;

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Value;

use crate::file::document::json_options;

/// Adds an entry, replacing one with the same name.
pub(crate) fn put(text: &str, container: &str, name: &str, entry: &Value) -> Option<String> {
    insert(text, container, name, &format!("{entry:#}"), Indented::No)
}

/// Adds an entry as written in another file.
pub(crate) fn copy(text: &str, container: &str, name: &str, from: &str) -> Option<String> {
    let raw = with_object(from, &[container], |object| {
        let value = property(object, name)?.value.range();
        from.get(value.start..value.end).map(str::to_owned)
    })?;
    insert(text, container, name, &raw, Indented::Yes)
}

/// Removes an entry.
pub(crate) fn remove(text: &str, container: &str, name: &str) -> Option<String> {
    with_object(text, &[container], |object| cut(text, object, name))
}

/// Whether the lines of a value already have the indentation of their place.
#[derive(Clone, Copy)]
enum Indented {
    Yes,
    No,
}

fn insert(
    text: &str,
    container: &str,
    name: &str,
    value: &str,
    indented: Indented,
) -> Option<String> {
    if text.trim().is_empty() {
        return insert("{}\n", container, name, value, indented);
    }
    let has = with_object(text, &[], |root| Some(property(root, container).is_some()))?;
    if !has {
        let text = with_object(text, &[], |root| add(text, root, container, "{}"))?;
        return insert(&text, container, name, value, indented);
    }
    let value = match indented {
        Indented::Yes => value.to_owned(),
        Indented::No => {
            let unit = unit(text);
            let depth = with_object(text, &[container], |object| Some(inner(text, object)))?;
            laid_out(value, &unit, depth.as_deref(), line_break(text))
        }
    };
    with_object(text, &[container], |object| {
        match property(object, name).map(|it| it.value.range()) {
            Some(range) => spliced(text, range.start..range.end, &value),
            None => add(text, object, name, &value),
        }
    })
}

/// Calls `act` with the root object, or with the object in that member.
fn with_object<T>(
    text: &str,
    path: &[&str],
    act: impl FnOnce(&Object<'_>) -> Option<T>,
) -> Option<T> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json_options()).ok()?;
    let Some(ast::Value::Object(root)) = parsed.value else {
        return None;
    };
    match path {
        [] => act(&root),
        [name, ..] => match &property(&root, name)?.value {
            ast::Value::Object(object) => act(object),
            _ => None,
        },
    }
}

/// The last member of a name, which is the effective one.
fn property<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    let mut properties = object.properties.iter().rev();
    properties.find(|property| property.name.as_str() == name)
}

/// Adds a member after the last one.
fn add(text: &str, object: &Object<'_>, name: &str, value: &str) -> Option<String> {
    let member = format!("{}: {value}", Value::from(name));
    let end = object.range.end.checked_sub(1)?;
    let line = line_break(text);
    let Some(last) = object.properties.last() else {
        let start = object.range.start + 1;
        let within = text.get(start..end)?;
        let outer = indent_at(text, object.range.start);
        let deeper = format!("{outer}{}", unit(text));
        // Comments are kept; blanks are not.
        let kept = within.trim_end();
        let members = format!("{kept}{line}{deeper}{member}{line}{outer}");
        return spliced(text, start..end, &members);
    };
    let after = last.range.end;
    let comma = comma(text, after);
    let same_line = |c| matches!(c, ' ' | '\t');
    let (place, is_line) = comments_end(text, comma.map_or(after, |at| at + 1), same_line);
    let (before, between, rest) = (
        text.get(..after)?,
        text.get(after..place)?,
        text.get(place..)?,
    );
    let trailing = if comma.is_some() { "," } else { "" };
    let first = if comma.is_some() { "" } else { "," };
    let outer = || is_line.then(|| indent_at(text, object.range.start));
    Some(match inner(text, object).or_else(outer) {
        Some(indent) => {
            format!("{before}{first}{between}{line}{indent}{member}{trailing}{rest}")
        }
        None => format!("{before}{first}{between} {member}{trailing}{rest}"),
    })
}

/// Removes the last member of a name. Comments around it are kept.
fn cut(text: &str, object: &Object<'_>, name: &str) -> Option<String> {
    let mut properties = object.properties.iter();
    let at = properties.rposition(|property| property.name.as_str() == name)?;
    let found = object.properties.get(at)?;
    let previous = at.checked_sub(1).and_then(|at| object.properties.get(at));
    let before = match previous {
        Some(previous) => Some(comma(text, previous.range.end)?),
        None => None,
    };
    let own = comma(text, found.range.end);
    let floor = before.unwrap_or(object.range.start) + 1;
    let (mut start, is_line) = comments_end(text, floor, char::is_whitespace);
    let end = own.map_or(found.range.end, |at| at + 1);
    let rest = text.get(end..)?.trim_start_matches([' ', '\t', '\r']);
    if is_line && !rest.starts_with('\n') {
        // The comment's line must end.
        start += text.get(start..)?.find('\n')? + 1;
    }
    let mut cut = spliced(text, start..end, "")?;
    // The previous one is now the last.
    if let (None, Some(before)) = (own, before) {
        cut.replace_range(before..=before, "");
    }
    // An empty object has no lines.
    if object.properties.len() == 1 {
        let inside = object.range.start + 1..object.range.end - 1 - (text.len() - cut.len());
        if cut.get(inside.clone())?.trim().is_empty() {
            cut.replace_range(inside, "");
        }
    }
    Some(cut)
}

fn spliced(text: &str, range: Range<usize>, new: &str) -> Option<String> {
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    Some(format!("{before}{new}{after}"))
}

/// The comma after a value, if there is one.
fn comma(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let skipped = rest.len() - rest.trim_start().len();
        at += skipped;
        let rest = text.get(at..)?;
        if rest.starts_with(',') {
            return Some(at);
        }
        at += comment(rest)?;
    }
}

/// The length of the comment at the start of a text.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        text.find("*/").map(|at| at + 2)
    } else {
        None
    }
}

/// The end of the comments that follow after such blanks, and whether the last one ends with its line; `from` if there
/// are none.
fn comments_end(text: &str, from: usize, blank: impl Fn(char) -> bool) -> (usize, bool) {
    let (mut end, mut is_line) = (from, false);
    let mut at = from;
    while let Some(rest) = text.get(at..) {
        let trimmed = rest.trim_start_matches(&blank);
        at += rest.len() - trimmed.len();
        let Some(length) = comment(trimmed) else {
            break;
        };
        // The line break is not part of the comment.
        let comment = trimmed.get(..length).unwrap_or_default();
        end = at + comment.trim_end_matches('\r').len();
        is_line = comment.starts_with("//");
        at += length;
    }
    (end, is_line)
}

/// The indentation of an object's members; `None` if they are on the line where the object starts.
fn inner(text: &str, object: &Object<'_>) -> Option<String> {
    let Some(first) = object.properties.first() else {
        let outer = indent_at(text, object.range.start);
        return Some(format!("{outer}{}", unit(text)));
    };
    let before = text.get(object.range.start..first.range.start)?;
    before
        .contains('\n')
        .then(|| indent_at(text, first.range.start))
}

/// The blanks at the start of the line of this byte.
fn indent_at(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blank).unwrap_or_default().to_owned()
}

/// One step of indentation: that of the first indented line.
fn unit(text: &str) -> String {
    let indents = text.lines().map(|line| {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.split_at(blank)
    });
    let mut indents = indents.filter(|(indent, rest)| !indent.is_empty() && rest.starts_with('"'));
    let first = indents.next().map(|(indent, _)| indent.to_owned());
    first.unwrap_or_else(|| "  ".to_owned())
}

fn line_break(text: &str) -> &'static str {
    match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    }
}

/// A value of several lines, indented by two blanks per step, in the form required at its place; on one line if the
/// object is.
fn laid_out(value: &str, unit: &str, indent: Option<&str>, line_break: &str) -> String {
    let mut lines = value.lines().map(|line| {
        let rest = line.trim_start_matches(' ');
        ((line.len() - rest.len()) / 2, rest)
    });
    let Some(indent) = indent else {
        let words: Vec<&str> = lines.map(|(_, rest)| rest).collect();
        return words.join(" ");
    };
    let mut text = lines.next().map_or("", |(_, rest)| rest).to_owned();
    for (depth, rest) in lines {
        text.push_str(line_break);
        text.push_str(indent);
        text.push_str(&unit.repeat(depth));
        text.push_str(rest);
    }
    text
}
