//! The content of a JSON value that is still arriving.

use serde_json::Value;

/// The first object or array in `text`, as far as it has come: open strings, objects and arrays are
/// closed; a key without a value, and a number or word that may go on, are left out.
pub(crate) fn value(text: &str) -> Option<Value> {
    let text = text.get(text.find(['{', '['])?..)?;
    let mut open: Vec<u8> = Vec::new();
    // Where the last complete value ends. Nothing has been opened or closed since.
    let mut safe = 0;
    let (mut in_string, mut escaped, mut is_key) = (false, false, false);
    // Whether the next string in an object is a key.
    let mut before_key = false;
    let mut scalar = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_string = false;
                    if !is_key {
                        safe = at + 1;
                    }
                }
                _ => {}
            }
            continue;
        }
        if scalar && matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') {
            scalar = false;
            safe = at;
        }
        match byte {
            b'"' => {
                in_string = true;
                is_key = before_key;
                before_key = false;
            }
            b'{' | b'[' => {
                open.push(if byte == b'{' { b'}' } else { b']' });
                before_key = byte == b'{';
                safe = at + 1;
            }
            b'}' | b']' => {
                open.pop();
                before_key = false;
                safe = at + 1;
                if open.is_empty() {
                    break;
                }
            }
            b',' => before_key = open.last() == Some(&b'}'),
            b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => scalar = true,
        }
    }
    let closed = |end: usize, quote: &str| -> Option<Value> {
        let mut closed = text.get(..end)?.to_owned();
        closed.push_str(quote);
        closed.extend(open.iter().rev().map(|byte| char::from(*byte)));
        serde_json::from_str(&closed).ok()
    };
    if in_string && !is_key {
        // An escape may be cut in the middle, and a surrogate pair is two of them.
        let cut = (0..=12).filter_map(|back| text.len().checked_sub(back));
        if let Some(value) = cut.filter_map(|end| closed(end, "\"")).next() {
            return Some(value);
        }
    }
    closed(safe, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, want: Value) {
        assert_eq!(value(text), Some(want), "{text}");
    }

    #[test]
    fn what_has_arrived_is_a_value_at_every_cut() {
        check("{", json!({}));
        check(r#"{"a"#, json!({}));
        check(r#"{"a":"#, json!({}));
        check(r#"{"a":"x"#, json!({"a": "x"}));
        check(r#"{"a":"x\"#, json!({"a": "x"}));
        check(r#"{"a":"x\ud83d\ude"#, json!({"a": "x"}));
        check(r#"{"a":12"#, json!({}));
        check(r#"{"a":12,"#, json!({"a": 12}));
        check(r#"{"a":12,"b":tr"#, json!({"a": 12}));
        check(r#"{"a":[1,{"b":null},"#, json!({"a": [1, {"b": null}]}));
        check(r#"{"a":{},"b"#, json!({"a": {}}));
        check("Here:\n```json\n[true, ", json!([true]));
        check(r#"{"a":1} and {"b"#, json!({"a": 1}));
        assert_eq!(value("Let me see"), None);
    }

    #[test]
    fn every_prefix_of_an_object_is_readable() {
        let text = r#"{"naïve":"a\"b\\","n":[-1.5e3,true,null,{"x":{}}],"é":"😀\u00e9"}"#;
        for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(value(&text[..end]).is_some(), "{}", &text[..end]);
        }
        assert_eq!(value(text), serde_json::from_str(text).ok());
    }
}
