//! `${…}`: references to variables.

pub(crate) mod reference;
pub(crate) mod resolve;

/// The variable of a `${…}` in a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Variable<'a> {
    /// `${NAME}` or `${env:NAME}`: an environment variable.
    Env(&'a str),
    /// `${input:id}`: the user's value of an input.
    Input(&'a str),
    /// `${workspaceFolder}` and similar: a value only the host knows.
    Host(&'a str),
    /// `${file:path}`: the content of a file, without the white space around it (opencode's `{file:path}`).
    File(&'a str),
    /// `${kind:name}` of another kind, complete.
    Other(&'a str),
}

/// A source of variables' values. Closures implement it.
pub trait Variables {
    /// The value of a variable, if it has one.
    fn get(&self, variable: Variable<'_>) -> Option<String>;

    /// The text of a file of environment variables (VS Code's `envFile`), if it can be read.
    fn env_file(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

impl<F: Fn(Variable<'_>) -> Option<String>> Variables for F {
    fn get(&self, variable: Variable<'_>) -> Option<String> {
        self(variable)
    }
}

/// The folder of the file itself (`manifest.json` of a bundle).
pub(crate) const BUNDLE_FOLDER: &str = "__dirname";

const HOST: [&str; 7] = [
    BUNDLE_FOLDER,
    "workspaceFolder",
    "workspaceFolderBasename",
    "userHome",
    "pathSeparator",
    "/",
    "cwd",
];

impl<'a> Variable<'a> {
    /// Parses the inside of a `${…}`: the variable and its default.
    fn parse(inside: &'a str) -> (Self, Option<&'a str>) {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let variable = match name.split_once(':') {
            Some(("env", name)) => Self::Env(name),
            Some(("input", id)) => Self::Input(id),
            Some(("file", path)) => Self::File(path),
            Some(_) => Self::Other(name),
            None if HOST.contains(&name) => Self::Host(name),
            None => Self::Env(name),
        };
        (variable, default)
    }
}

/// A part of a text: literal text or a reference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Variable {
        variable: Variable<'a>,
        default: Option<&'a str>,
        /// The complete reference as written.
        written: &'a str,
    },
}

/// The parts of a text. `${:-…}` has no name, so it always stands for its default: a literal `${` is written as
/// `${:-$}{`.
pub(crate) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else {
            break;
        };
        parts.push(Part::Text(before));
        let written = rest
            .get(before.len()..rest.len() - behind.len())
            .unwrap_or_default();
        parts.push(match Variable::parse(inside) {
            (Variable::Env(""), Some(default)) => Part::Text(default),
            (variable, default) => Part::Variable {
                variable,
                default,
                written,
            },
        });
        rest = behind;
    }
    parts.push(Part::Text(rest));
    parts
}

/// `text` with every `${…}` replaced, once: values are not expanded again. Variables without a value are passed to
/// `missing` and left unchanged.
pub(crate) fn expand(
    text: &str,
    variables: &dyn Variables,
    mut missing: impl FnMut(Variable<'_>),
) -> String {
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        let (variable, default, written) = match part {
            Part::Text(text) => {
                out.push_str(text);
                continue;
            }
            Part::Variable {
                variable,
                default,
                written,
            } => (variable, default, written),
        };
        // As in a shell, `:-` also replaces an empty value.
        let value = variables.get(variable);
        let value = value.filter(|value| default.is_none() || !value.is_empty());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => {
                missing(variable);
                out.push_str(written);
            }
        }
    }
    out
}

/// The variables of a file of `NAME=value` lines.
pub(crate) fn env_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let quoted = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        (!name.is_empty() && !name.starts_with('#')).then_some((name, value))
    })
}
