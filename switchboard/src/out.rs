//! The only place that prints: text for people, or JSON for programs.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use serde_json::Value;

use crate::exit::Failure;
use crate::untrusted;

/// The colours we write ourselves, without their escape character: [`Out::paint`]'s and those of
/// Markdown.
const COLORS: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[36m"];

/// Where results go: text, or with `--json` one object on standard output and one line of JSON on
/// standard error per failure. A reader that went away is no failure: what it does not want to
/// read is dropped.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    mode: Mode,
    color: bool,
}

/// What is printed, and for whom.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Mode {
    /// Results, and what happens on the way to them, for people.
    Text,
    /// Results only, for people.
    Quiet,
    /// One object, for programs.
    Json,
}

/// Whether text for people may have colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Color {
    /// Where standard output is a terminal and `NO_COLOR` is not set.
    Auto,
    /// Nowhere.
    Never,
}

/// How a piece of text looks in a terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Style {
    /// Stands out.
    Bold,
    /// Stands back.
    Dim,
    /// Went well.
    Good,
    /// Went badly.
    Bad,
}

impl Out {
    /// Prints in this mode.
    pub fn new(mode: Mode, color: Color) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let wanted = mode != Mode::Json && color == Color::Auto && !plain;
        Self {
            mode,
            color: wanted && std::io::stdout().is_terminal(),
        }
    }

    /// Whether results are to be JSON.
    pub fn is_json(&self) -> bool {
        self.mode == Mode::Json
    }

    /// Whether somebody can be asked something: standard input and output are a terminal.
    pub fn is_interactive(&self) -> bool {
        !self.is_json() && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
    }

    /// The result of a verb: `value` with `--json`, else `text`.
    pub fn result(&self, value: &Value, text: impl AsRef<str>) {
        match self.is_json() {
            true => self.json_line(value),
            false => self.print(text.as_ref()),
        }
    }

    /// A line for people on the way to the result: neither with `--json` nor with `--quiet`.
    pub fn say(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            self.print(text.as_ref());
        }
    }

    /// A piece of a line for people, shown at once.
    pub fn piece(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            self.draw(&self.shown(text.as_ref()));
        }
    }

    /// A line that the next one is written over, in a terminal with colours.
    pub(crate) fn overwrite(&self, text: &str) {
        if self.mode == Mode::Text {
            self.draw(&format!("\r\u{1b}[K{}", untrusted::line(text)));
        }
    }

    /// What a line that is being typed looks like, in any mode: it is a terminal.
    pub(crate) fn draw(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// A line for people beside the result, on standard error: neither with `--json` nor with
    /// `--quiet`.
    pub fn note(&self, text: impl AsRef<str>) {
        if self.mode == Mode::Text {
            let mut err = std::io::stderr().lock();
            let _ = writeln!(err, "{}", self.shown(text.as_ref()));
        }
    }

    /// A line of JSON, one of many.
    pub fn json_line(&self, value: &Value) {
        self.draw(&format!("{}\n", untrusted::json(value)));
    }

    /// Whether there is colour.
    pub fn has_color(&self) -> bool {
        self.color
    }

    /// A line on standard error, beside the result: for people, or JSON with `--json`.
    pub fn remark(&self, text: impl AsRef<str>) {
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

    /// How far something is: one line of standard error that is written over and over, where that
    /// is a terminal. Nothing takes it away.
    pub fn progress(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        if self.mode == Mode::Text && err.is_terminal() {
            let _ = write!(err, "\r\u{1b}[K{}", untrusted::line(text));
            let _ = err.flush();
        }
    }

    /// A failure, on standard error.
    pub fn failure(&self, failure: &Failure) {
        let mut err = std::io::stderr().lock();
        let _ = if self.is_json() {
            writeln!(err, "{}", untrusted::json(&failure.to_json()))
        } else {
            // What others wrote stays within our line.
            let chain = failure.chain();
            let chain = untrusted::text(chain.trim_end()).replace('\n', "\n    ");
            let hint = failure.hint().map(untrusted::text);
            let hint = hint.map(|hint| format!("\n  {}", hint.replace('\n', "\n  ")));
            writeln!(err, "switchboard: {chain}{}", hint.unwrap_or_default())
        };
    }

    /// `text` in a style, where there is colour.
    pub fn paint(&self, style: Style, text: &str) -> String {
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

    /// The text with no other control sequence than our own colours: the last guard, for what was
    /// put together without [`untrusted::line`] or [`untrusted::text`].
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
