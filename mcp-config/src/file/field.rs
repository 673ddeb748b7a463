//! The members of one entry, consumed by name and read as their expected types.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::dialect::Unit;
use crate::file::document::{Kind, Member, Node};
use crate::file::problem::step;

/// An invalid value: its path from the entry, and the reason.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) path: String,
    pub(crate) message: String,
}

/// The members of an entry that have not been consumed.
pub(crate) struct Fields<'a> {
    members: Vec<&'a Member>,
}

impl<'a> Fields<'a> {
    /// Of members with the same name the last one wins.
    pub(crate) fn of(node: &'a Node) -> Result<Self, Fault> {
        let members = node.members();
        let members = members.ok_or_else(|| Fault::expected("an object", node))?;
        let mut seen = BTreeSet::new();
        let last_first = members.iter().rev();
        let mut members: Vec<&Member> = last_first
            .filter(|member| seen.insert(member.name.as_str()))
            .collect();
        members.reverse();
        Ok(Self { members })
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.members
            .iter()
            .any(|member| names.contains(&member.name.as_str()))
    }

    /// Returns a member without consuming it.
    pub(crate) fn peek(&self, name: &str) -> Option<&'a Node> {
        let mut members = self.members.iter();
        let found = members.find(|member| member.name == name)?;
        Some(&found.value)
    }

    /// Consumes the member with one of these names and reads it. `null` counts as absent. Two different members among
    /// them are a fault.
    pub(crate) fn take<T>(
        &mut self,
        names: &[&str],
        read: impl FnOnce(&'a Node) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let named = |member: &&&Member| names.contains(&member.name.as_str());
        let mut found = self.members.iter().filter(named);
        let Some(member) = found.next().copied() else {
            return Ok(None);
        };
        let value = member.value.to_value();
        if let Some(other) = found.find(|other| other.value.to_value() != value) {
            let message = format!("{:?} conflicts with {:?}", other.name, member.name);
            return Err(Fault::new(other.at, message).within(&other.name));
        }
        self.members
            .retain(|member| !names.contains(&member.name.as_str()));
        if matches!(member.value.kind, Kind::Null) {
            return Ok(None);
        }
        let read = read(&member.value).map_err(|fault| fault.within(&member.name))?;
        Ok(Some(read))
    }

    /// Consumes the member with one of these names if it is of this kind.
    pub(crate) fn take_if(
        &mut self,
        names: &[&str],
        is: impl Fn(&Node) -> bool,
    ) -> Option<&'a Node> {
        let fits = |member: &&Member| names.contains(&member.name.as_str()) && is(&member.value);
        let at = self.members.iter().position(fits)?;
        Some(&self.members.remove(at).value)
    }

    /// The keys that were not consumed.
    pub(crate) fn rest(self) -> Map<String, Value> {
        let pair = |member: &Member| (member.name.clone(), member.value.to_value());
        self.members.into_iter().map(pair).collect()
    }
}

impl Fault {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            path: String::new(),
            message: message.into(),
        }
    }

    pub(crate) fn expected(what: &str, node: &Node) -> Self {
        Self::new(
            node.at,
            format!("expected {what}, found {}", node.describe()),
        )
    }

    pub(crate) fn within(mut self, name: &str) -> Self {
        self.path.insert_str(0, &step(name));
        self
    }

    fn item(mut self, at: usize) -> Self {
        self.path.insert_str(0, &format!("[{at}]"));
        self
    }
}

/// A text; numbers and booleans are converted as written.
pub(crate) fn text(node: &Node) -> Result<String, Fault> {
    match &node.kind {
        Kind::Text(text) => Ok(text.clone()),
        Kind::Number(number) => Ok(number.to_string()),
        Kind::Bool(flag) => Ok(flag.to_string()),
        _ => Err(Fault::expected("a text", node)),
    }
}

pub(crate) fn texts(node: &Node) -> Result<Vec<String>, Fault> {
    let Kind::List(items) = &node.kind else {
        return Err(Fault::expected("a list of texts", node));
    };
    let read = |(at, item)| text(item).map_err(|fault| fault.item(at));
    items.iter().enumerate().map(read).collect()
}

pub(crate) fn text_set(node: &Node) -> Result<BTreeSet<String>, Fault> {
    Ok(texts(node)?.into_iter().collect())
}

/// Names, each a text or an object with a name (Codex).
pub(crate) fn names(node: &Node) -> Result<Vec<String>, Fault> {
    let Kind::List(items) = &node.kind else {
        return Err(Fault::expected("a list of names", node));
    };
    let name = |item: &Node| text(item.get("name").unwrap_or(item));
    let read = |(at, item)| name(item).map_err(|fault| fault.item(at));
    items.iter().enumerate().map(read).collect()
}

/// A text or a list of texts: a program and its arguments.
pub(crate) fn command(node: &Node) -> Result<(String, Vec<String>), Fault> {
    let mut words = match &node.kind {
        Kind::Text(text) => vec![text.clone()],
        Kind::List(_) => texts(node)?,
        _ => return Err(Fault::expected("a text or a list of texts", node)),
    };
    if words
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        return Err(Fault::new(node.at, "the command is empty"));
    }
    let program = words.remove(0);
    Ok((program, words))
}

pub(crate) fn map<T>(
    node: &Node,
    read: impl Fn(&Node) -> Result<T, Fault>,
) -> Result<BTreeMap<String, T>, Fault> {
    let members = node
        .members()
        .ok_or_else(|| Fault::expected("an object", node))?;
    let pair = |member: &Member| {
        let value = read(&member.value).map_err(|fault| fault.within(&member.name))?;
        Ok((member.name.clone(), value))
    };
    members.iter().map(pair).collect()
}

pub(crate) fn flag(node: &Node) -> Result<bool, Fault> {
    match &node.kind {
        Kind::Bool(flag) => Ok(*flag),
        _ => Err(Fault::expected("true or false", node)),
    }
}

/// A positive time.
pub(crate) fn time(node: &Node, unit: Unit) -> Result<Duration, Fault> {
    let Kind::Number(number) = &node.kind else {
        return Err(Fault::expected("a number", node));
    };
    let amount = number.as_f64().unwrap_or_default();
    let seconds = match unit {
        Unit::Seconds => amount,
        Unit::Guess if amount < 1000.0 => amount,
        Unit::Guess | Unit::Milliseconds => amount / 1000.0,
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| Fault::new(node.at, format!("{number} is not a valid duration")))
}
