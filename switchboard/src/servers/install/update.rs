//! Updates of installed servers: which there are, and what they would change.

use super::find::Finder;
use super::plan::{Answers, Plan};
use super::version::is_older;
use crate::exit::Failure;
use crate::servers::answers;
use crate::servers::shown_endpoint;
use crate::servers::to_config;
use crate::store::{Installed, Server};

/// How an installed server compares with what its registry has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    /// The registry has the same.
    Current,
    /// The registry has this version.
    Outdated(String),
    /// The registry has an older version: this one was withdrawn.
    Withdrawn(String),
    /// The registry has it no more.
    Gone,
    /// It came from a file, or names no version: there is nothing to compare with.
    Unknown,
}

/// A change that an update makes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Difference {
    /// `version`, `command`, `variables`, `tools`, `package` or `sandbox`.
    pub(crate) what: &'static str,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// How a server compares with what its registry has.
pub(crate) async fn standing(finder: &Finder, installed: &Installed) -> Result<Standing, Failure> {
    let (Some(_), Some(version)) = (&installed.registry, &installed.version) else {
        return Ok(Standing::Unknown);
    };
    Ok(match finder.latest(&installed.name).await? {
        None => Standing::Gone,
        Some(latest) if latest == *version => Standing::Current,
        Some(latest) if is_older(&latest, version) => Standing::Withdrawn(latest),
        Some(latest) => Standing::Outdated(latest),
    })
}

/// The answers that a server was given, by the ids of its inputs.
pub(crate) fn stored_answers(row: &Server) -> Answers {
    let mut all = Answers::new();
    let mut stored: Vec<_> = answers(row).collect();
    // `id#2` after `id`, and `id#10` after `id#9`.
    stored.sort_by_key(|(id, _)| {
        let (name, at) = id.split_once('#').unwrap_or((id, "1"));
        (name.to_owned(), at.parse::<usize>().unwrap_or_default())
    });
    for (id, value) in stored {
        let name = id.split('#').next().unwrap_or(&id).to_owned();
        all.entry(name).or_default().push(value);
    }
    all
}

impl Plan {
    /// What it changes of a server that has these tools.
    pub(crate) fn differences(&self, before: &Server, tools: &[String]) -> Vec<Difference> {
        let of = |row: &Server| row.installed.clone().unwrap_or_default();
        let (old, new) = (of(before), of(&self.row));
        let command = |row: &Server| match to_config(row) {
            Ok(config) => shown_endpoint(&config),
            Err(why) => why,
        };
        let names = |row: &Server| -> String {
            let names: Vec<&str> = row
                .env
                .keys()
                .chain(row.headers.keys())
                .map(String::as_str)
                .collect();
            names.join(", ")
        };
        let package = |it: &Installed| format!("{} {}", it.kind, it.package);
        let sandbox = |row: &Server| {
            row.sandbox
                .as_ref()
                .map(crate::servers::sandbox::summary)
                .unwrap_or_default()
        };
        let mut all = vec![
            (
                "version",
                old.version.clone().unwrap_or_default(),
                new.version.clone().unwrap_or_default(),
            ),
            ("package", package(&old), package(&new)),
            ("command", command(before), command(&self.row)),
            ("variables", names(before), names(&self.row)),
            ("sandbox", sandbox(before), sandbox(&self.row)),
        ];
        if let Some(new) = &self.tools {
            let (mut old, mut new) = (tools.to_vec(), new.clone());
            old.sort();
            new.sort();
            if !old.is_empty() && !new.is_empty() {
                all.push(("tools", old.join(", "), new.join(", ")));
            }
        }
        let changed = all.into_iter().filter(|(_, before, after)| before != after);
        let differences = changed.map(|(what, before, after)| Difference {
            what,
            before,
            after,
        });
        differences.collect()
    }
}
