//! What an installation would do: the whole command, its variables, files and sandbox. Pure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_config::{ConfigFile, Input, Variable};
use mcp_manager::{Endpoint, ServerConfig};
use mcp_transport::Secret;

use super::find::{Found, Program, What};
use super::place::folder_of;
use super::question::default_values;
use crate::exit::{Exit, Failure};
use crate::servers::sandbox::Wish;
use crate::servers::shown_endpoint;
use crate::servers::{answer, check_name, from_config};
use crate::store::{EnvPolicy, Server, ServerId, ServerKind, StoredValue, Timestamp, UserId};

/// The values of inputs, by their ids.
pub(crate) type Answers = BTreeMap<String, Vec<StoredValue>>;

/// What an installation would do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The server as it would be stored. Its secrets are not kept yet.
    pub(crate) row: Server,
    /// The whole command or address, with the answers in it and without secrets.
    pub(crate) command: String,
    /// The variables or headers it is given, without secrets.
    pub(crate) values: Vec<(String, String)>,
    /// How many files a bundle would unpack, and how many bytes, and where.
    pub(crate) files: Option<(usize, u64, PathBuf)>,
    /// The tools that a bundle says it has; nothing is known before a package was started.
    pub(crate) tools: Option<Vec<String>>,
    /// What else there is to know.
    pub(crate) notes: Vec<String>,
    /// Those inputs whose answers are secrets.
    pub(super) secrets: Vec<String>,
    pub(super) found: Found,
}

impl Plan {
    /// Of something that was found. It is called so, or else by its own name; `before` is what it replaces.
    pub(crate) fn new(
        found: Found,
        name: Option<&str>,
        answers: &Answers,
        rows: &[Server],
        before: Option<&Server>,
        user: &UserId,
    ) -> Result<Self, Failure> {
        let refused = |why: String| Failure::new(Exit::Other, why);
        let answers = completed(&found.inputs, answers)?;
        let id = before.map_or_else(ServerId::fresh, |before| before.id.clone());
        let folder = found.installed.folder.as_deref();
        let folder = folder.map(|folder| folder_of(user, &id, folder));
        let count = |input: &Input| answers.get(&input.id).map_or(0, Vec::len);
        let config = match &found.what {
            What::Offer(file, at) => file.config(*at, &count).map_err(refused)?,
            What::Bundle(program) => of_bundle(program, folder.as_deref(), &count)?,
        };
        let mut row = from_config(user, &config);
        row.id = id;
        row.installed = Some(found.installed.clone());
        row.source = found.installed.registry.clone();
        for (id, values) in &answers {
            for (at, value) in values.iter().enumerate() {
                answer(&mut row, &Input::answer_id(id, at), value.clone());
            }
        }
        row.name = called(name, &row.name, rows, before)?;
        if let Some(folder) = &folder {
            row.cwd = Some(folder.to_string_lossy().into_owned());
            row.env_policy = EnvPolicy::Safe;
            Wish::Suggested.apply(&mut row).map_err(refused)?;
        }
        if let Some(before) = before {
            row = merged(before, row);
        }
        let mut notes = found.notes.clone();
        notes.extend(twins(&row, rows));
        let secrets: Vec<String> = found
            .inputs
            .iter()
            .filter(|it| it.password)
            .map(|it| it.id.clone())
            .collect();
        let (command, values) = shown(&config, &answers, &secrets);
        let (files, tools) = match (&found.what, folder) {
            (What::Bundle(program), Some(folder)) => {
                let tools = program.manifest.tools.iter().map(|tool| tool.name.clone());
                let files = (program.bundle.files(), program.bundle.bytes, folder);
                (Some(files), Some(tools.collect()))
            }
            _ => (None, None),
        };
        Ok(Self {
            row,
            command,
            values,
            files,
            tools,
            notes,
            secrets,
            found,
        })
    }
}

impl Plan {
    /// What the server says it is.
    pub(crate) fn description(&self) -> Option<&str> {
        self.found.description.as_deref()
    }
}

/// The answers there are, with defaults in place of those that are missing.
fn completed(inputs: &[Input], answers: &Answers) -> Result<Answers, Failure> {
    let mut all = Answers::new();
    let mut missing = Vec::new();
    for input in inputs {
        let values = match answers.get(&input.id) {
            Some(values) => values.clone(),
            None => default_values(input),
        };
        match values.is_empty() {
            true if input.required => missing.push(input),
            true => {}
            false => {
                all.insert(input.id.clone(), values);
            }
        }
    }
    if let Some(unknown) = answers
        .keys()
        .find(|id| !inputs.iter().any(|it| it.id == **id))
    {
        let failure = Failure::new(
            Exit::Other,
            format!("nothing is asked for by the name {unknown:?}"),
        );
        let names: Vec<&str> = inputs.iter().map(|input| input.id.as_str()).collect();
        return Err(failure.with_hint(match names.is_empty() {
            true => "It asks for nothing.".to_owned(),
            false => format!("It asks for {}.", names.join(", ")),
        }));
    }
    match missing.is_empty() {
        true => Ok(all),
        false => {
            let asked = missing.iter().map(|input| match &input.description {
                Some(text) => format!("\n  --input {}=…  {text}", input.id),
                None => format!("\n  --input {}=…", input.id),
            });
            let text = "the server needs values that were not given";
            let hint = format!("Give them:{}", asked.collect::<String>());
            Err(Failure::new(Exit::Other, text).with_hint(hint))
        }
    }
}

/// How the program of a bundle is started in its folder.
fn of_bundle(
    program: &Program,
    folder: Option<&Path>,
    count: &dyn Fn(&Input) -> usize,
) -> Result<ServerConfig, Failure> {
    let folder = folder.unwrap_or(Path::new("")).to_string_lossy();
    let file = program.file.clone().with_values(count).in_folder(&folder);
    let config = file.servers().first().cloned();
    config.ok_or_else(|| Failure::new(Exit::Other, "the bundle starts no server"))
}

/// A name that no other server has.
fn called(
    wanted: Option<&str>,
    own: &str,
    rows: &[Server],
    before: Option<&Server>,
) -> Result<String, Failure> {
    if let Some(before) = before {
        return Ok(before.name.clone());
    }
    let taken = |name: &str| rows.iter().any(|row| row.name == name);
    if let Some(name) = wanted {
        check_name(name)?;
        return match taken(name) {
            false => Ok(name.to_owned()),
            true => {
                let failure =
                    Failure::new(Exit::Other, format!("there is a server {name:?} already"));
                Err(failure.with_hint("Take another name with --name."))
            }
        };
    }
    let mut names = (2..1000).map(|number| format!("{own}-{number}"));
    let free = match taken(own) {
        false => Some(own.to_owned()),
        true => names.find(|name| !taken(name)),
    };
    free.ok_or_else(|| Failure::new(Exit::Other, format!("there are too many servers {own:?}")))
}

/// A server as an update leaves it: what its user set stays, and what comes with the server is the new one's.
pub(crate) fn merged(before: &Server, planned: Server) -> Server {
    let mut row = before.clone();
    let folders = (row.cwd.take(), planned.cwd.clone());
    row.kind = planned.kind;
    row.command = planned.command;
    row.args = planned.args;
    row.base_url = planned.base_url;
    row.cwd = planned.cwd;
    row.extra = planned.extra;
    row.source = planned.source;
    row.installed = planned.installed;
    row.last_error = None;
    row.updated_at = Timestamp::now();
    let of_inputs = |value: &StoredValue| matches!(value, StoredValue::Plain(text) if text.contains("${input:"));
    for (mine, new) in [
        (&mut row.env, planned.env),
        (&mut row.headers, planned.headers),
    ] {
        // Those of inputs come anew; others may be the user's.
        mine.retain(|_, value| !of_inputs(value));
        mine.extend(new);
    }
    row.plain_values = row
        .env
        .values()
        .chain(row.headers.values())
        .any(StoredValue::is_plain);
    row.sandbox = match (row.sandbox.take(), planned.sandbox, folders) {
        _ if row.kind != ServerKind::Stdio => None,
        (Some(mut profile), Some(_), (Some(old), Some(new))) => {
            for path in profile.read.iter_mut().chain(&mut profile.write) {
                if let Ok(inner) = path.strip_prefix(&old) {
                    *path = Path::new(&new).join(inner).components().collect();
                }
            }
            Some(profile)
        }
        (mine, ..) => mine,
    };
    row.changed_from(before);
    row
}

/// Other servers from the same place.
fn twins(row: &Server, rows: &[Server]) -> Vec<String> {
    let name = |row: &Server| {
        row.installed
            .as_ref()
            .map(|it| (it.name.clone(), it.registry.clone()))
    };
    let twins = rows
        .iter()
        .filter(|other| other.id != row.id && name(other) == name(row));
    let shown = twins.map(|other| format!("{:?} is installed from it, too", other.name));
    shown.collect()
}

/// A command with its answers, and its variables or headers. Secrets are named.
fn shown(
    config: &ServerConfig,
    answers: &Answers,
    secrets: &[String],
) -> (String, Vec<(String, String)>) {
    let value = |variable: Variable<'_>| {
        Some(match variable {
            Variable::Input(id) => {
                let (name, at) = id.split_once('#').unwrap_or((id, "1"));
                let at = at.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
                let value = answers.get(name).and_then(|values| values.get(at?));
                match value {
                    Some(StoredValue::Plain(text))
                        if secrets.iter().any(|it| it == name)
                            || mcp_config::is_secret(name, text) =>
                    {
                        format!("<{name}>")
                    }
                    Some(StoredValue::Plain(text)) => text.clone(),
                    Some(reference) => format!("<{reference}>"),
                    None => format!("<{id}>"),
                }
            }
            Variable::Env(name) | Variable::Host(name) | Variable::Other(name) => {
                format!("${{{name}}}")
            }
            _ => "${…}".to_owned(),
        })
    };
    let resolved = ConfigFile::new()
        .with_server(config.clone())
        .resolve(&value);
    let filled = resolved.servers.first().unwrap_or(config);
    let written = pairs(config);
    let values = pairs(filled).into_iter().map(|(name, text)| {
        // What the server itself says, and not its user.
        let own = written.get(&name).is_some_and(|text| !text.contains("${"));
        match own && mcp_config::is_secret(&name, &text) {
            true => (name, "…".to_owned()),
            false => (name, text),
        }
    });
    (shown_endpoint(filled), values.collect())
}

/// The variables or headers of a server.
fn pairs(config: &ServerConfig) -> BTreeMap<String, String> {
    let pair = |(name, value): (&String, &Secret)| (name.clone(), value.expose().to_owned());
    match config.endpoint() {
        Endpoint::Stdio(command) => command.env().iter().map(pair).collect(),
        Endpoint::Remote(remote) => remote.headers().iter().map(pair).collect(),
        _ => BTreeMap::new(),
    }
}
