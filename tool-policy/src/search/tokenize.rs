//! Splits a text into the words that a search compares.

/// Calls `each` with every word of `text`, in lower case and singular. `camelCase`, `snake_case` and
/// `HTTPServer` are split; in scripts without spaces every character is a word.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
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
            end(&mut word, &mut each);
        }
        match kind {
            Kind::Other => {}
            _ if c.is_ascii() => word.push(c.to_ascii_lowercase()),
            _ => word.extend(c.to_lowercase()),
        }
        last = kind;
    }
    end(&mut word, &mut each);
}

fn end(word: &mut String, each: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        stem(word);
        each(word);
        word.clear();
    }
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
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '\0'..='\u{7f}' => Self::Other,
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

/// Removes a plural ending.
fn stem(word: &mut String) {
    let known = |end: &str| word.len() > end.len() + 1 && word.ends_with(end);
    let (cut, put) = match () {
        () if known("ies") => (3, "y"),
        () if known("sses") || known("xes") || known("ches") || known("shes") => (2, ""),
        () if known("s") && !word.ends_with("ss") && !word.ends_with("us") => (1, ""),
        () => (0, ""),
    };
    word.truncate(word.len() - cut);
    word.push_str(put);
}

#[cfg(test)]
mod tests {
    use super::each_word;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        assert_eq!(words, want, "{text}");
    }

    #[test]
    fn names_of_every_style_are_split() {
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
