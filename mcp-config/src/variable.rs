//! `${…}`: references to variables.

pub(crate) mod reference;
pub(crate) mod resolve;

/// What a `${…}` of a file names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Variable<'a> {
    /// `${NAME}` or `${env:NAME}`: an environment variable.
    Env(&'a str),
    /// `${input:id}`: what the user answered.
    Input(&'a str),
    /// `${workspaceFolder}` and the like: something only the host knows.
    Host(&'a str),
    /// `${file:path}`: what a file holds, without the white space around it (opencode's
    /// `{file:path}`).
    File(&'a str),
    /// `${kind:name}` of another kind, whole.
    Other(&'a str),
}

/// Where values of variables come from. Closures do as well.
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
    /// What `${inside}` names, and its default.
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

/// A piece of a text: literal text or a reference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Variable {
        variable: Variable<'a>,
        default: Option<&'a str>,
        /// All of it, as it is written.
        written: &'a str,
    },
}

/// The pieces of a text. `${:-…}` has no name, so it always is its default: that is how a `${` that
/// stands for itself is written, `${:-$}{`.
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

/// `text` with every `${…}` replaced, once: values are not looked into. Those without a value are
/// handed to `missing` and left as they are.
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
        // As in a shell, `:-` also stands in for an empty value.
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
