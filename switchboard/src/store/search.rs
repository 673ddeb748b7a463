//! Words that are searched for in messages.

/// How many words of a query count.
const WORDS: usize = 8;
/// How much of a message is shown before the first word that was found, in characters.
const BEFORE: usize = 40;
/// How much of a message is shown, in characters.
const SHOWN: usize = 160;

/// What is searched for: messages that hold every one of some words, each anywhere in the text.
///
/// Words are compared without regard to case. They need not be whole words, nor of any length, so
/// languages that do not divide words by spaces can be searched as well.
///
/// ```
/// use switchboard::store::SearchWords;
///
/// let words = SearchWords::of("  天气 Berlin ");
/// assert_eq!(words.excerpt("Is the 天气 in berlin good?").as_deref(), Some("Is the 天气 in berlin good?"));
/// assert_eq!(words.excerpt("天气"), None);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchWords {
    words: Vec<String>,
}

impl SearchWords {
    /// The words of a query.
    pub fn of(query: &str) -> Self {
        let words = query.split_whitespace().take(WORDS);
        Self {
            words: words.map(str::to_lowercase).collect(),
        }
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// For each word the patterns of `LIKE`, with `\\` before signs that mean themselves: one if
    /// the back end knows the cases of all letters, else the word in its usual cases.
    pub(super) fn patterns(&self, knows_case: bool) -> Vec<Vec<String>> {
        let of = |word: &String| {
            let mut forms = vec![word.clone()];
            if !knows_case && !word.is_ascii() {
                let mut signs = word.chars();
                let first = signs.next().into_iter().flat_map(char::to_uppercase);
                forms.push(first.chain(signs).collect());
                forms.push(word.to_uppercase());
                forms.dedup();
            }
            forms.iter().map(|form| pattern(form)).collect()
        };
        self.words.iter().map(of).collect()
    }

    /// The part of a text around the first word, on one line; nothing if a word is not in it.
    pub fn excerpt(&self, text: &str) -> Option<String> {
        let folded: Vec<char> = text.chars().map(fold).collect();
        let place = |word: &String| {
            let word: Vec<char> = word.chars().map(fold).collect();
            let mut parts = folded.windows(word.len().max(1));
            parts.position(|part| part == word)
        };
        let mut first = usize::MAX;
        for word in &self.words {
            first = first.min(place(word)?);
        }
        let from = match first {
            first if first <= BEFORE => 0,
            first => first - BEFORE,
        };
        let shown: String = text.chars().skip(from).take(SHOWN).collect();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let begins = if from > 0 { "…" } else { "" };
        let ends = if folded.len() > from + SHOWN {
            "…"
        } else {
            ""
        };
        Some(format!("{begins}{shown}{ends}"))
    }
}

/// A letter in the case that is compared: as many letters as before.
fn fold(sign: char) -> char {
    let mut lower = sign.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => sign,
    }
}

fn pattern(word: &str) -> String {
    let mut pattern = String::from("%");
    for sign in word.chars() {
        if matches!(sign, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_first_word_on_one_line() {
        let text = format!(
            "{}needle\nand more{}",
            "hay ".repeat(50),
            " straw".repeat(50)
        );
        let excerpt = SearchWords::of("NEEDLE").excerpt(&text).unwrap();
        assert!(
            excerpt.starts_with('…') && excerpt.ends_with('…'),
            "{excerpt}"
        );
        assert!(excerpt.contains("needle and more"), "{excerpt}");
    }

    #[test]
    fn signs_of_patterns_mean_themselves() {
        assert_eq!(pattern("50%_\\"), "%50\\%\\_\\\\%");
    }
}
