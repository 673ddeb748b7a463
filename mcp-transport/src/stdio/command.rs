//! The command that starts a server: program, arguments, environment, directory.

mod display;
mod environment;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Secret;

/// The command that starts a server: a program with its arguments, environment and directory.
///
/// ```
/// use mcp_transport::ServerCommand;
///
/// let command = ServerCommand::new("npx")
///     .with_args(["-y", "some-server", "--api-key", "k-123"])
///     .with_env("REGION", "eu")
///     .with_inherited("GITHUB_TOKEN");
/// assert_eq!(command.to_string(), "npx -y some-server --api-key …");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerCommand {
    program: String,
    args: Vec<Secret>,
    cwd: Option<PathBuf>,
    env: BTreeMap<String, Secret>,
    inherited: BTreeSet<String>,
    policy: EnvPolicy,
}

/// The policy for passing the host's environment variables to a server.
///
/// Regardless of the policy, variables set with [`ServerCommand::with_env`] take precedence, and those named with
/// [`ServerCommand::with_inherited`] are passed on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum EnvPolicy {
    /// All but secrets. A variable counts as a secret if its name ends in `_API_KEY`, `_APIKEY`, `_TOKEN`, `_SECRET`,
    /// `_SECRET_KEY`, `_ACCESS_KEY`, `_PRIVATE_KEY`, `_PASSWORD`, `_PASSPHRASE` or `_CREDENTIALS`, or is one of these
    /// words alone. That covers the keys of all common model providers (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
    /// `GEMINI_API_KEY`, …) and hosts (`GITHUB_TOKEN`, `HF_TOKEN`, `AWS_SECRET_ACCESS_KEY`, …).
    #[default]
    Inherit,
    /// Only what programs need to work: `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `TERM`, `TMPDIR`, `TZ`, `LANG`,
    /// `LC_*`, and their equivalents on Windows.
    Safe,
    /// No variables.
    None,
}

impl ServerCommand {
    /// Creates a command for a program: a name to search for, or a path.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            inherited: BTreeSet::new(),
            policy: EnvPolicy::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(Secret::new(arg));
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn with_args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Secret::new));
        self
    }

    /// Sets the working directory. A relative program path is resolved against it.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets an environment variable. It overrides an inherited one.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), Secret::new(value));
        self
    }

    /// Passes on one of the host's variables, if it is set, regardless of the policy.
    #[must_use]
    pub fn with_inherited(mut self, name: impl Into<String>) -> Self {
        self.inherited.insert(name.into());
        self
    }

    /// Sets the policy for the host's other variables.
    #[must_use]
    pub fn with_env_policy(mut self, policy: EnvPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The program as configured.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The working directory, if one is set.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// The server's environment for this environment of the host, sorted by name.
    pub fn environment(
        &self,
        host: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        environment::compose(self, host)
    }

    /// The arguments.
    pub fn args(&self) -> &[Secret] {
        &self.args
    }

    /// The variables set with [`with_env`](Self::with_env).
    pub fn env(&self) -> &BTreeMap<String, Secret> {
        &self.env
    }

    /// The host's variables that are passed on regardless of the policy.
    pub fn inherited(&self) -> impl Iterator<Item = &str> {
        self.inherited.iter().map(String::as_str)
    }

    /// The policy for the host's other variables.
    pub fn env_policy(&self) -> EnvPolicy {
        self.policy
    }
}
