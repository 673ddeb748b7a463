//! A long string that keeps the bytes it came in, instead of being copied out of them.

use std::cell::Cell;
use std::ops::Range;

use crate::reader::Reader;
use crate::result_body::{ResultBody, ResultType};
use crate::wire::field::Field;

/// Shorter strings are copied.
const LONG: usize = 64 * 1024;
/// How much may stand before a long string, and how much after it: that is read twice.
const AROUND: usize = 4 * 1024;

/// Where a string was taken out of a text: there is an empty one instead.
pub(crate) struct Hole {
    /// The place of its opening quote.
    at: usize,
    text: Cell<String>,
    /// How often it was read as the string it is.
    filled: Cell<u32>,
    /// Whether it was part of something that was kept as it is written.
    kept: Cell<bool>,
}

impl Hole {
    fn new(at: usize, text: String) -> Self {
        Self {
            at,
            text: Cell::new(text),
            filled: Cell::new(0),
            kept: Cell::new(false),
        }
    }

    /// What to say for the empty string that ends here.
    pub(crate) fn fill(&self, end: usize) -> String {
        if end != self.at + 2 {
            return String::new();
        }
        self.filled.set(self.filled.get() + 1);
        self.text.take()
    }

    /// Something is kept as it is written.
    pub(crate) fn keep(&self, written: Range<usize>) {
        if written.contains(&self.at) {
            self.kept.set(true);
        }
    }
}

/// Reads a complete result from a part of `text`, to its very end, if a long string without escapes
/// makes up nearly all of it. That string takes `text` over. Else nothing has happened.
pub(crate) fn carve<T: Field + ResultBody>(text: &mut String, part: Range<usize>) -> Option<T> {
    carve_from(LONG, text, part)
}

fn carve_from<T: Field + ResultBody>(
    long: usize,
    text: &mut String,
    part: Range<usize>,
) -> Option<T> {
    // A string is not to keep much more memory than it needs.
    let most = text.capacity() - text.capacity() / 8;
    let whole = text
        .get(part.clone())
        .filter(|text| text.len() >= long.max(most))?;
    let string = Reader::new(whole).long_string(long, AROUND)?;
    let (before, after) = (whole.get(..string.start)?, whole.get(string.end..)?);
    if after.len() > AROUND {
        return None;
    }
    let rest = [before, after].concat();
    // Once without the string: only if it is read and stays read can it be given away.
    let rehearsal = Hole::new(before.len() - 1, String::new());
    let kind = read::<T>(&rest, &rehearsal)?.result_type();
    if !matches!(kind, None | Some(ResultType::Complete))
        || rehearsal.filled.get() != 1
        || rehearsal.kept.get()
    {
        return None;
    }
    let mut taken = std::mem::take(text);
    taken.truncate(part.start + string.end);
    taken.drain(..part.start + string.start);
    read(&rest, &Hole::new(rehearsal.at, taken))
}

fn read<T: Field>(rest: &str, hole: &Hole) -> Option<T> {
    let mut reader = Reader::with_hole(rest, hole);
    let read = T::read(&mut reader).ok()?;
    reader.end().is_ok().then_some(read)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{CallToolResult, ReadResourceResult};

    const LONG: usize = 12;

    /// Whether the string was carved out; the result is the same in any case.
    #[track_caller]
    fn check<T: Field + ResultBody + PartialEq + std::fmt::Debug>(written: &str) -> bool {
        let whole = format!("[{written}],");
        let part = 1..written.len() + 1;
        let mut text = whole.clone();
        let carved = carve_from::<T>(LONG, &mut text, part);
        match &carved {
            Some(carved) => assert_eq!(T::read_text(written).as_ref(), Ok(carved), "{written}"),
            None => assert_eq!(text, whole),
        }
        carved.is_some()
    }

    #[test]
    fn long_strings_of_all_kinds_are_carved_out() {
        for written in [
            r#"{"content":[{"type":"text","text":"a long text"}]}"#,
            r#" { "content" : [ { "text" : "a long t\u00e4xt" , "type" : "text" } ] , "isError" : true } "#,
            r#"{"content":[{"type":"text","text":"a long text"}],"resultType":"complete"}"#,
            r#"{"content":[{"type":"image","mimeType":"a/b","data":"QUJDREVGR0g="},{"type":"text","text":""}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"QUJDREVGR0g="}}]}"#,
        ] {
            let written = written
                .replace("long t", "very long t")
                .replace("\\u00e4", "ä");
            assert!(check::<CallToolResult>(&written), "{written}");
        }
        assert!(check::<ReadResourceResult>(
            r#"{"contents":[{"uri":"a:b","text":"a very long text"}]}"#
        ));
    }

    #[test]
    fn what_is_kept_as_written_or_not_read_is_not() {
        for written in [
            // Short, escaped, or not alone.
            r#"{"content":[{"type":"text","text":"short"}]}"#,
            r#"{"content":[{"type":"text","text":"a very\nlong text"}]}"#,
            // No string of a known member, or of a block that cannot be read.
            r#"{"content":[],"structuredContent":{"a":"a very long text"}}"#,
            r#"{"content":[],"a":"a very long text"}"#,
            r#"{"content":[],"a very long name":1}"#,
            r#"{"content":[{"type":"a very long type","text":"b"}]}"#,
            r#"{"content":[{"type":"text","text":"a very long text","annotations":7}]}"#,
            r#"{"content":[{"type":"other","text":"a very long text"}]}"#,
            // Of another kind.
            r#"{"content":[{"type":"text","text":"a very long text"}],"resultType":"task"}"#,
            // Not JSON.
            r#"{"content":[{"type":"text","text":"a very long text"}]"#,
            r#"{"content":[{"type":"text","text":"a very long text"}]}}"#,
            r#"{"content":[{"type":"text","text":"a very long text"#,
            "a very long text",
        ] {
            assert!(!check::<CallToolResult>(written), "{written}");
        }
        let distant = format!(
            r#"{{{}"content":[{{"type":"text","text":"a very long text"}}]}}"#,
            r#""a":1,"#.repeat(AROUND / 5)
        );
        assert!(!check::<CallToolResult>(&distant));
    }

    #[test]
    fn of_two_members_with_the_same_name_the_last_counts() {
        for written in [
            r#"{"content":[{"type":"text","text":"a very long text","text":"b"}]}"#,
            r#"{"content":[{"type":"text","text":"b","text":"a very long text"}]}"#,
            r#"{"content":[{"type":"text","text":"a very long text"}],"content":[{"type":"text","text":""}]}"#,
        ] {
            assert!(check::<CallToolResult>(written), "{written}");
        }
    }

    fn members(depth: u32) -> BoxedStrategy<String> {
        let name = prop::sample::select(vec![
            "content", "type", "text", "data", "resource", "blob", "uri", "mimeType", "_meta", "x",
        ]);
        let word = prop::sample::select(vec![
            r#""""#,
            r#""text""#,
            r#""image""#,
            r#""resource""#,
            r#""a very long text""#,
            r#""another very long text""#,
            r#""a very\tlong text""#,
            "7",
            "null",
        ]);
        let value = if depth == 0 {
            word.prop_map(str::to_owned).boxed()
        } else {
            prop_oneof![
                word.prop_map(str::to_owned),
                members(depth - 1).prop_map(|members| format!("{{{members}}}")),
                members(depth - 1).prop_map(|members| format!("[{{{members}}}]")),
            ]
            .boxed()
        };
        let member = (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop::collection::vec(member, 0..4)
            .prop_map(|members| members.join(","))
            .boxed()
    }

    proptest! {
        /// Whatever is carved reads as it would have been read; else nothing has changed.
        #[test]
        fn carving_reads_the_same(members in members(3), block in members(1)) {
            check::<CallToolResult>(&format!("{{{members}}}"));
            check::<CallToolResult>(&format!(
                r#"{{"content":[{{"type":"text","text":"a very long text",{block}}}]}}"#
            ));
            check::<CallToolResult>(&format!(r#"{{"content":[{{"type":"text",{block}}}]}}"#));
        }
    }
}
