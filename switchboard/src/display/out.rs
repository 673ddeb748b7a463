//! The only place that prints: text for people, or JSON for programs.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use serde_json::Value;

use crate::display::untrusted;
use crate::exit::Failure;

/// The colours we write ourselves, without their escape character: [`Out::paint`]'s and those of
/// Markdown.
const COLORS: [&str; 8] = ["[0m", "[1m", "[2m", "[3m", "[4m", "[31m", "[32m", "[36m"];

/// Output of the program: text, or with `--json` one object on standard output and one line of JSON
/// on standard error per failure. A closed pipe is not a failure: the rest of the output is
/// dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    mode: Mode,
    color: bool,
    /// Nothing is drawn over: for screen readers, and terminals without control sequences.
    plain: bool,
}

/// Output mode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub(crate) enum Mode {
    /// Results and progress, as text.
    Text,
    /// Results only, as text.
    Quiet,
    /// One JSON object.
    Json,
}

/// Whether text may be coloured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub(crate) enum Color {
    /// Where standard output is a terminal and `NO_COLOR` is not set.
    Auto,
    /// Nowhere.
    Never,
}

/// Text style in a terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub(crate) enum Style {
    /// Emphasis.
    Bold,
    /// Dimmed.
    Dim,
    /// Success.
    Good,
    /// Failure.
    Bad,
}

impl Out {
    /// Prints in this mode.
    pub(crate) fn new(mode: Mode, color: Color) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let wanted = mode != Mode::Json && color == Color::Auto && !plain;
        Self {
            mode,
            color: wanted && std::io::stdout().is_terminal(),
            plain: false,
        }
    }

    /// Draws nothing over, and uses no colours.
    #[must_use]
    pub(crate) fn plain(mut self) -> Self {
        self.plain = true;
        self.color = false;
        self
    }

    /// Whether nothing may be drawn over.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a line can be drawn over: on a terminal that understands it.
    pub(crate) fn can_redraw(&self) -> bool {
        self.mode == Mode::Text && !self.plain && std::io::stdout().is_terminal()
    }

    /// Whether results are to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.mode == Mode::Json
    }

    /// Whether the user can be asked: standard input and output are terminals.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.is_json() && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
    }

    /// Prints the result of a verb: `value` with `--json`, else `text`.
    pub(crate) fn result(&self, value: &Value, text: impl AsRef<str>) {
        match self.is_json() {
            true => self.json_line(value),
            false => self.print(text.as_ref()),
        }
    }

    /// Prints a progress line; silent with `--json` and `--quiet`.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            self.print(text.as_ref());
        }
    }

    /// Prints part of a line and flushes it.
    pub(crate) fn piece(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            self.draw(&self.shown(text.as_ref()));
        }
    }

    /// Prints a line that the next one overwrites, where that is possible.
    pub(crate) fn overwrite(&self, text: &str) {
        if self.can_redraw() {
            self.draw(&format!("\r\u{1b}[K{}", untrusted::line(text)));
        }
    }

    /// Draws the line being edited, in any mode.
    pub(crate) fn draw(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// Prints a line to standard error; silent with `--json` and `--quiet`.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            let mut err = std::io::stderr().lock();
            let _ = writeln!(err, "{}", self.shown(text.as_ref()));
        }
    }

    /// Prints one line of a JSON stream.
    pub(crate) fn json_line(&self, value: &Value) {
        self.draw(&format!("{}\n", untrusted::json(value)));
    }

    /// Whether output is coloured.
    pub(crate) fn has_color(&self) -> bool {
        self.color
    }

    /// Prints a notice to standard error, as text or, with `--json`, as JSON.
    pub(crate) fn remark(&self, text: impl AsRef<str>) {
        let mut err = std::io::stderr().lock();
        let _ = match self.mode {
            Mode::Json => {
                let note = serde_json::json!({ "note": text.as_ref() });
                writeln!(err, "{}", untrusted::json(&note))
            }
            Mode::Quiet => Ok(()),
            Mode::Text => writeln!(err, "{}", self.shown(text.as_ref())),
        };
    }

    /// Draws a progress line on standard error, if that is a terminal. An empty text clears it.
    pub(crate) fn progress(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        if self.mode == Mode::Text && !self.plain && err.is_terminal() {
            let _ = write!(err, "\r\u{1b}[K{}", untrusted::line(text));
            let _ = err.flush();
        }
    }

    /// Prints a failure to standard error.
    pub(crate) fn failure(&self, failure: &Failure) {
        let mut err = std::io::stderr().lock();
        let _ = if self.is_json() {
            writeln!(err, "{}", untrusted::json(&failure.to_json()))
        } else {
            // Foreign text must not break the line.
            let chain = failure.translated();
            let chain = untrusted::text(chain.trim_end()).replace('\n', "\n    ");
            let hint = failure.hint().map(|hint| {
                let lines: Vec<_> = hint.lines().map(crate::lang::message).collect();
                format!("\n  {}", untrusted::text(&lines.join("\n  ")))
            });
            writeln!(err, "switchboard: {chain}{}", hint.unwrap_or_default())
        };
    }

    /// Styles a text, if output is coloured.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => 1,
            Style::Dim => 2,
            Style::Good => 32,
            Style::Bad => 31,
        };
        match self.color {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    fn print(&self, text: &str) {
        self.draw(&format!("{}\n", self.shown(text)));
    }

    /// Removes all control sequences except our own colours: the last guard, for text that did not
    /// pass [`untrusted::line`] or [`untrusted::text`].
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.color || !text.contains('\u{1b}') {
            return untrusted::text(text);
        }
        let mut parts = text.split('\u{1b}');
        let mut shown = untrusted::text(parts.next().unwrap_or_default()).into_owned();
        for part in parts {
            let is_color = COLORS.iter().any(|color| part.starts_with(color));
            shown.push(if is_color { '\u{1b}' } else { '\u{fffd}' });
            shown.push_str(&untrusted::text(part));
        }
        Cow::Owned(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_sequence_but_our_colours_reaches_a_terminal() {
        let out = |color| Out {
            mode: Mode::Text,
            color,
            plain: false,
        };
        let text = format!("{}\u{1b}[2J\r\n", out(true).paint(Style::Bad, "bad"));
        assert_eq!(
            out(true).shown(&text),
            "\u{1b}[31mbad\u{1b}[0m\u{fffd}[2J\n"
        );
        assert_eq!(
            out(false).shown(&text),
            "\u{fffd}[31mbad\u{fffd}[0m\u{fffd}[2J\n"
        );
    }
}
