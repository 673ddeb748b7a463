//! The language that people read: texts of ours, translated by the catalogues of `locales/`.
//!
//! The English text is the key. JSON, logs and event names are never translated.

mod catalog;
mod choice;
mod help;

use std::borrow::Cow;
use std::sync::OnceLock;

use catalog::Catalog;
pub(crate) use choice::{SETTING, choose, is_language};
pub(crate) use help::translated as help;

/// What the program speaks, if that is not English.
static CATALOG: OnceLock<Catalog> = OnceLock::new();

/// A text of ours in the user's language: `t!("Model: {name}", name = x)`. The catalogues' test
/// finds every one of them in the source.
macro_rules! t {
    ($key:literal) => {
        $crate::lang::text($key)
    };
    ($key:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::lang::filled($key, &[$((stringify!($name), $value.to_string())),+])
    };
}
pub(crate) use t;

/// Speaks this language from now on. Without this it is English.
pub(crate) fn speak(language: &str) {
    if let Some(catalog) = Catalog::of(language) {
        // The first choice stays.
        let _ = CATALOG.set(catalog);
    }
}

/// A text without places to fill in.
pub(crate) fn text(key: &'static str) -> Cow<'static, str> {
    match CATALOG.get().and_then(|catalog| catalog.text(key)) {
        Some(found) => Cow::Borrowed(found),
        None => Cow::Borrowed(key),
    }
}

/// A text with its places filled in: `{name}` by the value of that name.
pub(crate) fn filled(key: &'static str, values: &[(&str, String)]) -> String {
    fill(&text(key), values)
}

/// A number of things: `one` for a single one, else `many`, in which `{n}` is the number.
pub(crate) fn count(number: usize, one: &'static str, many: &'static str) -> String {
    let english = if number == 1 { one } else { many };
    let catalog = CATALOG.get();
    let found = catalog.and_then(|catalog| catalog.count(many, number));
    fill(found.unwrap_or(english), &[("n", number.to_string())])
}

/// An error or a hint, if a catalogue has a text that it was made from.
pub(crate) fn message(english: &str) -> Cow<'_, str> {
    match CATALOG.get() {
        Some(catalog) => catalog.message(english),
        None => Cow::Borrowed(english),
    }
}

/// What the parser of the command line says, where that is not English.
pub(crate) fn parser(english: &str) -> Option<String> {
    CATALOG.get().map(|catalog| catalog.parser(english))
}

/// Fills places in from left to right; what is filled in is not looked at again.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, from)) = rest.split_once('{') {
        out.push_str(before);
        let place = from.split_once('}');
        let value = place.and_then(|(name, after)| {
            let found = values.iter().find(|(known, _)| *known == name)?;
            Some((&found.1, after))
        });
        match value {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = from;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        let values = [("a", "{b}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(fill("{a}-{b}-{c}-{", &values), "{b}-x-{c}-{");
    }

    #[test]
    fn without_a_language_the_text_is_its_key() {
        assert_eq!(t!("No such key."), "No such key.");
        assert_eq!(t!("{n} of {most}", n = 1, most = "2"), "1 of 2");
        assert_eq!(count(1, "1 tool", "{n} tools"), "1 tool");
        assert_eq!(count(0, "1 tool", "{n} tools"), "0 tools");
    }
}
