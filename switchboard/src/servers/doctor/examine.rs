//! Examination of a reachable server.

use std::time::Duration;

use mcp_manager::{
    Endpoint, Listing, Manager, RemoteEndpoint, RemoteKind, ServerConfig, ServerName,
};
use serde_json::{Value, json};

use super::finding::{Finding, Problem};
use crate::servers::{ServerLog, sandbox, scan, transport};
use crate::store::UserId;

/// Signs of an attack that are shown.
const MAX_SUSPICIOUS: usize = 20;
/// What a server was denied that is shown.
const MAX_DENIALS: usize = 10;

/// What was seen of a server.
#[derive(Debug)]
pub(crate) struct Examination {
    pub(crate) name: String,
    /// How it was reached and what it says about itself; nothing if it could not be reached.
    pub(crate) seen: Option<Seen>,
    pub(crate) findings: Vec<Finding>,
}

/// What a server that answers is like.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) endpoint: String,
    /// What it calls itself, with its version.
    pub(crate) calls_itself: Option<String>,
    pub(crate) revision: Option<&'static str>,
    /// How it is spoken to.
    pub(crate) transport: Option<&'static str>,
    pub(crate) took: Duration,
    pub(crate) tools: usize,
    pub(crate) tokens: usize,
    pub(crate) prompts: usize,
    pub(crate) resources: usize,
}

/// Examines a connected server of a user. A startup slower than `slow` is reported.
pub(crate) fn examine(
    user: &UserId,
    manager: &Manager,
    server: &ServerName,
    took: Duration,
    slow: Duration,
) -> Examination {
    let listing = manager.catalog().listing(server).cloned();
    let listing = listing.unwrap_or_else(|| Listing::new(server.clone()).into());
    let info = manager.server(server.as_str());
    let client = manager.client(server.as_str());
    let facts = info
        .as_ref()
        .and_then(|info| info.facts.clone())
        .unwrap_or_default();
    let seen = Seen {
        endpoint: info
            .as_ref()
            .map(|info| info.config.endpoint().to_string())
            .unwrap_or_default(),
        calls_itself: facts
            .info
            .map(|info| format!("{} {}", info.name, info.version)),
        revision: facts.revision.map(|revision| revision.as_str()),
        transport: client.map(|client| transport(client.transport_kind())),
        took,
        tools: listing.tools().len(),
        tokens: listing.tools().iter().map(|tool| tool.tokens()).sum(),
        prompts: listing.prompts().len(),
        resources: listing.resources().len() + listing.resource_templates().len(),
    };
    let mut findings = Vec::new();
    if seen.tools == 0 {
        let what = match (seen.prompts, seen.resources) {
            (0, 0) => "nothing at all".to_owned(),
            (prompts, resources) => format!("{prompts} prompts and {resources} resources only"),
        };
        findings.push(Finding::new(
            Problem::NoTools,
            format!("it is connected but offers no tools: it has {what}"),
            "Some servers offer tools only with a key or certain arguments: see its documentation \
             and `switchboard servers logs`.",
        ));
    }
    findings.extend(listing.problems().iter().map(|problem| {
        let advice = "This is a fault of the server: report it to its makers.";
        Finding::new(Problem::BadListing, problem.to_string(), advice)
    }));
    if seen.took > slow {
        findings.push(Finding::new(
            Problem::SlowStart,
            format!("it took {:.1} s to get ready", seen.took.as_secs_f64()),
            slow_advice(info.as_ref().map(|info| info.config.endpoint())),
        ));
    }
    findings.extend(suspicious(manager, server));
    if let Some(config) = info.map(|info| info.config) {
        findings.extend(contained(user, &config));
        findings.extend(unknown_words(&config));
    }
    Examination {
        name: server.to_string(),
        seen: Some(seen),
        findings,
    }
}

/// Signs of an attack in what it says.
fn suspicious(manager: &Manager, server: &ServerName) -> impl Iterator<Item = Finding> {
    let found = scan::of_server(manager, server).into_iter();
    let name = server.to_string();
    found.take(MAX_SUSPICIOUS).map(move |(tool, finding)| {
        let advice = match &tool {
            Some(tool) => format!(
                "Read it with `switchboard tool show {name} {tool:?}`; `switchboard tool deny {name} \
                 {tool:?}` keeps it from being called."
            ),
            None => "Read what the server's makers say about it before you use it.".to_owned(),
        };
        let message = format!("{}: {finding}", scan::place(tool.as_deref()));
        Finding::new(Problem::Suspicious, message, advice)
    })
}

/// What a contained server was denied, and what of its sandbox does not hold here.
fn contained(user: &UserId, config: &ServerConfig) -> Vec<Finding> {
    let Some(profile) = config.sandbox() else {
        return Vec::new();
    };
    let name = config.name().as_str();
    let denied = sandbox::denied(&ServerLog::of_config(user, config)).into_iter();
    let denied = denied.take(MAX_DENIALS).map(|denial| {
        let advice = sandbox::advice(name, &denial);
        let message = format!("it {}, which its sandbox denies", denial.wanted);
        Finding::new(Problem::SandboxDenied, message, advice)
    });
    let profile = sandbox::parse(profile).ok();
    let missing = profile.map(|profile| sandbox::not_contained(&profile));
    let missing = missing.into_iter().flatten().map(|missing| {
        let message = format!("not contained on this machine: {missing}");
        let advice =
            "It was agreed that the server starts all the same (`mayLack`, `mayBeWeaker`).";
        Finding::new(Problem::SandboxWeaker, message, advice)
    });
    denied.chain(missing).collect()
}

/// What to do about a slow start: it depends on what is started.
fn slow_advice(endpoint: Option<&Endpoint>) -> &'static str {
    match endpoint {
        Some(Endpoint::Stdio(stdio)) if is_launcher(stdio.program()) => {
            "Launchers like npx and uvx fetch packages at every start: install the server, and \
             give its own program as the command."
        }
        Some(Endpoint::Stdio(_)) => {
            "Run its command by hand to see what takes the time; `switchboard servers logs` has \
             what it wrote."
        }
        _ => "Is the server far away, or does it sleep between visits?",
    }
}

/// Whether a program fetches another one and starts it.
fn is_launcher(program: &str) -> bool {
    let name = std::path::Path::new(program).file_stem();
    let name = name.map(|name| name.to_string_lossy().to_lowercase());
    let launchers = [
        "npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "docker", "podman",
        "deno",
    ];
    name.is_some_and(|name| launchers.contains(&name.as_str()))
}

/// Unknown members of an entry are often typos.
fn unknown_words(config: &ServerConfig) -> Option<Finding> {
    let words: Vec<&str> = config.extra().keys().map(String::as_str).collect();
    let likely = words.iter().filter(|word| misspelt(word)).copied();
    let likely: Vec<&str> = likely.collect();
    (!likely.is_empty()).then(|| {
        Finding::new(
            Problem::UnknownWords,
            format!("its entry says {}, which means nothing", likely.join(", ")),
            "Is it misspelt? Known are command, args, env, cwd, url, type, headers, timeout, \
             disabled.",
        )
    })
}

/// Whether a word looks like a known one with one or two letters wrong.
fn misspelt(word: &str) -> bool {
    let known = [
        "command", "args", "env", "cwd", "url", "type", "headers", "timeout", "disabled",
    ];
    let word = word.to_ascii_lowercase();
    let wrong = |known: &&str| distance(known, &word);
    let fewest = known.iter().map(wrong).min().unwrap_or(usize::MAX);
    fewest > 0 && fewest <= (word.len() / 3).min(2)
}

/// How many letters must be put in, taken out or replaced to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut next = vec![at + 1];
        for ((other, above), aslant) in to.chars().zip(row.iter().skip(1)).zip(&row) {
            let left = next.last().copied().unwrap_or_default();
            let replaced = aslant + usize::from(letter != other);
            next.push(replaced.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// Whether a remote server that could not be reached would be by another transport.
pub(crate) async fn other_transport(manager: &Manager, config: &ServerConfig) -> Option<Finding> {
    let Endpoint::Remote(remote) = config.endpoint() else {
        return None;
    };
    for (kind, word) in [
        (RemoteKind::StreamableHttp, "http"),
        (RemoteKind::Sse, "sse"),
    ] {
        if kind == remote.kind() {
            continue;
        }
        let endpoint: RemoteEndpoint = remote.clone().with_kind(kind);
        let trial = ServerConfig::remote(config.name().clone(), endpoint);
        if manager.test_connection(trial).await.is_ok() {
            return Some(Finding::new(
                Problem::WrongTransport,
                format!(
                    "it does not speak the transport it is configured with, but it does speak {word}"
                ),
                format!(
                    "Set that: `switchboard servers edit {} --type {word}`.",
                    config.name()
                ),
            ));
        }
    }
    None
}

impl Examination {
    /// A server that could not be reached.
    pub(crate) fn failed(name: &str, finding: Finding) -> Self {
        Self {
            name: name.to_owned(),
            seen: None,
            findings: vec![finding],
        }
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_well(&self) -> bool {
        self.findings.is_empty()
    }

    pub(crate) fn to_json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Finding::to_json).collect();
        let mut report = json!({
            "server": self.name,
            "connected": self.seen.is_some(),
            "findings": findings,
        });
        if let (Some(seen), Some(report)) = (&self.seen, report.as_object_mut()) {
            report.insert("endpoint".to_owned(), json!(seen.endpoint));
            report.insert("calls_itself".to_owned(), json!(seen.calls_itself));
            report.insert("protocol".to_owned(), json!(seen.revision));
            report.insert("ms".to_owned(), json!(seen.took.as_millis() as u64));
            report.insert("tools".to_owned(), json!(seen.tools));
            report.insert("tokens".to_owned(), json!(seen.tokens));
            report.insert("prompts".to_owned(), json!(seen.prompts));
            report.insert("resources".to_owned(), json!(seen.resources));
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_launcher_is_blamed_for_fetching_packages() {
        let advice = |program: &str| {
            let stdio = mcp_manager::ServerCommand::new(program);
            slow_advice(Some(&Endpoint::Stdio(stdio)))
        };
        for launcher in ["npx", "/usr/bin/uvx", "npx.cmd"] {
            assert!(advice(launcher).contains("npx"), "{launcher}");
        }
        for program in ["/opt/server", "python3", "npx-like"] {
            assert!(!advice(program).contains("npx"), "{program}");
        }
    }

    #[test]
    fn a_misspelt_word_is_noticed_and_a_strange_one_is_not() {
        for word in ["comand", "arg", "Header", "timeuot", "disable"] {
            assert!(misspelt(word), "{word}");
        }
        for word in ["command", "description", "icon", "gallery", "oauth"] {
            assert!(!misspelt(word), "{word}");
        }
    }
}
