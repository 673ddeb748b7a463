//! A text's words, as a search compares them.

/// The words of `text`, in lower case and without a plural's ending. `camelCase`, `snake_case` and
/// `HTTPServer` are taken apart; of scripts that put no spaces between words every character is one.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut last = Kind::Other;
    while let Some(c) = chars.next() {
        let kind = Kind::of(c);
        let ends_capitals = last == Kind::Upper
            && kind == Kind::Upper
            && chars
                .peek()
                .is_some_and(|&next| Kind::of(next) == Kind::Lower);
        if kind.begins_after(last) || ends_capitals {
            words.push(std::mem::take(&mut word));
        }
        if kind != Kind::Other {
            word.extend(c.to_lowercase());
        }
        last = kind;
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty()).map(stem)
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Upper,
    Lower,
    Digit,
    Ideograph,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Self::Ideograph
            }
            c if c.is_uppercase() => Self::Upper,
            c if c.is_alphabetic() => Self::Lower,
            c if c.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }

    fn begins_after(self, last: Self) -> bool {
        match (last, self) {
            (Self::Ideograph, _) | (_, Self::Ideograph | Self::Other) => true,
            (Self::Upper, Self::Lower) => false,
            (last, kind) => last != kind,
        }
    }
}

/// Without a plural's ending.
fn stem(word: String) -> String {
    let known = |end: &str| word.len() > end.len() + 1 && word.ends_with(end);
    let cut = |by: usize, put: &str| {
        let kept = word.get(..word.len() - by).unwrap_or(&word);
        format!("{kept}{put}")
    };
    match () {
        () if known("ies") => cut(3, "y"),
        () if known("sses") || known("xes") || known("ches") || known("shes") => cut(2, ""),
        () if known("s") && !word.ends_with("ss") && !word.ends_with("us") => cut(1, ""),
        () => word,
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        assert_eq!(words(text).collect::<Vec<_>>(), want, "{text}");
    }

    #[test]
    fn names_of_every_style_come_apart() {
        check("listOpenIssues", &["list", "open", "issue"]);
        check(
            "get_file-contents.v2",
            &["get", "file", "content", "v", "2"],
        );
        check("HTTPServer", &["http", "server"]);
        check("  ", &[]);
    }

    #[test]
    fn plurals_and_singulars_are_one_word() {
        check("queries query", &["query", "query"]);
        check("boxes box", &["box", "box"]);
        check("class status bus", &["class", "status", "bus"]);
    }

    #[test]
    fn scripts_without_spaces_are_read_by_character() {
        check("读取file文件", &["读", "取", "file", "文", "件"]);
        check("Größe ПОИСК", &["größe", "поиск"]);
    }
}
