//! Import plan: a pure comparison of stored servers with those read from files.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_config::{ConfigFile, ConfigProblem, Dialect, Missing, Variable};
use mcp_manager::{Endpoint, RemoteEndpoint, RemoteKind, ServerCommand, ServerConfig};
use serde_json::{Value, json};

use super::line;
use super::place::{Place, Scope, usual};
use crate::servers::{CLAIMED, from_config, sandbox, shown_endpoint, to_config};
use crate::store::{EnvPolicy, Server, Trust, UserId};

/// What an import would do.
#[derive(Debug)]
pub(crate) struct Plan {
    user: UserId,
    pub(crate) items: Vec<Item>,
    /// What could not be read, each with its file.
    pub(crate) problems: Vec<(String, String)>,
}

/// What an import would do with one server.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) row: Server,
    /// Where it is from: with its name, that tells it from all others. Empty if it was pasted.
    pub(crate) from: String,
    /// Its whole program line or address, without secrets.
    pub(crate) endpoint: String,
    pub(crate) state: State,
    /// What else there is to know.
    pub(crate) note: String,
    /// What its file asks the user for.
    pub(crate) asks: Vec<Question>,
}

/// Something a file asks the user for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Question {
    /// What `${input:…}` names it by.
    pub(crate) id: String,
    /// What to ask.
    pub(crate) text: String,
    /// Whether the answer is a secret.
    pub(crate) secret: bool,
    /// The answers there are, if it is a choice.
    pub(crate) options: Vec<String>,
    /// The answer if there is no other.
    pub(crate) default: Option<String>,
}

/// How a server compares with those that are there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// There is none of its name.
    New,
    /// There is the same already.
    Same,
    /// There is another of its name.
    Conflict,
    /// It is new, and needs input.
    NeedsInput,
}

impl State {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "same",
            Self::Conflict => "conflict",
            Self::NeedsInput => "needs input",
        }
    }
}

impl Plan {
    /// For a user, of nothing yet.
    pub(crate) fn of(user: &UserId) -> Self {
        Self {
            user: user.clone(),
            items: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Of the servers of these files.
    pub(crate) fn read(user: &UserId, places: &[Place], stored: &[Server]) -> Self {
        let mut plan = Self::of(user);
        for place in places {
            match place.read() {
                Ok(text) => plan.add(place, &text, stored),
                Err(error) => {
                    let path = place.path.to_string_lossy().into_owned();
                    let problem = format!("it cannot be read: {error}");
                    plan.problems.push((path, problem));
                }
            }
        }
        plan
    }

    /// Of the servers that a project's files have and that were not imported. They are noticed, and
    /// nothing of them is stored or started.
    pub(crate) fn of_project(user: &UserId, folder: &Path, stored: &[Server]) -> Self {
        let mut places = usual(folder);
        places.retain(|place| place.scope == Scope::Project);
        let mut plan = Self::read(user, &places, stored);
        let is_new = |state| matches!(state, State::New | State::NeedsInput);
        plan.items.retain(|item| is_new(item.state));
        plan
    }

    /// Adds the servers of a file.
    pub(crate) fn add(&mut self, place: &Place, text: &str, stored: &[Server]) {
        let source = place.path.to_string_lossy().into_owned();
        let read = match &place.scope {
            Scope::UserForProject(folder) => ConfigFile::read_project(text, folder),
            _ => {
                let dialect = place
                    .dialect
                    .unwrap_or_else(|| Dialect::of(&place.path, text));
                ConfigFile::read(text, dialect).map(Some)
            }
        };
        let file = match read {
            // A bundle's program is beside its manifest.
            Ok(Some(file)) => match place.path.parent() {
                Some(folder) => file.in_folder(&folder.to_string_lossy()),
                None => file,
            },
            Ok(None) => return,
            Err(problem) => return self.problems.push((source, problem.to_string())),
        };
        // A file of settings that was found and has no servers is no fault.
        let found = place.dialect.is_some() && is_settings(place);
        let reported = |problem: &&ConfigProblem| !found || problem.place.path != "$";
        let problems = file.problems().iter().filter(reported);
        self.problems
            .extend(problems.map(|problem| (source.clone(), problem.to_string())));
        if file.servers().is_empty() && file.problems().is_empty() && place.dialect.is_none() {
            let problem = "it has no servers: expected \"mcpServers\" or \"servers\" with an entry";
            self.problems.push((source.clone(), problem.to_owned()));
        }
        self.add_all(&file, Some(&source), &place.scope, stored);
    }

    /// Adds the servers of a text that the user pasted: JSON of any program, with or without the
    /// outermost braces, Codex' TOML, or a line with an address or a command. Each problem names
    /// its server.
    pub(crate) fn paste(&mut self, text: &str, stored: &[Server]) {
        let text = text.trim();
        match line::read(text) {
            Some(Ok(config)) => return self.add_line(config, stored),
            Some(Err(problem)) => return self.problems.push((String::new(), problem)),
            None => {}
        }
        let read = match text.chars().next() {
            Some('"') => ConfigFile::read(&format!("{{{text}}}"), Dialect::Plain),
            _ => ConfigFile::read(text, Dialect::of_text(text)),
        };
        let describe = |problem: &ConfigProblem| {
            let server = problem.server.clone().unwrap_or_default();
            (server, problem.to_string())
        };
        match read {
            Ok(file) => {
                self.problems.extend(file.problems().iter().map(describe));
                self.add_all(&file, None, &Scope::User, stored);
            }
            Err(problem) => self.problems.push(describe(&problem)),
        }
    }

    /// Adds a server whose name is ours to choose: one that no other has.
    fn add_line(&mut self, config: ServerConfig, stored: &[Server]) {
        let mut item = self.item(&Scope::User, None, &config, stored);
        let name = item.row.name.clone();
        for number in 2..100 {
            if item.state != State::Conflict {
                break;
            }
            let Ok(other) = format!("{name}-{number}").parse() else {
                break;
            };
            let config = ServerConfig::new(other, config.endpoint().clone());
            item = self.item(&Scope::User, None, &config, stored);
        }
        self.items.push(item);
    }

    fn add_all(
        &mut self,
        file: &ConfigFile,
        source: Option<&str>,
        scope: &Scope,
        stored: &[Server],
    ) {
        let open = open_inputs(file);
        let from = match (source, scope) {
            // One file may have the user's own servers and those for one project.
            (Some(source), Scope::UserForProject(folder)) => format!("{source}, for {folder}"),
            (source, _) => source.unwrap_or_default().to_owned(),
        };
        for config in file.servers() {
            let mut item = self.item(scope, source, config, stored);
            item.from.clone_from(&from);
            let missing = open.iter().find(|(name, _)| name == config.name().as_str());
            if let (State::New, Some((_, ids))) = (item.state, missing) {
                item.state = State::NeedsInput;
                item.note = join(&item.note, &format!("asks for {}", ids.join(", ")));
                item.asks = ids.iter().map(|id| question(file, id)).collect();
            }
            self.items.push(item);
        }
    }

    fn item(
        &self,
        scope: &Scope,
        source: Option<&str>,
        config: &ServerConfig,
        stored: &[Server],
    ) -> Item {
        let mut row = from_config(&self.user, config);
        if *scope == Scope::Project && row.env_policy == EnvPolicy::Inherit {
            // A project's file cannot choose that.
            row.env_policy = EnvPolicy::Safe;
        }
        let mut note = String::new();
        let claimed = std::mem::take(&mut row.auto_approve_tools);
        if !claimed.is_empty() {
            note = format!("its file approves {}, which is ignored", claimed.join(", "));
            let mut extra = row.extra.as_object().cloned().unwrap_or_default();
            extra.insert(CLAIMED.to_owned(), json!(claimed));
            row.extra = Value::Object(extra);
        }
        if !row.env.is_empty() {
            // They decide what a program does, like its arguments.
            let names: Vec<&str> = row.env.keys().map(String::as_str).collect();
            note = join(&note, &format!("sets {}", names.join(", ")));
        }
        note = join(&note, &sandbox::note(&row));
        if *scope == Scope::Project {
            row.trust = Trust::Pending;
            note = join(&note, "from a project: must be enabled before it starts");
        }
        row.source = source.map(str::to_owned);
        let mut here = self.items.iter().map(|item| &item.row).chain(stored);
        let state = match here.rfind(|other| other.name == row.name) {
            None => State::New,
            Some(other) if same(other, &row) => State::Same,
            Some(other) => {
                let from = other.source.as_deref().unwrap_or("your own");
                note = join(&note, &format!("differs from the one of {from}"));
                State::Conflict
            }
        };
        Item {
            row,
            from: String::new(),
            endpoint: shown_endpoint(config),
            state,
            note,
            asks: Vec::new(),
        }
    }
}

/// What a file says about one of its questions. One that says nothing may be about a secret.
fn question(file: &ConfigFile, id: &str) -> Question {
    let input = file.inputs().iter().find(|input| input.id == id);
    let text = input.and_then(|input| input.description.clone());
    Question {
        id: id.to_owned(),
        text: text.unwrap_or_else(|| id.to_owned()),
        secret: input.is_none_or(|input| input.password),
        options: input
            .and_then(|input| input.options.clone())
            .unwrap_or_default(),
        default: input.and_then(|input| input.default.clone()),
    }
}

/// Files of settings, most of which have no servers.
fn is_settings(place: &Place) -> bool {
    const SETTINGS: [&str; 7] = [
        "settings.json",
        "config.toml",
        ".claude.json",
        "config.yaml",
        "librechat.yaml",
        "opencode.json",
        "opencode.jsonc",
    ];
    let name = place.path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| SETTINGS.contains(&name))
}

fn join(one: &str, other: &str) -> String {
    match (one, other) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("{one}; {other}"),
    }
}

/// Whether two rows reach the same server in the same way. Secrets that went to the keyring cannot
/// be compared and count as equal; so do a transport that is found out by trying and one that is
/// named, and a variable that is set to itself and one that is passed on.
fn same(stored: &Server, new: &Server) -> bool {
    let (Ok(stored), Ok(new)) = (to_config(stored), to_config(new)) else {
        return false;
    };
    match (stored.endpoint(), new.endpoint()) {
        (Endpoint::Stdio(a), Endpoint::Stdio(b)) => {
            let args = a.args().len() == b.args().len()
                && a.args()
                    .iter()
                    .zip(b.args())
                    .all(|(a, b)| alike(a.expose(), b.expose()));
            args && a.program() == b.program()
                && (a.cwd(), stored.env_file()) == (b.cwd(), new.env_file())
                && all_alike(&environment(a), &environment(b))
        }
        (Endpoint::Remote(a), Endpoint::Remote(b)) => {
            let kinds = [a.kind(), b.kind()];
            let headers = |remote: &RemoteEndpoint| -> BTreeMap<String, String> {
                let headers = remote.headers().iter();
                headers
                    .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                    .collect()
            };
            (a.kind() == b.kind() || kinds.contains(&RemoteKind::Auto))
                && alike(a.url().expose(), b.url().expose())
                && all_alike(&headers(a), &headers(b))
        }
        _ => false,
    }
}

/// The variables of a program, those that are passed on as themselves.
fn environment(stdio: &ServerCommand) -> BTreeMap<String, String> {
    let own = |name: &str| (name.to_owned(), format!("${{env:{name}}}"));
    let passed = stdio.inherited().map(own);
    let set = stdio.env().iter();
    let set = set.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    passed.chain(set).collect()
}

fn all_alike(stored: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> bool {
    stored.len() == new.len()
        && stored
            .iter()
            .zip(new)
            .all(|((a, stored), (b, new))| a == b && alike(stored, new))
}

/// Whether a stored text may be this one: what the keyring holds of it may be anything.
fn alike(stored: &str, new: &str) -> bool {
    let Some((before, rest)) = stored.split_once("${keyring:") else {
        return stored == new;
    };
    let after = rest.split_once('}').map_or("", |(_, after)| after);
    let after = after.rsplit_once('}').map_or(after, |(_, last)| last);
    new.starts_with(before) && new.ends_with(after)
}

/// Per server, what its file asks the user for.
fn open_inputs(file: &ConfigFile) -> Vec<(String, Vec<String>)> {
    // Whatever is not asked for has some value, this time.
    let some = |variable: Variable<'_>| match variable {
        Variable::Input(_) => None,
        _ => Some(String::new()),
    };
    let unresolved = file.resolve(&some).unresolved.into_iter();
    unresolved
        .map(|server| {
            let ids = server.missing.iter().filter_map(|missing| match missing {
                Missing::Input { id } => Some(id.clone()),
                _ => None,
            });
            (server.server.to_string(), ids.collect::<Vec<_>>())
        })
        .filter(|(_, ids)| !ids.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(scope: Scope) -> Place {
        Place {
            path: "/there/claude_desktop_config.json".into(),
            dialect: Some(Dialect::ClaudeDesktop),
            scope,
        }
    }

    fn states(plan: &Plan) -> Vec<(&str, State)> {
        let items = plan.items.iter();
        items
            .map(|item| (item.row.name.as_str(), item.state))
            .collect()
    }

    const FILE: &str = r#"{"mcpServers": {
        "a": {"command": "run", "args": ["${input:key}"]},
        "b": {"command": "run", "env": {"K": "v"}, "autoApprove": ["wipe"]},
        "odd": {"args": []}
    }}"#;

    #[test]
    fn one_broken_entry_stops_no_other() {
        let mut plan = Plan::of(&UserId::local());
        plan.add(&place(Scope::User), FILE, &[]);
        assert_eq!(states(&plan), [("a", State::NeedsInput), ("b", State::New)]);
        let [(file, problem)] = plan.problems.as_slice() else {
            panic!("{:?}", plan.problems);
        };
        assert!(file.ends_with("claude_desktop_config.json"));
        assert!(
            problem.contains("\"odd\"") && problem.contains("line 4"),
            "{problem}"
        );
    }

    #[test]
    fn what_is_there_already_is_the_same_and_what_differs_is_a_conflict() {
        let mut plan = Plan::of(&UserId::local());
        plan.add(&place(Scope::User), FILE, &[]);
        let stored: Vec<Server> = plan.items.into_iter().map(|item| item.row).collect();
        let mut again = Plan::of(&UserId::local());
        again.add(&place(Scope::User), FILE, &stored);
        assert_eq!(states(&again), [("a", State::Same), ("b", State::Same)]);
        let mut other = Plan::of(&UserId::local());
        other.add(
            &place(Scope::User),
            r#"{"b": {"command": "walk"}}"#,
            &stored,
        );
        assert_eq!(states(&other), [("b", State::Conflict)]);
    }

    #[test]
    fn no_file_approves_tools_and_no_project_starts_programs() {
        let mut plan = Plan::of(&UserId::local());
        plan.add(&place(Scope::Project), FILE, &[]);
        for item in &plan.items {
            assert_eq!(item.row.trust, Trust::Pending);
            assert!(item.row.auto_approve_tools.is_empty());
        }
        assert_eq!(plan.items[1].row.extra[CLAIMED], json!(["wipe"]));
    }

    #[test]
    fn what_is_pasted_may_be_a_file_a_piece_of_one_or_toml() {
        let check = |text: &str, want: &[(&str, State)], problems: usize| {
            let mut plan = Plan::of(&UserId::local());
            plan.paste(text, &[]);
            assert_eq!(states(&plan), want, "{text}");
            assert_eq!(plan.problems.len(), problems, "{:?}", plan.problems);
            for item in &plan.items {
                assert_eq!((&item.row.source, item.row.trust), (&None, Trust::Allowed));
            }
        };
        let both = [("a", State::NeedsInput), ("b", State::New)];
        check(FILE, &both, 1);
        check(
            "\"files\": {\"command\": \"run\"}",
            &[("files", State::New)],
            0,
        );
        check(
            "// mine\n{\"servers\": {\"web\": {\"url\": \"https://example.com/mcp\"}}}",
            &[("web", State::New)],
            0,
        );
        check(
            "[mcp_servers.cx]\ncommand = \"run\"\n",
            &[("cx", State::New)],
            0,
        );
        check("nothing of the kind", &[], 1);
        check("{\"mcpServers\": {", &[], 1);
    }
}
