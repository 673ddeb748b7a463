//! The tags of calls.

/// A way to mark a call in text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Tag {
    pub(crate) open: &'static str,
    /// Nothing where the end of the JSON is the end of the call.
    pub(crate) close: &'static str,
}

/// `<function_call>{"name": …, "arguments": {…}}</function_call>`.
pub(crate) const FUNCTION_CALL: Tag = Tag {
    open: "<function_call>",
    close: "</function_call>",
};
/// `<tool_use><name>…</name><arguments>{…}</arguments></tool_use>`.
pub(crate) const TOOL_USE: Tag = Tag {
    open: "<tool_use>",
    close: "</tool_use>",
};
/// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, which many open models are trained on.
pub(crate) const TOOL_CALL: Tag = Tag {
    open: "<tool_call>",
    close: "</tool_call>",
};
/// `[TOOL_CALLS][{"name": …, "arguments": {…}}]`, or `[TOOL_CALLS]name[ARGS]{…}`.
pub(crate) const TOOL_CALLS: Tag = Tag {
    open: "[TOOL_CALLS]",
    close: "",
};

/// The tags thoughts stand in; calls inside are only thought of.
pub(crate) const THINK: [(&str, &str); 2] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// The tags results stand in. A model that writes one makes a result up.
pub(crate) const RESULTS: [&str; 2] = ["<function_result>", "<tool_use_result>"];

/// The end of the thought that `open` begins.
pub(crate) fn think_end(open: &str) -> Option<&'static str> {
    THINK
        .iter()
        .find(|(tag, _)| *tag == open)
        .map(|(_, close)| *close)
}

/// Looks for a closing tag, character by character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closer {
    tag: &'static str,
    matched: usize,
}

impl Closer {
    pub(crate) fn new(tag: &'static str) -> Self {
        Self { tag, matched: 0 }
    }

    /// Whether the tag ends with `c`.
    pub(crate) fn step(&mut self, c: char) -> bool {
        // `<` stands nowhere but at the start, so there is only one place to fall back to.
        let next = self
            .tag
            .as_bytes()
            .get(self.matched)
            .copied()
            .map(char::from);
        self.matched = match (Some(c) == next, c) {
            (true, _) => self.matched + 1,
            (false, '<') => 1,
            (false, _) => 0,
        };
        let whole = self.matched == self.tag.len();
        if whole {
            self.matched = 0;
        }
        whole
    }
}
