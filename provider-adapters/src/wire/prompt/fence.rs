//! Fenced code blocks.

/// The longest first line of a block that is waited for.
const MAX_INFO: usize = 200;

/// An open fenced block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fence {
    sign: char,
    len: usize,
    info: String,
}

impl Fence {
    /// Reads the first line of a block, or the start of one. `None` if it cannot be that.
    pub(crate) fn open(line: &str) -> Option<Self> {
        let (line, whole) = match line.strip_suffix('\n') {
            Some(line) => (line, true),
            None => (line, false),
        };
        let marks = line.trim_start_matches(' ');
        if line.len() - marks.len() > 3 || line.len() > MAX_INFO {
            return None;
        }
        let Some(sign) = marks.chars().next() else {
            return (!whole).then(|| Self {
                sign: ' ',
                len: 0,
                info: String::new(),
            });
        };
        let info = marks.trim_start_matches(sign);
        let len = marks.len() - info.len();
        let short = len < 3 && (whole || !info.is_empty());
        if !matches!(sign, '`' | '~') || short || sign == '`' && info.contains('`') {
            return None;
        }
        Some(Self {
            sign,
            len,
            info: info.trim().to_ascii_lowercase(),
        })
    }

    /// Whether the block may hold a call.
    pub(crate) fn may_hold_call(&self) -> bool {
        self.info == "json" || self.is_call()
    }

    /// Whether the block says that it holds a call.
    pub(crate) fn is_call(&self) -> bool {
        matches!(
            self.info.as_str(),
            "function_call" | "tool_call" | "tool_use"
        )
    }

    /// The block's inside without its last line.
    pub(crate) fn without_end<'a>(&self, inside: &'a str) -> &'a str {
        let trimmed = inside.trim_end();
        trimmed
            .strip_suffix(self.sign)
            .map_or(trimmed, |more| more.trim_end_matches(self.sign))
    }
}

/// One line inside a block, as far as it has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FenceLine {
    spaces: usize,
    marks: usize,
    other: bool,
}

impl FenceLine {
    /// Takes one more character in; whether it ends the block.
    pub(crate) fn step(&mut self, c: char, fence: &Fence) -> bool {
        if c == '\n' {
            return std::mem::take(self).closes(fence);
        }
        match c {
            ' ' | '\t' | '\r' if self.marks > 0 => {}
            ' ' if self.spaces < 3 => self.spaces += 1,
            _ if c == fence.sign => self.marks += 1,
            _ => self.other = true,
        }
        false
    }

    /// Whether the line, were it over now, would end the block.
    pub(crate) fn closes(&self, fence: &Fence) -> bool {
        !self.other && self.marks >= fence.len
    }
}
