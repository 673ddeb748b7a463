//! Styled text in lines of a width.

use unicode_width::UnicodeWidthChar as _;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Face {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) dim: bool,
    pub(super) code: bool,
}

impl Face {
    /// What switches it on.
    fn codes(self) -> String {
        let codes = [
            (self.bold, "\u{1b}[1m"),
            (self.dim, "\u{1b}[2m"),
            (self.italic, "\u{1b}[3m"),
            (self.underline, "\u{1b}[4m"),
            (self.code, "\u{1b}[36m"),
        ];
        let on = codes.iter().filter(|(on, _)| *on);
        on.map(|(_, code)| *code).collect()
    }
}

/// Text with its looks.
pub(super) type Spans = Vec<(Face, String)>;

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(sign: char) -> usize {
    sign.width().unwrap_or(0)
}

/// Lines of at most this many columns, broken between words, and between wide characters.
pub(super) fn wrap(spans: &Spans, most: usize) -> Vec<Vec<(Face, char)>> {
    let most = most.max(4);
    let mut lines = Vec::new();
    let mut line: Vec<(Face, char)> = Vec::new();
    let signs = spans
        .iter()
        .flat_map(|(face, text)| text.chars().map(move |sign| (*face, sign)));
    let mut used = 0;
    for (face, sign) in signs {
        if sign == '\n' {
            lines.push(std::mem::take(&mut line));
            used = 0;
            continue;
        }
        let wide = columns(sign);
        if used + wide > most {
            if sign == ' ' {
                lines.push(std::mem::take(&mut line));
                used = 0;
                continue;
            }
            let rest = match line.iter().rposition(|(_, sign)| *sign == ' ') {
                Some(space) if wide < 2 => {
                    let rest = line.split_off(space + 1);
                    line.pop();
                    rest
                }
                _ => Vec::new(),
            };
            lines.push(std::mem::replace(&mut line, rest));
            used = line.iter().map(|(_, sign)| columns(*sign)).sum();
        }
        line.push((face, sign));
        used += wide;
    }
    lines.push(line);
    lines
}

/// A line, with colours if they are wanted.
pub(super) fn paint(line: &[(Face, char)], color: bool) -> String {
    let mut out = String::new();
    let mut now = Face::default();
    for (face, sign) in line {
        if color && *face != now {
            if now != Face::default() {
                out.push_str("\u{1b}[0m");
            }
            out.push_str(&face.codes());
            now = *face;
        }
        out.push(*sign);
    }
    if now != Face::default() {
        out.push_str("\u{1b}[0m");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, most: usize) -> Vec<String> {
        let spans = vec![(Face::default(), text.to_owned())];
        let lines = wrap(&spans, most);
        lines.iter().map(|line| paint(line, false)).collect()
    }

    #[test]
    fn lines_break_between_words_and_between_wide_characters() {
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(lines("中文没有空格", 4), ["中文", "没有", "空格"]);
        assert_eq!(lines("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(lines("", 9), [""]);
    }

    #[test]
    fn looks_change_where_they_change() {
        let bold = Face {
            bold: true,
            ..Face::default()
        };
        let line = [
            (Face::default(), 'a'),
            (bold, 'b'),
            (bold, 'c'),
            (Face::default(), 'd'),
        ];
        assert_eq!(paint(&line, true), "a\u{1b}[1mbc\u{1b}[0md");
        assert_eq!(paint(&line, false), "abcd");
    }
}
