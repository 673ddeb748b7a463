//! Streamed Markdown, rendered block by block.

mod blocks;
mod render;
mod table;
mod wrap;

use self::blocks::{Block, Blocks};
use self::render::{CODE_INDENT, render};

/// A text in lines of at most this many columns, broken between words. The rest of a line that is
/// indented is indented as it is.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let lines = text.lines().flat_map(|line| {
        let bare = line.trim_start();
        let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
        let spans = vec![(wrap::Face::default(), bare.to_owned())];
        let parts = wrap::wrap(&spans, columns.saturating_sub(indent.len()));
        parts
            .into_iter()
            .map(move |part| format!("{indent}{}", wrap::paint(&part, false)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How Markdown is shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Look {
    /// As it was written, at once.
    #[default]
    Source,
    /// Rendered, without colours.
    Plain,
    /// Rendered.
    Color,
}

/// Renders Markdown while it streams by: a block is shown as soon as it is complete, a line of code
/// at once.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    look: Look,
    columns: usize,
    blocks: Blocks,
    /// Whether a code block is open.
    in_code: bool,
    /// Whether something was shown that the next block stands apart from.
    begun: bool,
}

impl Markdown {
    /// For a terminal of this width.
    pub(crate) fn new(look: Look, columns: usize) -> Self {
        Self {
            look,
            columns,
            ..Self::default()
        }
    }

    /// The next piece of text, as far as it can be shown.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if self.look == Look::Source {
            return text.to_owned();
        }
        let done = self.blocks.push(text);
        self.show(done)
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> String {
        let done = self.blocks.finish();
        let shown = self.show(done);
        *self = Self::new(self.look, self.columns);
        shown
    }

    fn show(&mut self, done: Vec<Block>) -> String {
        let mut out = String::new();
        for block in done {
            match block {
                Block::Text(text) => {
                    let shown = render(&text, self.look == Look::Color, self.columns);
                    if self.begun && !shown.is_empty() {
                        out.push('\n');
                    }
                    self.begun |= !shown.is_empty();
                    out.push_str(&shown);
                }
                Block::Fence => {
                    self.in_code = !self.in_code;
                    if self.begun && self.in_code {
                        out.push('\n');
                    }
                    self.begun = true;
                }
                Block::Code(line) if line.is_empty() => out.push('\n'),
                Block::Code(line) => out.push_str(&match self.look {
                    Look::Color => format!("{CODE_INDENT}\u{1b}[36m{line}\u{1b}[0m\n"),
                    _ => format!("{CODE_INDENT}{line}\n"),
                }),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(look: Look, columns: usize, pieces: &[&str]) -> String {
        let mut markdown = Markdown::new(look, columns);
        let mut out: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
        out.push_str(&markdown.finish());
        out
    }

    const PAGE: &str = "# Report\n\nSome **bold**, *soft* and `code`, and a [guide](https://a.example/b).\n\
        Second line.\n\n1. first item that is long enough to be wrapped in a narrow terminal\n   - inner\n\
        2. second\n\n- [x] done\n\n> quoted\n\n| name | size |\n|---|---|\n| a | 12 |\n| 中文 | 3 |\n\n\
        ```rust\nfn main() {}\n\n// 中\n```\n\n---\nend";

    #[test]
    fn a_page_is_rendered_in_80_columns_and_colours() {
        insta::assert_snapshot!(show(Look::Color, 80, &[PAGE]).replace('\u{1b}', "ESC"));
    }

    #[test]
    fn a_page_is_rendered_in_24_columns_without_colours() {
        insta::assert_snapshot!(show(Look::Plain, 24, &[PAGE]));
    }

    #[test]
    fn as_it_was_written_nothing_changes() {
        assert_eq!(show(Look::Source, 10, &[PAGE]), PAGE);
    }

    #[test]
    fn code_is_shown_line_by_line_and_text_by_the_block() {
        let mut markdown = Markdown::new(Look::Plain, 80);
        assert_eq!(markdown.push("```\na\nb"), "    a\n");
        assert_eq!(markdown.push("\n```\nsome "), "    b\n");
        assert_eq!(markdown.push("text\n\n"), "\nsome text\n");
    }

    proptest! {
        #[test]
        fn whatever_the_pieces_the_page_is_the_same_and_no_word_is_lost(
            pieces in prop::collection::vec("[ab#*`|>_~ \\n\\[\\]()1.\\-]{0,8}", 0..12),
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(show(Look::Color, 20, &pieces), show(Look::Color, 20, &[&whole]));
            let letters = |text: &str| text.chars().filter(|it| matches!(it, 'a' | 'b')).count();
            // Words after a code block's fence are its language.
            if !whole.contains("```") && !whole.contains("~~~") && !whole.contains("]:") {
                let shown = show(Look::Plain, 20, &[&whole]);
                prop_assert!(letters(&shown) >= letters(&whole), "{whole:?} became {shown:?}");
            }
        }
    }
}
