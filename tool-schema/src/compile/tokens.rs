//! An estimate of the number of tokens of a text: providers count differently.

use serde_json::Value;

/// The approximate number of tokens of a tool's definition.
pub(crate) fn definition(name: &str, description: &str, schema: Option<&Value>) -> usize {
    let schema = schema.map(Value::to_string).unwrap_or_default();
    // Braces, keys and quotes around the three.
    12 + estimate(name) + estimate(description) + estimate(&schema)
}

/// The approximate number of tokens of `text`: a word is a token per six letters, other characters come in pairs, and
/// each non-ASCII character counts separately.
pub fn estimate(text: &str) -> usize {
    let (mut tokens, mut letters, mut marks) = (0, 0_usize, 0_usize);
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            tokens += marks.div_ceil(2);
            marks = 0;
            letters += 1;
            continue;
        }
        tokens += letters.div_ceil(6);
        letters = 0;
        match c {
            ' ' => {}
            c if c.is_ascii() => marks += 1,
            _ => tokens += 1,
        }
    }
    tokens + letters.div_ceil(6) + marks.div_ceil(2)
}
