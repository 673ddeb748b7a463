//! Call ids in the form each provider accepts.

use std::collections::BTreeSet;

use crate::conversation::call_id::{CallId, hash, short_hash};

/// The call ids that a provider accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdRule {
    exact: Option<usize>,
    max: usize,
    /// Whether `_` and `-` are fine, and nothing else but letters and digits.
    plain: bool,
}

impl IdRule {
    /// Letters, digits, `_` and `-`, up to this length.
    pub const fn upto(max: usize) -> Self {
        Self {
            exact: None,
            max,
            plain: true,
        }
    }

    /// Letters and digits, of exactly this length, at most nine.
    pub const fn exactly(len: usize) -> Self {
        Self {
            exact: Some(len),
            max: len,
            plain: true,
        }
    }

    /// Any id.
    pub const fn any() -> Self {
        Self {
            exact: None,
            max: usize::MAX,
            plain: false,
        }
    }

    fn accepts(&self, id: &str) -> bool {
        let sign = |byte: u8| {
            byte.is_ascii_alphanumeric() || self.exact.is_none() && matches!(byte, b'_' | b'-')
        };
        !id.is_empty()
            && id.len() <= self.max
            && self.exact.is_none_or(|len| id.len() == len)
            && (!self.plain || id.bytes().all(sign))
    }
}

/// Gives every call of a request an id that the provider accepts and no other call has. The same
/// conversation always gets the same ids.
#[derive(Debug)]
pub(crate) struct WireIds {
    rule: IdRule,
    taken: BTreeSet<String>,
}

impl WireIds {
    pub(crate) fn new(rule: IdRule) -> Self {
        Self {
            rule,
            taken: BTreeSet::new(),
        }
    }

    /// The id on the wire for the next call of the conversation.
    pub(crate) fn next(&mut self, id: &CallId) -> String {
        let seed = hash(id.as_str().as_bytes());
        let mut wire = id.as_str().to_owned();
        let mut number = 0;
        while !self.rule.accepts(&wire) || !self.taken.insert(wire.clone()) {
            wire = short_hash(seed.wrapping_add(number));
            wire.truncate(self.rule.max);
            number += 1;
        }
        wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_legal_unique_and_stable() {
        let mut ids = WireIds::new(IdRule::exactly(9));
        let first = ids.next(&"call_1".into());
        let second = ids.next(&"call_1".into());
        assert!(first != second && first.len() == 9 && second.len() == 9);
        assert_eq!(
            WireIds::new(IdRule::exactly(9)).next(&"call_1".into()),
            first
        );
        assert_eq!(ids.next(&"abcDEF123".into()), "abcDEF123");

        let mut ids = WireIds::new(IdRule::upto(40));
        assert_eq!(ids.next(&"toolu_01-A".into()), "toolu_01-A");
        assert_eq!(ids.next(&"functions.x:0".into()).len(), 9);
        assert_eq!(ids.next(&"x".repeat(41).as_str().into()).len(), 9);
        assert_eq!(
            WireIds::new(IdRule::any()).next(&"functions.x:0".into()),
            "functions.x:0"
        );
    }
}
