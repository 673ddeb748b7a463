//! `${…}`: what stands for something else.

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

const HOST: [&str; 6] = [
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
            Some(_) => Self::Other(name),
            None if HOST.contains(&name) => Self::Host(name),
            None => Self::Env(name),
        };
        (variable, default)
    }
}

/// `text` with every `${…}` replaced, once: values are not looked into. Those without a value are
/// handed to `missing` and left as they are.
pub(super) fn expand(
    text: &str,
    variables: &dyn Variables,
    mut missing: impl FnMut(Variable<'_>),
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        let (variable, default) = Variable::parse(inside);
        // As in a shell, `:-` also stands in for an empty value.
        let value = variables.get(variable);
        let value = value.filter(|value| default.is_none() || !value.is_empty());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => {
                missing(variable);
                out.extend(["${", inside, "}"]);
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// How a dialect writes an environment variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spelling {
    /// `${NAME}`.
    Short,
    /// `${env:NAME}`.
    Long,
    /// Either, or not at all.
    Any,
}

/// `text` with its environment variables spelt as a dialect does.
pub(super) fn respell(text: &str, spelling: Spelling) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else {
            break;
        };
        let (variable, _) = Variable::parse(inside);
        let other = match (spelling, variable, inside.strip_prefix("env:")) {
            (Spelling::Short, _, Some(short)) => Some(short.to_owned()),
            (Spelling::Long, Variable::Env(_), None) => Some(format!("env:{inside}")),
            _ => None,
        };
        // Not where it would name something else: `${env:userHome}` is not `${userHome}`.
        let same = |other: &String| Variable::parse(other) == Variable::parse(inside);
        let other = other.filter(same);
        out.push_str(before);
        out.extend(["${", other.as_deref().unwrap_or(inside)]);
        out.push('}');
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The variables of a file of `NAME=value` lines.
pub(super) fn env_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
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
