//! What a gateway serves: its servers, its policy and its callers, as the store or a file has them at
//! one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use agent_loop::{Mode, Pattern, Policy};
use mcp_gateway::{Profile, Upstream};
use mcp_manager::ServerConfig;
use tool_policy::ScanPolicy;

use super::install::is_gateway;
use super::records::{Kind, Records};
use super::token::{OWNER, Token};
use crate::conversation::Decided;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::servers::doctor::{Finding, Problem};
use crate::servers::{Host, of_file, pending, reach, scan};
use crate::setup::{find_assistant, mode as approval_mode, named_mode};
use crate::store::{
    Assistant, ConversationId, Server, ServerId, Store, ToolSelection, Trust, UserId,
};

/// What was asked for when the gateway was started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// Its servers are those of this file.
    pub(crate) config: Option<PathBuf>,
    /// Only these.
    pub(crate) servers: Vec<String>,
    /// Only this assistant's.
    pub(crate) assistant: Option<String>,
    pub(crate) approve: Option<Mode>,
    pub(crate) no_prefix: bool,
    /// The prefixes of servers that have one of their own.
    pub(crate) prefixes: BTreeMap<String, String>,
    /// The tools of servers of which not all are served.
    pub(crate) tools: Tools,
}

/// Tools by server.
pub(crate) type Tools = BTreeMap<String, BTreeSet<String>>;

/// What tells whether anything has changed, without a look into the keyring.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    file: Option<(SystemTime, u64)>,
    rows: Vec<Server>,
    assistants: Vec<(Assistant, Vec<ServerId>)>,
    tokens: BTreeMap<String, Token>,
    approve: Option<String>,
    scan: ScanPolicy,
}

/// What to serve.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) configs: Vec<ServerConfig>,
    /// What cannot be served, by name.
    pub(crate) findings: Vec<(String, Finding)>,
    pub(crate) mode: Mode,
    pub(crate) tokens: BTreeMap<String, Token>,
    /// The modes of callers that have their own.
    pub(crate) modes: BTreeMap<String, Mode>,
    /// The profile of each caller; the owner's is also that of callers without a name.
    pub(crate) profiles: BTreeMap<String, Arc<Profile>>,
}

impl Source {
    /// A look at what there is.
    pub(crate) async fn look(&self, store: &dyn Store) -> Result<Seen, Failure> {
        let user = UserId::local();
        let file = self.config.as_ref().and_then(|file| {
            let found = std::fs::metadata(file).ok()?;
            Some((found.modified().ok()?, found.len()))
        });
        let mut rows = store.servers(&user).await?;
        for row in &mut rows {
            // How it was last reached is no setting.
            (row.last_error, row.transport_seen) = (None, None);
        }
        let mut assistants = Vec::new();
        for assistant in store.assistants(&user).await? {
            let servers = store.assistant_servers(&assistant.id).await?;
            assistants.push((assistant, servers));
        }
        let settings = home::settings(store, &user).await?;
        let approve = settings.get("approve").map(ToString::to_string);
        let tokens = Records::read(store).await?.all(Kind::Token);
        Ok(Seen {
            file,
            rows,
            assistants,
            tokens,
            approve,
            scan: scan::policy(&settings),
        })
    }

    /// What to serve, given that.
    pub(crate) async fn read(&self, store: &dyn Store, seen: &Seen) -> Result<Served, Failure> {
        let user = UserId::local();
        let settings = home::settings(store, &user).await?;
        let own = find_assistant(store, &user, self.assistant.as_deref()).await?;
        let mode = approval_mode(self.approve, own.as_ref(), &settings)?;
        let own_servers = own
            .as_ref()
            .and_then(|own| seen.servers_of(own.id.as_str()));
        let mut profiles = BTreeMap::new();
        let mut modes = BTreeMap::new();
        let mut wanted = own_servers.clone();
        let own_tools = [&self.tools];
        profiles.insert(OWNER.to_owned(), profile(own_servers.clone(), &own_tools));
        for (name, token) in &seen.tokens {
            let assistant = token.assistant.as_deref();
            let servers = match assistant {
                None => own_servers.clone(),
                // One whose assistant is gone has nothing, rather than everything.
                Some(id) if !seen.has_assistant(id) => Some(BTreeSet::new()),
                Some(id) => seen.servers_of(id),
            };
            wanted = match (wanted, &servers) {
                (Some(wanted), Some(more)) => Some(wanted.union(more).cloned().collect()),
                _ => None,
            };
            let tools = [&self.tools, &token.tools];
            profiles.insert(name.clone(), profile(servers, &tools));
            let of_assistant = assistant.and_then(|id| seen.mode_of(id));
            if let Some(own) = token.approve.clone().or(of_assistant) {
                modes.insert(name.clone(), named_mode(&own)?);
            }
        }
        let (mut configs, mut findings) = self.configs(seen).await?;
        let is_wanted = |name: &str| {
            let named = self.servers.is_empty() || self.servers.iter().any(|it| it == name);
            named && wanted.as_ref().is_none_or(|wanted| wanted.contains(name))
        };
        configs.retain(|config| is_wanted(config.name().as_str()));
        findings.retain(|(name, _)| is_wanted(name));
        Ok(Served {
            configs,
            findings,
            mode,
            tokens: seen.tokens.clone(),
            modes,
            profiles,
        })
    }

    /// All servers that are switched on, and what is wrong with the others.
    async fn configs(
        &self,
        seen: &Seen,
    ) -> Result<(Vec<ServerConfig>, Vec<(String, Finding)>), Failure> {
        let (mut configs, mut findings) = (Vec::new(), Vec::new());
        if let Some(file) = &self.config {
            let chosen = of_file(file)?;
            configs.extend(chosen.servers.into_iter().map(|(config, _)| config));
            findings = chosen.findings;
        } else {
            for row in seen.rows.iter().filter(|row| row.is_active) {
                let ready = match row.trust {
                    Trust::Pending => Err(pending(row)),
                    Trust::Allowed | Trust::Trusted => reach(row, Host::Allowed).await,
                };
                match ready {
                    Ok(config) => configs.push(config.enabled()),
                    Err(finding) => findings.push((row.name.clone(), finding)),
                }
            }
        }
        // It would start itself, and that itself again.
        let (own, others) = configs.into_iter().partition(is_gateway);
        let own: Vec<ServerConfig> = own;
        findings.extend(own.iter().map(|config| {
            let finding = Finding::new(
                Problem::BadConfig,
                "it is a gateway of this program, which would start itself".to_owned(),
                format!(
                    "Remove it with `switchboard servers remove {}`.",
                    config.name()
                ),
            );
            (config.name().to_string(), finding)
        }));
        Ok((others, findings))
    }

    /// Fails if a server that was named is not there.
    pub(crate) fn check(&self, served: &Served) -> Result<(), Failure> {
        let known = served.configs.iter().map(|config| config.name().as_str());
        let failed = served.findings.iter().map(|(name, _)| name.as_str());
        let known: BTreeSet<&str> = known.chain(failed).collect();
        match self
            .servers
            .iter()
            .find(|name| !known.contains(name.as_str()))
        {
            None => Ok(()),
            Some(name) => {
                let text = format!("there is no server {name:?} that is switched on");
                let failure = Failure::new(Exit::Other, text);
                Err(failure.with_hint("`switchboard servers` lists them."))
            }
        }
    }

    /// The servers that cannot be served, and the reasons.
    pub(crate) fn missing(served: &Served) -> Vec<(String, String)> {
        let findings = served.findings.iter();
        findings
            .map(|(name, finding)| (name.clone(), finding.message.clone()))
            .collect()
    }

    /// The servers for the gateway.
    pub(crate) fn upstreams(&self, served: &Served) -> Vec<Upstream> {
        let upstreams = served.configs.iter().map(|config| {
            let upstream = Upstream::new(config.clone());
            match self.prefixes.get(config.name().as_str()) {
                Some(prefix) => upstream.with_prefix(prefix),
                None if self.no_prefix => upstream.with_prefix(""),
                None => upstream,
            }
        });
        upstreams.collect()
    }
}

impl Seen {
    /// The names of an assistant's servers; `None` if it has all.
    fn servers_of(&self, id: &str) -> Option<BTreeSet<String>> {
        let mut assistants = self.assistants.iter();
        let (assistant, ids) = assistants.find(|(it, _)| it.id.as_str() == id)?;
        match assistant.tool_selection {
            ToolSelection::Off => Some(BTreeSet::new()),
            ToolSelection::Manual => {
                let rows = self.rows.iter().filter(|row| ids.contains(&row.id));
                Some(rows.map(|row| row.name.clone()).collect())
            }
            _ => None,
        }
    }

    fn has_assistant(&self, id: &str) -> bool {
        self.assistants.iter().any(|(it, _)| it.id.as_str() == id)
    }

    fn mode_of(&self, id: &str) -> Option<String> {
        let mut assistants = self.assistants.iter();
        let (assistant, _) = assistants.find(|(it, _)| it.id.as_str() == id)?;
        assistant.approval_mode.clone()
    }
}

impl Served {
    /// The lasting decisions of the user, where the mode decides about the rest. What the user
    /// allowed is for the owner; what the user denied, for everyone.
    pub(crate) async fn policy(&self, store: &dyn Store) -> Result<Policy, Failure> {
        let user = UserId::local();
        let rows: Vec<Server> = store.servers(&user).await?;
        let decided = Decided::read(store, &user).await?;
        // Decisions for one conversation are not for the gateway's clients.
        let settings = home::settings(store, &user).await?;
        let mut policy = decided
            .policy(self.mode, &rows, &ConversationId::fresh())
            .with_scan(scan::policy(&settings));
        for (caller, mode) in &self.modes {
            policy = policy.with_mode_for(Pattern::exact(caller), *mode);
        }
        Ok(policy)
    }
}

/// A profile of these servers, where all of these lists allow a tool.
fn profile(servers: Option<BTreeSet<String>>, tools: &[&Tools]) -> Arc<Profile> {
    let mut profile = Profile::default();
    if let Some(servers) = servers {
        profile = profile.with_servers(servers);
    }
    let mut allowed = Tools::new();
    for (server, tools) in tools.iter().copied().flatten() {
        allowed
            .entry(server.clone())
            .and_modify(|known| known.retain(|tool| tools.contains(tool)))
            .or_insert_with(|| tools.clone());
    }
    for (server, tools) in allowed {
        profile = profile.with_tools(server, tools);
    }
    Arc::new(profile)
}
