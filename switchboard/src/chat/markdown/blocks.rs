//! Cuts streamed Markdown into blocks that can be rendered one by one.

/// The longest block that is held back, in bytes.
const MAX_HELD: usize = 64 << 10;

/// A piece that is complete.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Block {
    /// Markdown of its own.
    Text(String),
    /// A line of a code block.
    Code(String),
    /// A code block begins or ends.
    Fence,
}

/// What has come of the text so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// A line that has not ended.
    line: String,
    /// Lines of a block that may go on.
    held: String,
    /// Whether the held block ended in a blank line.
    blank: bool,
    /// The fence of the code block that is open at the top.
    fence: Option<Fence>,
    /// The fence of a code block within the held block.
    inner: Option<Fence>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Fence {
    sign: char,
    length: usize,
}

impl Blocks {
    /// The blocks that this text completes.
    pub(super) fn push(&mut self, text: &str) -> Vec<Block> {
        let mut done = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if self.line.ends_with('\n') || self.line.len() > MAX_HELD {
                let line = std::mem::take(&mut self.line);
                self.take(line.trim_end_matches('\n'), &mut done);
            }
        }
        done
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> Vec<Block> {
        let mut done = Vec::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&line, &mut done);
        }
        self.flush(&mut done);
        if self.fence.take().is_some() {
            done.push(Block::Fence);
        }
        done
    }

    fn take(&mut self, line: &str, done: &mut Vec<Block>) {
        let indent = line.len() - line.trim_start().len();
        let fence = fence(line.trim());
        if let Some(open) = self.fence {
            match fence.filter(|it| it.closes(open, line)) {
                Some(_) => {
                    self.fence = None;
                    done.push(Block::Fence);
                }
                None => done.push(Block::Code(line.to_owned())),
            }
            return;
        }
        if let Some(open) = self.inner {
            if fence.is_some_and(|it| it.closes(open, line)) {
                self.inner = None;
            }
            return self.hold(line, done);
        }
        if line.trim().is_empty() {
            match is_list(&self.held) {
                true => self.blank = true,
                false => self.flush(done),
            }
            return;
        }
        let goes_on = indent >= 2 || is_item(line);
        if self.blank && !goes_on {
            self.flush(done);
        }
        if let Some(fence) = fence {
            if indent >= 2 && is_list(&self.held) {
                self.inner = Some(fence);
                return self.hold(line, done);
            }
            self.flush(done);
            self.fence = Some(fence);
            done.push(Block::Fence);
            return;
        }
        if line.starts_with('#') {
            self.flush(done);
            self.hold(line, done);
            return self.flush(done);
        }
        self.hold(line, done);
    }

    fn hold(&mut self, line: &str, done: &mut Vec<Block>) {
        if std::mem::take(&mut self.blank) {
            self.held.push('\n');
        }
        self.held.push_str(line);
        self.held.push('\n');
        if self.held.len() > MAX_HELD {
            self.flush(done);
        }
    }

    fn flush(&mut self, done: &mut Vec<Block>) {
        (self.blank, self.inner) = (false, None);
        if !self.held.is_empty() {
            done.push(Block::Text(std::mem::take(&mut self.held)));
        }
    }
}

impl Fence {
    fn closes(self, open: Self, line: &str) -> bool {
        let bare = line.trim().chars().all(|sign| sign == open.sign);
        bare && self.sign == open.sign && self.length >= open.length
    }
}

/// The fence that a line begins with.
fn fence(line: &str) -> Option<Fence> {
    let sign = line
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.chars().take_while(|it| *it == sign).count();
    // Backticks after the fence make it code in a line.
    let rest = line.trim_start_matches(sign);
    (length >= 3 && !rest.contains('`')).then_some(Fence { sign, length })
}

fn is_list(block: &str) -> bool {
    is_item(block.lines().next().unwrap_or_default())
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let rest = match digits.len() < line.len() {
        true => digits.strip_prefix(['.', ')']),
        false => line.strip_prefix(['-', '*', '+']),
    };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(pieces: &[&str]) -> Vec<Block> {
        let mut blocks = Blocks::default();
        let mut done: Vec<Block> = pieces.iter().flat_map(|piece| blocks.push(piece)).collect();
        done.extend(blocks.finish());
        assert!(blocks.line.is_empty() && blocks.held.is_empty());
        done
    }

    #[test]
    fn blocks_are_complete_as_soon_as_nothing_can_be_added() {
        let text = |text: &str| Block::Text(text.to_owned());
        let code = |text: &str| Block::Code(text.to_owned());
        assert_eq!(cut(&["a\nb\n\nc"]), [text("a\nb\n"), text("c\n")]);
        assert_eq!(cut(&["# T\nx"]), [text("# T\n"), text("x\n")]);
        assert_eq!(
            cut(&["- a\n\n- b\n\n  more\n\nend\n"]),
            [text("- a\n\n- b\n\n  more\n"), text("end\n")]
        );
        assert_eq!(
            cut(&["x\n```rs\nlet a;\n\n# no\n```\ny"]),
            [
                text("x\n"),
                Block::Fence,
                code("let a;"),
                code(""),
                code("# no"),
                Block::Fence,
                text("y\n")
            ]
        );
        assert_eq!(
            cut(&["```\nopen"]),
            [Block::Fence, code("open"), Block::Fence]
        );
        assert_eq!(
            cut(&["1. a\n   ```\n\n   x\n   ```\n"]),
            [text("1. a\n   ```\n\n   x\n   ```\n")]
        );
        let long = "x".repeat(3 * MAX_HELD);
        assert!(!cut(&[&long]).is_empty(), "it is bounded");
    }

    proptest! {
        #[test]
        fn where_text_is_cut_makes_no_difference(
            pieces in prop::collection::vec("[a#`|\\-1. \\n]{0,8}", 0..16),
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(cut(&pieces), cut(&[&pieces.concat()]));
        }
    }
}
