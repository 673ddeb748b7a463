//! Finds the JSON value in a model's text, and repairs common mistakes.

use std::borrow::Cow;

use crate::json::end::JsonEnd;

/// The JSON that `text` may hold, the most literal reading first: all of it, the inside of its
/// fence, the first object or array in it, and that with commas and line breaks mended. What was cut
/// off stays cut off.
pub(crate) fn candidates(text: &str) -> Vec<Cow<'_, str>> {
    let mut found: Vec<Cow<'_, str>> = vec![text.trim().into(), without_fence(text).into()];
    found.extend(first_value(text).map(Cow::Borrowed));
    if let Some(value) = first_value(text) {
        found.push(mended(value).into());
    }
    found.dedup();
    found
}

/// `text` without a fence around it.
pub(crate) fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let inside = inside
        .split_once('\n')
        .map_or(inside, |(_, inside)| inside)
        .trim_end();
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// The first object or array in `text`, if it is complete.
fn first_value(text: &str) -> Option<&str> {
    let from = text.get(text.find(['{', '['])?..)?;
    let end = JsonEnd::default().push(from)?;
    from.get(..end)
}

/// `text` without commas before a closing bracket, and with control characters in strings escaped.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c => out.push(c),
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '}' | ']' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let readable =
            |text: &Cow<'_, str>| serde_json::from_str::<serde_json::Value>(text).is_ok();
        let found = candidates(text).into_iter().find(readable);
        assert_eq!(found.as_deref(), want, "{text}");
    }

    #[test]
    fn json_is_found_in_what_models_write_around_it() {
        check(" {\"a\":1}\n", Some("{\"a\":1}"));
        check("```json\n{\"a\":1}\n```", Some("{\"a\":1}"));
        check("Here it is:\n```\n[1]\n```\nBye.", Some("[1]"));
        check("Sure: {\"a\":\"}\"} done", Some("{\"a\":\"}\"}"));
        check("{\"a\":[1,2,],}", Some("{\"a\":[1,2]}"));
        check("{\"a\":\"x\ny\",}", Some("{\"a\":\"x\\ny\"}"));
        check("\"text\"", Some("\"text\""));
    }

    #[test]
    fn what_was_cut_off_is_not_completed() {
        check("{\"a\":[1,2", None);
        check("{\"a\":\"x", None);
        check("nothing", None);
    }
}
