//! Flags of `servers add` and `servers edit`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mcp_sandbox::{HostRule, InvalidHost, Network};

use crate::exit::{Exit, Failure};
use crate::servers::sandbox::Wish;
use crate::servers::{
    Kind, PlainSecrets, answer, keep_all, keep_answer, split_header, stored_value,
};
use crate::store::{EnvPolicy, Server, ServerKind, StoredValue};

/// Settings of a server.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Settings {
    /// Set an environment variable: NAME=VALUE, NAME=env:VARIABLE, or NAME for one's own of that
    /// name; may be repeated
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Send a header: 'NAME: VALUE', or 'NAME: env:VARIABLE'; may be repeated
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Answer a question of an imported file; may be repeated
    #[arg(long = "input", value_name = "ID=VALUE")]
    inputs: Vec<String>,
    /// Transport of a server with a URL
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<Kind>,
    /// Start the program in this folder
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,
    /// Idle timeout of its calls in seconds, reset by progress reports; 0 restores the default
    #[arg(long, value_name = "SECONDS")]
    idle_timeout: Option<u64>,
    /// Which environment variables the program inherits
    #[arg(long, value_enum, value_name = "POLICY")]
    env_policy: Option<Policy>,
    /// Whether it accepts parallel calls
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    parallel: Option<bool>,
    /// Whether its tools are always offered to the model, however many there are
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    always_load: Option<bool>,
    #[command(flatten)]
    containment: Containment,
    /// Store secrets as plain text instead of in the keyring
    #[arg(long)]
    plain: bool,
}

/// What a program may do.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Containment {
    /// Start the program in a sandbox: strict, suggested, a profile as JSON or a file with one; or off
    #[arg(long, value_name = "PROFILE")]
    sandbox: Option<String>,
    /// Let the contained program read a file or folder; may be repeated
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// Let the contained program change a file or folder; may be repeated
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Let the contained program connect to a host, as in example.com or *.example.com:443, or to all;
    /// may be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Whether it starts even if this machine cannot enforce all of its sandbox
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    weaker: Option<bool>,
}

/// Which environment variables a program inherits.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Policy {
    /// All of it
    Inherit,
    /// What programs need, without keys and tokens
    Safe,
    /// Nothing
    None,
}

impl Settings {
    /// Sets what was given, in place of what is stored.
    pub(super) async fn apply(
        &self,
        row: &mut Server,
        stored: Option<&Server>,
    ) -> Result<(), Failure> {
        let plain = PlainSecrets::allowed_if(self.plain);
        for pair in &self.env {
            let (name, value) = match pair.split_once('=') {
                Some((name, value)) => (name, stored_value(value)),
                None => (pair.as_str(), StoredValue::Env(pair.clone())),
            };
            row.env.insert(name.to_owned(), value);
        }
        for header in &self.headers {
            let (name, value) = split_header(header)?;
            let value = stored_value(value);
            row.headers.insert(name.to_owned(), value);
        }
        for pair in &self.inputs {
            self.answer(row, pair, plain).await?;
        }
        if let Some(kind) = self.kind {
            row.kind = match (row.kind, kind) {
                (ServerKind::Stdio, _) => return Err(of_no_use("--type", "a URL")),
                (_, Kind::Http) => ServerKind::StreamableHttp,
                (_, Kind::Sse) => ServerKind::Sse,
                (_, Kind::Auto) => ServerKind::Auto,
            };
        }
        if row.kind == ServerKind::Stdio && !self.headers.is_empty() {
            return Err(of_no_use("--header", "a URL"));
        }
        if row.kind != ServerKind::Stdio && !self.env.is_empty() {
            return Err(of_no_use("--env", "a command"));
        }
        if let Some(folder) = &self.cwd {
            row.cwd = Some(folder.clone());
        }
        if let Some(seconds) = self.idle_timeout {
            row.timeout = (seconds > 0).then_some(seconds);
        }
        if let Some(policy) = self.env_policy {
            row.env_policy = match policy {
                Policy::Inherit => EnvPolicy::Inherit,
                Policy::Safe => EnvPolicy::Safe,
                Policy::None => EnvPolicy::None,
            };
        }
        self.containment.apply(row)?;
        row.parallel = self.parallel.unwrap_or(row.parallel);
        row.always_load = self.always_load.unwrap_or(row.always_load);
        Ok(keep_all(row, stored, plain).await?)
    }

    async fn answer(
        &self,
        row: &mut Server,
        pair: &str,
        plain: PlainSecrets,
    ) -> Result<(), Failure> {
        let Some((id, value)) = pair.split_once('=') else {
            return Err(Failure::new(
                Exit::Other,
                format!("{pair:?} is not ID=VALUE"),
            ));
        };
        let value = stored_value(value);
        let value = keep_answer(row, id, value, false, plain).await?;
        answer(row, id, value);
        Ok(())
    }
}

impl Containment {
    /// Sets what the program may do.
    pub(super) fn apply(&self, row: &mut Server) -> Result<(), Failure> {
        let unfit = |why: String| Failure::new(Exit::Other, why);
        if row.kind != ServerKind::Stdio {
            row.sandbox = None;
        }
        if let Some(text) = &self.sandbox {
            Wish::said(text)?.apply(row).map_err(unfit)?;
        }
        let allows = !(self.allow_read.is_empty()
            && self.allow_write.is_empty()
            && self.allow_host.is_empty()
            && self.weaker.is_none());
        if !allows {
            return Ok(());
        }
        let mut profile = row.sandbox.take().ok_or_else(|| {
            unfit("the server is in no sandbox, so it may do everything already".to_owned())
                .with_hint("Put it in one with `--sandbox suggested`.")
        })?;
        for (list, paths) in [
            (&mut profile.read, &self.allow_read),
            (&mut profile.write, &self.allow_write),
        ] {
            for path in paths {
                let path = absolute(path)?;
                if !list.contains(&path) {
                    list.push(path);
                }
            }
        }
        for host in &self.allow_host {
            profile.network = allowed(profile.network, host)?;
        }
        profile.may_be_weaker = self.weaker.unwrap_or(profile.may_be_weaker);
        Wish::Own(Box::new(profile)).apply(row).map_err(unfit)
    }
}

/// A path as a profile has it: one that begins with `~` stays.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    if path.starts_with("~") {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(|error| {
        Failure::new(Exit::Other, format!("{:?} is no path", path.display())).caused_by(error)
    })
}

/// A network with one more host.
fn allowed(network: Network, host: &str) -> Result<Network, Failure> {
    if host == "all" {
        return Ok(Network::All);
    }
    let rule: HostRule = host.parse().map_err(|error: InvalidHost| {
        Failure::new(Exit::Other, format!("--allow-host: {error}"))
    })?;
    Ok(match network {
        Network::Hosts(mut hosts) => {
            if !hosts.contains(&rule) {
                hosts.push(rule);
            }
            Network::Hosts(hosts)
        }
        Network::None => Network::Hosts(vec![rule]),
        all => all,
    })
}

fn of_no_use(flag: &str, needs: &str) -> Failure {
    Failure::new(Exit::Other, format!("{flag} is for servers with {needs}"))
}
