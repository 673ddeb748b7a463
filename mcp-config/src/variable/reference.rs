//! The references of each dialect.
//!
//! Inside, a text has references as [`variable`](crate::variable) reads them. Every dialect's own
//! are turned into those when its file is read, and back when one is written.

use crate::dialect::Dialect;
use crate::variable::{Part, Variable, parts};

/// A text of a dialect's file, with its references as we write them.
pub(crate) fn lift(text: &str, dialect: Dialect) -> String {
    match dialect {
        // Codex replaces nothing: it takes the names of variables elsewhere.
        #[cfg(feature = "toml")]
        Dialect::Codex => literal(text),
        Dialect::OpenCode => lift_opencode(text),
        Dialect::Gemini => lift_gemini(text),
        // `${…}`, in anybody's spelling: files are copied from one program to the next.
        _ => text.to_owned(),
    }
}

/// A text in a dialect's own references; nothing if it has none for what the text says.
pub(crate) fn lower(text: &str, dialect: Dialect) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable {
                variable,
                default,
                written,
            } => out.push_str(&spell(variable, default, written, dialect)?),
        }
    }
    if meaning(&lift(&out, dialect)) == meaning(text) {
        return Some(out);
    }
    // What looks like a reference and is none: ours is the only way to write it.
    let ours = matches!(dialect, Dialect::Plain | Dialect::ClaudeCode);
    ours.then(|| text.to_owned())
}

/// One reference in a dialect's spelling, if it knows such.
fn spell(
    variable: Variable<'_>,
    default: Option<&str>,
    written: &str,
    dialect: Dialect,
) -> Option<String> {
    use Dialect::{ClaudeCode, Cline, Cursor, Gemini, OpenCode, Plain, VsCode, Windsurf};
    let named = |name: &str| default.map_or(name.to_owned(), |value| format!("{name}:-{value}"));
    match (dialect, variable, default) {
        (Plain, ..) => Some(written.to_owned()),
        (ClaudeCode | Gemini, Variable::Env(name), _) => Some(format!("${{{}}}", named(name))),
        (VsCode | Cursor | Cline | Windsurf, Variable::Env(name), None) => {
            Some(format!("${{env:{name}}}"))
        }
        (VsCode, Variable::Input(_) | Variable::Host(_), None) => Some(written.to_owned()),
        (Cursor, Variable::Host(name), None) if name != "cwd" => Some(written.to_owned()),
        (OpenCode, Variable::Env(name), None) => Some(format!("{{env:{name}}}")),
        (OpenCode, Variable::File(path), None) => Some(format!("{{file:{path}}}")),
        _ => None,
    }
}

/// The variable that a text consists of, if it is a single reference.
pub(crate) fn only_variable(text: &str) -> Option<&str> {
    match meaning(text).as_slice() {
        [Piece::Variable(Variable::Env(name), None)] => Some(name),
        _ => None,
    }
}

/// The text, if there are no references in it.
pub(crate) fn only_text(text: &str) -> Option<String> {
    match meaning(text).as_slice() {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// What a text means, however it is spelt.
fn meaning(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for part in parts(text) {
        match (part, pieces.last_mut()) {
            (Part::Text(""), _) => {}
            (Part::Text(more), Some(Piece::Text(text))) => text.push_str(more),
            (Part::Text(text), _) => pieces.push(Piece::Text(text.to_owned())),
            (
                Part::Variable {
                    variable, default, ..
                },
                _,
            ) => {
                pieces.push(Piece::Variable(variable, default));
            }
        }
    }
    pieces
}

#[derive(Debug, Eq, PartialEq)]
enum Piece<'a> {
    Text(String),
    Variable(Variable<'a>, Option<&'a str>),
}

/// A text without references, escaped.
fn literal(text: &str) -> String {
    text.replace("${", "${:-$}{")
}

/// `{env:NAME}` and `{file:path}`.
fn lift_opencode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = [rest.find("{env:"), rest.find("{file:")]
        .into_iter()
        .flatten()
        .min()
    {
        let (before, from) = rest.split_at(at);
        let Some((inside, behind)) = from.split_once('}') else {
            break;
        };
        // A name that would be read as something else stays as it is.
        let plain = !inside.contains(":-") && !inside.ends_with(':') && !inside.contains("${");
        out.push_str(&literal(before));
        match plain {
            true => out.extend(["$", inside, "}"]),
            false => out.push_str(&literal(&format!("{inside}}}"))),
        }
        rest = behind;
    }
    out.push_str(&literal(rest));
    out
}

/// `$NAME`, beside `${NAME}` and `${NAME:-default}`.
fn lift_gemini(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        let named = name
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        match (
            named,
            after.strip_prefix('{').and_then(|s| s.split_once('}')),
        ) {
            (true, _) => {
                out.extend(["${env:", name, "}"]);
                rest = behind;
            }
            // Whole: a `$` inside is no reference.
            (false, Some((inside, behind))) => {
                out.extend(["${", inside, "}"]);
                rest = behind;
            }
            (false, None) => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_dialect_has_references_of_its_own() {
        #[track_caller]
        fn check(dialect: Dialect, theirs: &str, ours: &str) {
            assert_eq!(lift(theirs, dialect), ours, "{theirs}");
        }
        check(
            Dialect::Gemini,
            "Bearer $A_1/$5 $",
            "Bearer ${env:A_1}/$5 $",
        );
        check(Dialect::Gemini, "${A} ${A:-b} ${", "${A} ${A:-b} ${");
        check(
            Dialect::OpenCode,
            "Bearer {env:A} {file:~/k} {x}",
            "Bearer ${env:A} ${file:~/k} {x}",
        );
        check(Dialect::OpenCode, "${A} {env:A", "${:-$}{A} {env:A");
        #[cfg(feature = "toml")]
        check(Dialect::Codex, "${env:A} $A", "${:-$}{env:A} $A");
        assert_eq!(only_text("${:-$}{env:A}").as_deref(), Some("${env:A}"));
    }

    #[test]
    fn what_a_dialect_cannot_say_is_not_written_as_something_else() {
        let lower = |text, dialect| lower(text, dialect);
        for dialect in [Dialect::ClaudeDesktop, Dialect::OpenCode, Dialect::VsCode] {
            assert_eq!(lower("${A:-b}", dialect), None, "{dialect:?}");
        }
        for dialect in [Dialect::ClaudeCode, Dialect::Gemini, Dialect::OpenCode] {
            assert_eq!(lower("${keyring:a}", dialect), None, "{dialect:?}");
        }
        // To Gemini and opencode these would be references.
        assert_eq!(lower("$HOME/x", Dialect::Gemini), None);
        assert_eq!(lower("{env:HOME}", Dialect::OpenCode), None);
        assert_eq!(
            lower("${:-$}{A}", Dialect::OpenCode).as_deref(),
            Some("${A}")
        );
        assert_eq!(
            lower("${env:A}", Dialect::OpenCode).as_deref(),
            Some("{env:A}")
        );
        assert_eq!(
            lower("${env:A:-b}", Dialect::ClaudeCode).as_deref(),
            Some("${A:-b}")
        );
    }

    proptest! {
        /// What is written in a dialect means there what it means here, or is not written.
        #[test]
        fn what_is_lowered_is_lifted_to_the_same(
            words in prop::collection::vec("[$]?[{]?(env:|file:|input:)?[A-Za-z5]{0,3}(:-)?[}]?", 0..6)
        ) {
            let text = words.concat();
            let dialects = [
                Dialect::Plain, Dialect::ClaudeCode, Dialect::VsCode, Dialect::Cursor,
                Dialect::Cline, Dialect::Gemini, Dialect::OpenCode, Dialect::Windsurf, Dialect::Zed,
            ];
            for dialect in dialects {
                if let Some(theirs) = lower(&text, dialect) {
                    let back = lift(&theirs, dialect);
                    prop_assert_eq!(meaning(&back), meaning(&text), "{:?}", dialect);
                }
                let ours = lift(&text, dialect);
                let again = lower(&ours, dialect).map(|text| lift(&text, dialect));
                if let Some(again) = &again {
                    prop_assert_eq!(meaning(again), meaning(&ours), "{:?}", dialect);
                }
            }
        }
    }
}
