//! What is known of Claude's generations, by the models' names. Of any other name nothing is assumed.

use crate::json::writer::{Object, typed};
use crate::request::Omitted;
use crate::request::options::{Effort, Options};

/// A model's family, and its version.
struct Generation<'m> {
    family: &'m str,
    version: (u32, u32),
}

impl<'m> Generation<'m> {
    fn of(model: &'m str) -> Option<Self> {
        let (_, name) = model.split_once("claude-")?;
        let mut parts = name.split(['-', '.', '@', ':']).peekable();
        // The first generations have their version first.
        let family = parts.next_if(|part| part.parse::<u32>().is_err());
        let major = parts.next()?.parse().ok()?;
        // A larger number is a date.
        let minor = parts.next().and_then(|part| part.parse().ok());
        Some(Self {
            family: family.unwrap_or_default(),
            version: (major, minor.filter(|minor| *minor < 100).unwrap_or(0)),
        })
    }

    fn is_since(&self, version: (u32, u32)) -> bool {
        self.version >= version
    }

    fn thinks_always(&self) -> bool {
        self.is_since((5, 5)) || ["fable", "mythos"].contains(&self.family)
    }
}

/// Whether a model takes instructions between the turns in a message of their own. To the others the user says them.
pub(crate) fn takes_system(model: &str) -> bool {
    Generation::of(model)
        .is_none_or(|it| it.is_since((4, 8)) && !(it.family == "sonnet" && it.version == (5, 0)))
}

/// Whether a model decides by itself how much to think.
pub(crate) fn adapts(model: &str) -> bool {
    Generation::of(model).is_none_or(|it| it.is_since((4, 6)))
}

/// How much a model is to think, in the words that it knows: `thinking`, and the effort.
pub(crate) fn thinking<'a>(
    model: &str,
    options: &Options,
    omitted: &mut Vec<Omitted>,
) -> (Option<Object<'a>>, Option<&'static str>) {
    let known = Generation::of(model);
    let is = |rule: &dyn Fn(&Generation<'_>) -> bool| known.as_ref().is_none_or(rule);
    let has_effort = is(&|it| it.is_since((4, 6)) || it.family == "opus" && it.is_since((4, 5)));
    let has_budget = is(&|it| !it.is_since((4, 7)));
    let may_be_off = is(&|it| !it.thinks_always());
    let mut omit = |option| omitted.push(Omitted::Option(option));
    let effort = match options.effort {
        None | Some(Effort::None) => None,
        Some(_) if !has_effort => {
            omit("effort");
            None
        }
        Some(Effort::Minimal) => Some("low"),
        Some(effort) => Some(effort.as_str()),
    };
    let thinking = match (options.thinking_tokens, options.effort) {
        (_, Some(Effort::None)) if may_be_off => Some(typed("disabled")),
        (_, Some(Effort::None)) => {
            omit("effort");
            let is_sonnet = known.is_some_and(|it| it.family == "sonnet");
            is_sonnet.then(|| typed("between_tools"))
        }
        (Some(tokens), _) if has_budget => Some(typed("enabled").set("budget_tokens", tokens)),
        (Some(_), _) => {
            omit("thinking_tokens");
            Some(typed("adaptive"))
        }
        (None, Some(_)) if adapts(model) => Some(typed("adaptive")),
        (None, _) => None,
    };
    (thinking, effort)
}
