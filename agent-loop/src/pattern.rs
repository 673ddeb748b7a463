//! Names with wildcards.

use serde::{Deserialize, Serialize};

/// A name in which `*` stands for anything.
///
/// ```
/// use agent_loop::Pattern;
///
/// assert!(Pattern::from("delete_*").matches("delete_repo"));
/// assert!(!Pattern::from("delete_*").matches("undelete_repo"));
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Whatever the name is.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    /// Whether it stands for `name`. Takes time linear in the name for each `*`.
    pub fn matches(&self, name: &str) -> bool {
        let mut pieces = self.0.split('*');
        let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return rest.is_empty();
        };
        for piece in pieces {
            match rest.split_once(piece) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[track_caller]
    fn check(pattern: &str, name: &str, want: bool) {
        assert_eq!(
            Pattern::from(pattern).matches(name),
            want,
            "{pattern} {name}"
        );
    }

    #[test]
    fn a_star_stands_for_anything() {
        check("a", "a", true);
        check("a", "ab", false);
        check("*", "", true);
        check("a*", "a", true);
        check("*a*b*", "xxaxxb", true);
        check("a*a", "a", false);
        check("a*b*c", "abbc", true);
        check("a**c", "ac", true);
        check("", "", true);
        check("", "a", false);
    }
}
