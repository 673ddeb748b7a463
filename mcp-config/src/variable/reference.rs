//! References in the syntax of each dialect.
//!
//! Internally, texts have references in the syntax of [`variable`](crate::variable). Every dialect's own references are
//! converted to it when its file is read, and back when one is written.

use crate::dialect::Dialect;
use crate::variable::{BUNDLE_FOLDER, Part, Variable, parts};

/// The role of a text in its entry: some programs replace references in some texts only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Field {
    Command,
    Arg,
    Env,
    Url,
    Header,
    /// A folder, or a file of variables.
    Path,
}

/// Converts the references of a dialect's text to ours.
pub(crate) fn lift(text: &str, dialect: Dialect, field: Field) -> String {
    match dialect {
        // Codex replaces nothing: it accepts the names of variables elsewhere.
        #[cfg(feature = "toml")]
        Dialect::Codex => literal(text),
        Dialect::OpenCode => lift_marked(
            text,
            &[
                ("{env:", "}", &|name| reference("env:", name)),
                ("{file:", "}", &|path| reference("file:", path)),
            ],
        ),
        Dialect::Gemini => lift_shell(text),
        Dialect::CopilotCli => match field {
            Field::Env | Field::Header => lift_shell(text),
            _ => literal(text),
        },
        Dialect::AmazonQ => match field {
            Field::Env => lift_marked(text, &[("${env:", "}", &|name| reference("env:", name))]),
            _ => literal(text),
        },
        #[cfg(feature = "yaml")]
        Dialect::Goose => match field {
            Field::Header => lift_shell(text),
            _ => literal(text),
        },
        #[cfg(feature = "yaml")]
        Dialect::Continue => lift_marked(text, &[("${{", "}}", &of_continue)]),
        #[cfg(feature = "yaml")]
        Dialect::LibreChat => match field {
            Field::Command | Field::Path => literal(text),
            _ => lift_marked(
                text,
                &[
                    ("{{", "}}", &|name| reference("input:", name)),
                    ("${", "}", &|name| reference("env:", name)),
                ],
            ),
        },
        Dialect::Bundle => lift_marked(text, &[("${", "}", &of_bundle)]),
        // `${…}` in any spelling: files are copied from one program to the next.
        _ => text.to_owned(),
    }
}

/// Converts our references to the dialect's; `None` if it cannot express the text.
pub(crate) fn lower(text: &str, dialect: Dialect, field: Field) -> Option<String> {
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
    if meaning(&lift(&out, dialect, field)) == meaning(text) {
        return Some(out);
    }
    // A text that looks like a reference but is not: only our syntax can express it.
    let ours = matches!(dialect, Dialect::Plain | Dialect::ClaudeCode);
    ours.then(|| text.to_owned())
}

/// One reference in a dialect's syntax, if it supports it.
fn spell(
    variable: Variable<'_>,
    default: Option<&str>,
    written: &str,
    dialect: Dialect,
) -> Option<String> {
    use Dialect::{
        AmazonQ, Bundle, ClaudeCode, Cline, CopilotCli, Cursor, Gemini, OpenCode, Plain, Roo,
        VsCode, Windsurf,
    };
    let named = |name: &str| default.map_or(name.to_owned(), |value| format!("{name}:-{value}"));
    match (dialect, variable, default) {
        (Plain, ..) => Some(written.to_owned()),
        (ClaudeCode | Gemini | CopilotCli, Variable::Env(name), _) => {
            Some(format!("${{{}}}", named(name)))
        }
        (VsCode | Cursor | Cline | Windsurf | Roo | AmazonQ, Variable::Env(name), None) => {
            Some(format!("${{env:{name}}}"))
        }
        (Bundle, Variable::Input(id), None) => Some(format!("${{user_config.{id}}}")),
        (Bundle, Variable::Host("userHome"), None) => Some("${HOME}".to_owned()),
        (Bundle, Variable::Host(name), None) if OF_BUNDLE.contains(&name) => {
            Some(written.to_owned())
        }
        // Only a bundle knows its own folder.
        (_, Variable::Host(BUNDLE_FOLDER), _) => None,
        (VsCode, Variable::Input(_) | Variable::Host(_), None) => Some(written.to_owned()),
        (Cursor, Variable::Host(name), None) if name != "cwd" => Some(written.to_owned()),
        (Roo, Variable::Host("workspaceFolder"), None) => Some(written.to_owned()),
        (OpenCode, Variable::Env(name), None) => Some(format!("{{env:{name}}}")),
        (OpenCode, Variable::File(path), None) => Some(format!("{{file:{path}}}")),
        #[cfg(feature = "yaml")]
        (Dialect::LibreChat, Variable::Env(name), None) => Some(format!("${{{name}}}")),
        #[cfg(feature = "yaml")]
        (Dialect::Goose, Variable::Env(name), None) => {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_name = !name.starts_with(|c: char| c.is_ascii_digit());
            (is_name && name.chars().all(word)).then(|| format!("${{{name}}}"))
        }
        #[cfg(feature = "yaml")]
        (Dialect::LibreChat, Variable::Input(id), None) => Some(format!("{{{{{id}}}}}")),
        #[cfg(feature = "yaml")]
        (Dialect::Continue, Variable::Env(name), None) => {
            Some(format!("${{{{ secrets.{name} }}}}"))
        }
        #[cfg(feature = "yaml")]
        (Dialect::Continue, Variable::Input(id), None) => Some(format!("${{{{ inputs.{id} }}}}")),
        _ => None,
    }
}

/// The `${…}` of a bundle that have the same syntax as ours.
const OF_BUNDLE: [&str; 3] = [BUNDLE_FOLDER, "/", "pathSeparator"];

/// The variable that a text consists of, if it is a single reference.
pub(crate) fn only_variable(text: &str) -> Option<&str> {
    match meaning(text).as_slice() {
        [Piece::Variable(Variable::Env(name), None)] => Some(name),
        _ => None,
    }
}

/// The environment variables that a text refers to.
pub(crate) fn env_names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Variable {
            variable: Variable::Env(name),
            ..
        } => Some(name),
        _ => None,
    })
}

/// The inputs that a text refers to.
pub(crate) fn input_ids(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Variable {
            variable: Variable::Input(id),
            ..
        } => Some(id),
        _ => None,
    })
}

/// The text, if there are no references in it.
pub(crate) fn only_text(text: &str) -> Option<String> {
    match meaning(text).as_slice() {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// The meaning of a text, independent of its spelling.
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

/// A reference in our syntax, if the name can be written in it.
fn reference(kind: &str, name: &str) -> Option<String> {
    let plain = !name.is_empty() && !name.contains(":-") && !name.ends_with(':');
    plain.then(|| format!("${{{kind}{name}}}"))
}

/// A bundle's own variables: the user's configuration, and a few folders.
fn of_bundle(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("${userHome}".to_owned()),
        "DESKTOP" => Some("${userHome}/Desktop".to_owned()),
        "DOCUMENTS" => Some("${userHome}/Documents".to_owned()),
        "DOWNLOADS" => Some("${userHome}/Downloads".to_owned()),
        name if OF_BUNDLE.contains(&name) => Some(format!("${{{name}}}")),
        name => reference("input:", name.strip_prefix("user_config.")?),
    }
}

#[cfg(feature = "yaml")]
fn of_continue(inside: &str) -> Option<String> {
    match inside.trim().split_once('.')? {
        ("secrets", name) => reference("env:", name),
        ("inputs", id) => reference("input:", id),
        _ => None,
    }
}

/// The delimiters of a reference, and the conversion of its inside.
type Delimited<'a> = (&'a str, &'a str, &'a dyn Fn(&str) -> Option<String>);

/// Converts delimited references; everything else is literal.
fn lift_marked(text: &str, marks: &[Delimited<'_>]) -> String {
    let (mut out, mut plain) = (String::with_capacity(text.len()), String::new());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let found = marks.iter().find_map(|(open, close, ours)| {
            let after = rest.strip_prefix(open)?;
            // No name contains it, so that nothing is scanned twice.
            let (inside, behind) = after.split_at(after.find(['{', '}', '$'])?);
            Some((ours(inside)?, behind.strip_prefix(close)?))
        });
        match found {
            Some((ours, behind)) => {
                out.push_str(&literal(&std::mem::take(&mut plain)));
                out.push_str(&ours);
                rest = behind;
            }
            None => {
                plain.push(next);
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
            }
        }
    }
    out.push_str(&literal(&plain));
    out
}

/// `$NAME`, beside `${NAME}` and `${NAME:-default}`.
fn lift_shell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut has_end = true;
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
        let braced = after.strip_prefix('{').filter(|_| has_end);
        let split = braced.and_then(|after| after.split_once('}'));
        // Searched once: if there is no closing brace here, there is none later.
        has_end &= braced.is_none() || split.is_some();
        match (named, split) {
            (true, _) => {
                out.extend(["${env:", name, "}"]);
                rest = behind;
            }
            // Complete: a `$` inside is not a reference.
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
            assert_eq!(lift(theirs, dialect, Field::Env), ours, "{theirs}");
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
        check(Dialect::CopilotCli, "$A ${B:-c}", "${env:A} ${B:-c}");
        check(Dialect::AmazonQ, "${env:A} ${B}", "${env:A} ${:-$}{B}");
        check(
            Dialect::Bundle,
            "${user_config.key} ${__dirname}${/}a ${HOME} ${X}",
            "${input:key} ${__dirname}${/}a ${userHome} ${:-$}{X}",
        );
        #[cfg(feature = "yaml")]
        {
            check(
                Dialect::Continue,
                "${{ secrets.A }} ${{inputs.b}} ${A} ${{ x }}",
                "${env:A} ${input:b} ${:-$}{A} ${:-$}{{ x }}",
            );
            check(
                Dialect::LibreChat,
                "${A}/{{B}} {{",
                "${env:A}/${input:B} {{",
            );
            check(Dialect::Goose, "${A}", "${:-$}{A}");
            assert_eq!(
                lift("Bearer $A", Dialect::Goose, Field::Header),
                "Bearer ${env:A}"
            );
        }
        #[cfg(feature = "toml")]
        check(Dialect::Codex, "${env:A} $A", "${:-$}{env:A} $A");
        assert_eq!(only_text("${:-$}{env:A}").as_deref(), Some("${env:A}"));
    }

    #[test]
    fn what_a_dialect_cannot_say_is_not_written_as_something_else() {
        let lower = |text, dialect| lower(text, dialect, Field::Env);
        for dialect in [Dialect::ClaudeDesktop, Dialect::OpenCode, Dialect::VsCode] {
            assert_eq!(lower("${A:-b}", dialect), None, "{dialect:?}");
        }
        for dialect in [Dialect::ClaudeCode, Dialect::Gemini, Dialect::OpenCode] {
            assert_eq!(lower("${keyring:a}", dialect), None, "{dialect:?}");
        }
        // For Gemini and opencode these would be references.
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
        /// A lowered text has the same meaning in the dialect as in ours, or is not written.
        #[test]
        fn what_is_lowered_is_lifted_to_the_same(
            words in prop::collection::vec("[$]?[{]{0,2}(env:|file:|input:| secrets.|user_config.)?[A-Za-z5]{0,3}(:-)?[}]{0,2}", 0..6)
        ) {
            let text = words.concat();
            let fields = [
                Field::Command, Field::Arg, Field::Env, Field::Url, Field::Header, Field::Path,
            ];
            for (&dialect, field) in Dialect::ALL.iter().flat_map(|it| fields.map(|field| (it, field))) {
                if let Some(theirs) = lower(&text, dialect, field) {
                    let back = lift(&theirs, dialect, field);
                    prop_assert_eq!(meaning(&back), meaning(&text), "{:?}", dialect);
                }
                let ours = lift(&text, dialect, field);
                let again = lower(&ours, dialect, field).map(|text| lift(&text, dialect, field));
                if let Some(again) = &again {
                    prop_assert_eq!(meaning(again), meaning(&ours), "{:?}", dialect);
                }
            }
        }
    }
}
