//! How a line that is being typed looks: a prompt, the text, wrapped, and the cursor in it.

mod appended;

use unicode_width::UnicodeWidthChar as _;

use self::appended::Appended;
use crate::chat::edit::Edit;
use crate::display::untrusted;

/// Draws a line over what it drew before; or, where that is impossible, adds to it.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The row of the cursor below the first row, as drawn last.
    row: usize,
    appended: Option<Appended>,
}

impl View {
    /// One that draws nothing over.
    pub(crate) fn appending() -> Self {
        Self {
            row: 0,
            appended: Some(Appended::default()),
        }
    }

    /// The part of a prompt that is shown already.
    pub(crate) fn begin(&mut self, shown: &str) {
        if let Some(appended) = &mut self.appended {
            appended.begin(shown);
        }
    }

    /// What the terminal must be sent to show this line; `columns` is its width.
    pub(crate) fn draw(&mut self, prompt: &str, edit: &Edit, columns: usize) -> String {
        if let Some(appended) = &mut self.appended {
            return appended.draw(prompt, edit);
        }
        let (before, after) = edit
            .text()
            .split_at_checked(edit.cursor())
            .unwrap_or((edit.text(), ""));
        let mut out = self.clear();
        let mut place = Place::new(columns);
        place.write(prompt, &mut out);
        place.write(before, &mut out);
        let cursor = (place.row, place.column);
        place.write(after, &mut out);
        // From the end of the text to the cursor.
        let up = place.row - cursor.0;
        if up > 0 {
            out.push_str(&format!("\u{1b}[{up}A"));
        }
        out.push('\r');
        if cursor.1 > 0 {
            out.push_str(&format!("\u{1b}[{}C", cursor.1));
        }
        self.row = cursor.0;
        out
    }

    /// What takes the line away again.
    pub(crate) fn clear(&mut self) -> String {
        if let Some(appended) = &mut self.appended {
            return appended.clear();
        }
        let up = std::mem::take(&mut self.row);
        match up {
            0 => "\r\u{1b}[J".to_owned(),
            up => format!("\u{1b}[{up}A\r\u{1b}[J"),
        }
    }

    /// The line is finished as it is drawn: what comes next begins below it.
    pub(crate) fn leave(&mut self, prompt: &str, edit: &Edit, columns: usize) -> String {
        let mut out = self.draw(prompt, &Edit::new(edit.text()), columns);
        match &mut self.appended {
            Some(appended) => out.push_str(&appended.clear()),
            None => out.push_str("\r\n"),
        }
        self.row = 0;
        out
    }
}

/// Where on the screen text has come to.
struct Place {
    columns: usize,
    row: usize,
    column: usize,
}

impl Place {
    fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(4),
            row: 0,
            column: 0,
        }
    }

    /// Writes text, wrapping it ourselves so that it is known where it ends.
    fn write(&mut self, text: &str, out: &mut String) {
        for char in text.chars() {
            let char = match char {
                '\t' => ' ',
                '\n' => {
                    self.down(out);
                    continue;
                }
                char if untrusted::is_obeyed(char) => '\u{fffd}',
                char => char,
            };
            let width = char.width().unwrap_or(0);
            if self.column + width > self.columns {
                self.down(out);
            }
            out.push(char);
            self.column += width;
            if self.column == self.columns {
                self.down(out);
            }
        }
    }

    fn down(&mut self, out: &mut String) {
        out.push_str("\r\n");
        self.row += 1;
        self.column = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::key::Key;

    #[test]
    fn a_line_is_drawn_over_the_last_one_with_the_cursor_in_its_place() {
        let mut view = View::default();
        let mut edit = Edit::new("añ日");
        assert_eq!(view.draw("> ", &edit, 80), "\r\u{1b}[J> añ日\r\u{1b}[6C");
        edit.apply(&Key::Left);
        assert_eq!(view.draw("> ", &edit, 80), "\r\u{1b}[J> añ日\r\u{1b}[4C");
        let long = Edit::new("0123456789");
        assert_eq!(
            view.draw("> ", &long, 8),
            "\r\u{1b}[J> 012345\r\n6789\r\u{1b}[4C"
        );
        assert_eq!(
            view.clear(),
            "\u{1b}[1A\r\u{1b}[J",
            "the cursor was on the second row"
        );
        let full = Edit::new("012345");
        assert_eq!(view.draw("> ", &full, 8), "\r\u{1b}[J> 012345\r\n\r");
        assert_eq!(
            view.leave("> ", &Edit::new("a\u{1b}\nb"), 8),
            "\u{1b}[1A\r\u{1b}[J> a\u{fffd}\r\nb\r\u{1b}[1C\r\n"
        );
        assert_eq!(view.clear(), "\r\u{1b}[J");
    }
}
