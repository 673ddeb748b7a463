//! Sets of scopes, in the order they were first named.

use std::fmt;

/// The maximum number of scopes that we request for one server.
const MAX_SCOPES: usize = 256;

/// Scopes without duplicates. The order is kept, because some authorization servers display it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Scopes(Vec<String>);

impl Scopes {
    /// Splits a `scope` value; invalid scopes (RFC 6749, section 3.3) are omitted.
    pub(crate) fn parse(text: &str) -> Self {
        Self::of(text.split_ascii_whitespace())
    }

    /// Collects single scopes.
    pub(crate) fn of<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = Vec::<String>::new();
        for scope in scopes {
            let legal = !scope.is_empty()
                && scope
                    .bytes()
                    .all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\');
            if legal && set.len() < MAX_SCOPES && !set.iter().any(|known| known == scope) {
                set.push(scope.to_owned());
            }
        }
        Self(set)
    }

    /// These scopes, then those of `other` that are new.
    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::of(self.iter().chain(other.iter()))
    }

    /// Whether every scope is also in `other`.
    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|scope| other.contains(scope))
    }

    /// Whether `scope` is among them.
    pub(crate) fn contains(&self, scope: &str) -> bool {
        self.iter().any(|known| known == scope)
    }

    /// Whether there are none: then the `scope` parameter is omitted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_a_scope_is_left_out() {
        assert_eq!(Scopes::parse("a \"b\" c\u{e9} a\td").to_string(), "a d");
    }

    proptest! {
        #[test]
        fn a_union_holds_both_sides_and_nothing_else(a in "[a-f ]{0,20}", b in "[a-f ]{0,20}") {
            let (a, b) = (Scopes::parse(&a), Scopes::parse(&b));
            let both = a.union(&b);
            prop_assert!(a.is_subset(&both) && b.is_subset(&both));
            prop_assert!(both.iter().all(|s| a.contains(s) || b.contains(s)));
            prop_assert_eq!(&both.union(&a), &both);
            prop_assert_eq!(Scopes::parse(&both.to_string()), both);
        }
    }
}
