//! Names with wildcards.

use serde::{Deserialize, Serialize};

/// A pattern for names: `*` matches any text, `\*` a star and `\\` a backslash.
///
/// ```
/// use tool_policy::Pattern;
///
/// assert!(Pattern::from("delete_*").matches("delete_repo"));
/// assert!(!Pattern::from("delete_*").matches("undelete_repo"));
/// assert!(!Pattern::exact("*").matches("delete_repo"));
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Matches every name.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    pub(crate) fn is_any(&self) -> bool {
        self.0 == "*"
    }

    /// Matches exactly this name, whatever characters it contains. Use it for names that come from servers and users.
    pub fn exact(name: &str) -> Self {
        Self(name.replace('\\', "\\\\").replace('*', "\\*"))
    }

    /// The only name it matches, if there is only one.
    pub fn as_exact(&self) -> Option<String> {
        let mut pieces = self.pieces();
        let only = pieces.pop();
        only.filter(|_| pieces.is_empty())
    }

    /// Whether it matches `name`. Takes time linear in the name for each `*`.
    pub fn matches(&self, name: &str) -> bool {
        let pieces = self.pieces();
        let mut pieces = pieces.iter().map(String::as_str);
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

    /// The texts between the wildcards.
    fn pieces(&self) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut chars = self.0.chars();
        while let Some(char) = chars.next() {
            match char {
                '*' => pieces.push(std::mem::take(&mut piece)),
                // A trailing backslash is literal.
                '\\' => piece.push(chars.next().unwrap_or('\\')),
                other => piece.push(other),
            }
        }
        pieces.push(piece);
        pieces
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
    fn a_star_matches_any_text() {
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
        check("\\*", "*", true);
        check("\\*", "a", false);
        check("a\\", "a\\", true);
    }

    #[test]
    fn an_exact_pattern_matches_its_own_name_only() {
        for name in ["", "*", "a*b", "\\", "a\\*", "plain"] {
            let pattern = Pattern::exact(name);
            assert!(pattern.matches(name), "{name}");
            assert!(!pattern.matches(&format!("{name}x")), "{name}");
            assert_eq!(pattern.as_exact().as_deref(), Some(name));
        }
        assert_eq!(Pattern::from("a*").as_exact(), None);
    }
}
