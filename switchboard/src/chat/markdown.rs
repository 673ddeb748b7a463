//! Light styling of streamed Markdown.

/// EventCursor headings, strong text and code while text streams by. Every character of the text stays:
/// only colours are added, as far as the text has come.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    color: bool,
    /// What may be the beginning of a mark.
    held: String,
    line: Line,
    strong: bool,
    code: bool,
    fence: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Line {
    #[default]
    Start,
    Heading,
    Text,
}

const BOLD: &str = "\u{1b}[1m";
const CYAN: &str = "\u{1b}[36m";
const RESET: &str = "\u{1b}[0m";

impl Markdown {
    pub(crate) fn new(color: bool) -> Self {
        Self {
            color,
            ..Self::default()
        }
    }

    /// The next piece of text, as it looks.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            if matches!(c, '*' | '`') && (self.held.is_empty() || self.held.starts_with(c)) {
                self.held.push(c);
                continue;
            }
            self.release(&mut out);
            if matches!(c, '*' | '`') {
                self.held.push(c);
            } else {
                self.plain(c, &mut out);
            }
        }
        out
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.release(&mut out);
        if self.strong || self.code || self.fence || self.line == Line::Heading {
            out.push_str(RESET);
        }
        *self = Self::new(self.color);
        out
    }

    /// The marks that were held back, now that they are complete.
    fn release(&mut self, out: &mut String) {
        let marks = std::mem::take(&mut self.held);
        match marks.as_str() {
            "" => return,
            "```" if self.line == Line::Start || self.fence => {
                self.fence = !self.fence;
                self.around(&marks, self.fence, out);
            }
            "**" if !self.code && !self.fence => {
                self.strong = !self.strong;
                self.around(&marks, self.strong, out);
            }
            "`" if !self.fence => {
                self.code = !self.code;
                self.around(&marks, self.code, out);
            }
            _ => out.push_str(&marks),
        }
        if self.line == Line::Start {
            self.line = Line::Text;
        }
    }

    /// A mark: in the looks of what it opens, or before what it closes is over.
    fn around(&self, marks: &str, opens: bool, out: &mut String) {
        if opens {
            self.look(out);
            out.push_str(marks);
        } else {
            out.push_str(marks);
            out.push_str(RESET);
            self.look(out);
        }
    }

    fn look(&self, out: &mut String) {
        if self.strong || self.line == Line::Heading {
            out.push_str(BOLD);
        }
        if self.code || self.fence {
            out.push_str(CYAN);
        }
    }

    fn plain(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            if self.strong || self.code || self.line == Line::Heading {
                out.push_str(RESET);
            }
            (self.strong, self.code) = (false, false);
            out.push(c);
            self.line = Line::Start;
            if self.fence {
                self.look(out);
            }
            return;
        }
        if self.line == Line::Start && !self.fence {
            self.line = match c {
                '#' => Line::Heading,
                ' ' => Line::Start,
                _ => Line::Text,
            };
            if c == '#' {
                out.push_str(BOLD);
            }
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(pieces: &[&str]) -> String {
        let mut markdown = Markdown::new(true);
        let mut out: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
        out.push_str(&markdown.finish());
        out
    }

    fn without_colours(text: &str) -> String {
        [BOLD, CYAN, RESET]
            .iter()
            .fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn marks_are_shown_in_colour() {
        assert_eq!(show(&["a **b** c"]), "a \u{1b}[1m**b**\u{1b}[0m c");
        assert_eq!(show(&["# T\nx"]), "\u{1b}[1m# T\u{1b}[0m\nx");
        assert_eq!(show(&["run `ls`."]), "run \u{1b}[36m`ls`\u{1b}[0m.");
        assert_eq!(show(&["2 * 3"]), "2 * 3");
    }

    proptest! {
        #[test]
        fn every_character_stays_whatever_the_pieces(
            pieces in prop::collection::vec("[ab#*` \n]{0,8}", 0..12),
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(without_colours(&show(&pieces)), whole.clone());
            prop_assert_eq!(show(&pieces), show(&[&whole]));
            prop_assert_eq!(Markdown::new(false).push(&whole), whole);
        }
    }
}
