//! About how many tokens a text costs. An estimate: providers count differently.

use serde_json::Value;

/// About how many tokens a tool's definition costs.
pub(crate) fn definition(name: &str, description: &str, schema: Option<&Value>) -> usize {
    let schema = schema.map(Value::to_string).unwrap_or_default();
    // Braces, keys and quotes around the three.
    12 + estimate(name) + estimate(description) + estimate(&schema)
}

/// About how many tokens `text` costs: a word is a token per six letters, other
/// characters come in pairs, and what is not ASCII counts by character.
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
