//! Arguments that arrive as values with paths, and their JSON.

use super::chunk::PartialArg;
use crate::adapter::text_piece::Joiner;

/// The longest list that streamed arguments may grow by naming a far place in it.
const MAX_GAP: usize = 1024;
/// The deepest place that streamed arguments may name.
const MAX_DEPTH: usize = 128;

/// Arguments under construction, in the order in which their members came.
#[derive(Debug)]
pub(crate) struct PartialArgs {
    root: Tree,
}

#[derive(Debug)]
enum Tree {
    /// No value has arrived for this path yet.
    Empty,
    /// A number, a boolean or `null`, as JSON text.
    Plain(String),
    Text(String, Joiner),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// One step of a path.
#[derive(Debug, Eq, PartialEq)]
enum Step {
    Key(String),
    Place(usize),
}

/// A path that leads nowhere.
#[derive(Debug)]
pub(crate) struct BadPath;

impl PartialArgs {
    pub(crate) fn new() -> Self {
        Self {
            root: Tree::Object(Vec::new()),
        }
    }

    /// Sets a value, or adds to a string that is already there.
    pub(crate) fn apply(&mut self, arg: &PartialArg<'_>) -> Result<(), BadPath> {
        let mut place = &mut self.root;
        for step in steps(arg.json_path.as_str())? {
            place = place.enter(step)?;
        }
        if let Some(piece) = &arg.string_value {
            if !matches!(place, Tree::Text(..)) {
                *place = Tree::Text(String::new(), Joiner::default());
            }
            if let Tree::Text(text, joiner) = place {
                text.push_str(&joiner.push(piece));
            }
        } else if let Some(number) = arg.number_value {
            *place = Tree::Plain(number_text(number.get()));
        } else if let Some(value) = arg.bool_value {
            *place = Tree::Plain(value.to_string());
        } else if arg.null_value.is_some() {
            *place = Tree::Plain("null".to_owned());
        }
        Ok(())
    }

    /// The arguments as JSON text.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        self.root.write(&mut out);
        out
    }
}

impl Tree {
    fn enter(&mut self, step: Step) -> Result<&mut Self, BadPath> {
        match (&step, &*self) {
            (Step::Key(_), Self::Empty) => *self = Self::Object(Vec::new()),
            (Step::Place(_), Self::Empty) => *self = Self::List(Vec::new()),
            _ => {}
        }
        match (step, self) {
            (Step::Key(key), Self::Object(members)) => {
                let known = members.iter().position(|(name, _)| *name == key);
                let at = known.unwrap_or_else(|| {
                    members.push((key, Self::Empty));
                    members.len() - 1
                });
                members.get_mut(at).map(|(_, value)| value).ok_or(BadPath)
            }
            (Step::Place(at), Self::List(items)) => {
                if at > items.len() + MAX_GAP {
                    return Err(BadPath);
                }
                while items.len() <= at {
                    items.push(Self::Empty);
                }
                items.get_mut(at).ok_or(BadPath)
            }
            _ => Err(BadPath),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Empty => out.push_str("null"),
            Self::Plain(text) => out.push_str(text),
            Self::Text(text, _) => write_string(text, out),
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.push(if at == 0 { '[' } else { ',' });
                    item.write(out);
                }
                out.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Self::Object(members) => {
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push(if at == 0 { '{' } else { ',' });
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push_str(if members.is_empty() { "{}" } else { "}" });
            }
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Numbers come as floats, even where an integer is meant: `3.0` is 3.
fn number_text(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

/// The steps of a path such as `$.days[0]['max temp']`.
fn steps(path: &str) -> Result<Vec<Step>, BadPath> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').ok_or(BadPath)?;
    while !rest.is_empty() {
        if steps.len() == MAX_DEPTH {
            return Err(BadPath);
        }
        let step;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, more) = after.split_at(end);
            step = Step::Key(key.to_owned());
            rest = more;
        } else if let Some(after) = rest.strip_prefix("['").or_else(|| rest.strip_prefix("[\"")) {
            let quote = if rest.starts_with("['") { "']" } else { "\"]" };
            let (key, more) = after.split_once(quote).ok_or(BadPath)?;
            step = Step::Key(key.to_owned());
            rest = more;
        } else {
            let (place, more) = rest
                .strip_prefix('[')
                .and_then(|after| after.split_once(']'))
                .ok_or(BadPath)?;
            step = Step::Place(place.parse().map_err(|_| BadPath)?);
            rest = more;
        }
        steps.push(step);
    }
    if steps.is_empty() {
        Err(BadPath)
    } else {
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(args: &[&str]) -> Result<String, BadPath> {
        let mut built = PartialArgs::new();
        for json in args {
            built.apply(&serde_json::from_str(json).unwrap())?;
        }
        Ok(built.to_json())
    }

    #[test]
    fn values_find_their_places() {
        let json = build(&[
            r#"{"jsonPath":"$.a.b[1]['x y']","stringValue":"p\ud83d"}"#,
            r#"{"jsonPath":"$.a.b[1]['x y']","stringValue":"\ude00q"}"#,
            r#"{"jsonPath":"$.n","numberValue":12345678901234567890}"#,
            r#"{"jsonPath":"$.m","numberValue":3.0}"#,
            r#"{"jsonPath":"$.t","boolValue":true}"#,
            r#"{"jsonPath":"$.z","nullValue":null}"#,
            r#"{"jsonPath":"$.z2","nullValue":"NULL_VALUE"}"#,
        ]);
        let want = r#"{"a":{"b":[null,{"x y":"p😀q"}]},"n":12345678901234567890,"m":3,"t":true,"z":null,"z2":null}"#;
        assert_eq!(json.unwrap(), want);
    }

    #[test]
    fn bad_paths_are_refused() {
        for path in ["", "$", "a", "$.a[9999999]", "$.a[-1]", "$[0]", "$.a['b"] {
            let arg = format!(r#"{{"jsonPath":"{path}","boolValue":true}}"#);
            assert!(build(&[&arg]).is_err(), "{path}");
        }
        assert!(build(&[&format!(r#"{{"jsonPath":"${}"}}"#, ".a".repeat(200))]).is_err());
    }
}
