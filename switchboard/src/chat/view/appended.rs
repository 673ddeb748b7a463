//! How a line that is being typed looks where nothing can be drawn over: to a screen reader, or on
//! a terminal without control sequences.

use unicode_width::UnicodeWidthChar as _;

use crate::chat::edit::Edit;
use crate::display::untrusted;

/// Writes what is new of a line, and takes back what was removed at its end.
#[derive(Debug, Default)]
pub(crate) struct Appended {
    shown: String,
}

impl Appended {
    /// What the terminal must be sent to show this line.
    pub(crate) fn draw(&mut self, prompt: &str, edit: &Edit) -> String {
        let line = format!("{prompt}{}", safe(edit.text()));
        let out = match (
            line.strip_prefix(&self.shown),
            self.shown.strip_prefix(&line),
        ) {
            (Some(more), _) => more.to_owned(),
            (None, Some(less)) if !less.is_empty() => {
                let columns: usize = less.chars().map(|sign| sign.width().unwrap_or(0)).sum();
                "\u{8} \u{8}".repeat(columns)
            }
            _ => format!("\n{line}"),
        };
        self.shown = line;
        out
    }

    /// The part of a prompt that is shown already.
    pub(crate) fn begin(&mut self, shown: &str) {
        self.shown = shown.to_owned();
    }

    /// Something else comes: the line is left as it is.
    pub(crate) fn clear(&mut self) -> String {
        match std::mem::take(&mut self.shown).is_empty() {
            true => String::new(),
            false => "\n".to_owned(),
        }
    }
}

fn safe(text: &str) -> String {
    let obeyed = |sign: char| untrusted::is_obeyed(sign);
    text.replace(['\n', '\t'], " ").replace(obeyed, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_grows_and_shrinks_at_its_end_and_is_written_anew_otherwise() {
        let mut line = Appended::default();
        assert_eq!(line.draw("> ", &Edit::new("")), "> ");
        assert_eq!(line.draw("> ", &Edit::new("ab")), "ab");
        assert_eq!(line.draw("> ", &Edit::new("a")), "\u{8} \u{8}");
        assert_eq!(line.draw("> ", &Edit::new("日")), "\n> 日");
        assert_eq!(line.draw("> ", &Edit::new("")), "\u{8} \u{8}\u{8} \u{8}");
        assert_eq!(line.draw("> ", &Edit::new("x\u{1b}")), "x\u{fffd}");
        assert_eq!(line.clear(), "\n");
        assert_eq!(line.clear(), "");
        line.begin("Sure?");
        assert_eq!(line.draw("Sure? ", &Edit::new("")), " ");
    }
}
