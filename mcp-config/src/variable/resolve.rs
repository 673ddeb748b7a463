//! Resolution of servers' variables.

use std::fmt;

use mcp_transport::{Secret, ServerCommand};

use crate::file::ConfigFile;
use crate::server::ServerConfig;
use crate::server::endpoint::{Endpoint, RemoteEndpoint};
use crate::server::name::ServerName;
use crate::variable::{Variable, Variables, env_lines, expand};

/// The servers of a file with their variables replaced.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Resolved {
    /// The servers without missing variables.
    pub servers: Vec<ServerConfig>,
    /// The servers with missing variables.
    pub unresolved: Vec<Unresolved>,
}

/// A server with missing variables.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Unresolved {
    /// The server.
    pub server: ServerName,
    /// The missing variables, each once.
    pub missing: Vec<Missing>,
}

/// A missing variable of a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// The user's value of an input: see [`ConfigFile::inputs`] for the question.
    Input {
        /// The id in `${input:…}`.
        id: String,
    },
    /// A variable that has no value.
    Variable {
        /// The text between `${` and `}`.
        name: String,
    },
    /// A file whose content is a value, which could not be read.
    File {
        /// Its path.
        path: String,
    },
    /// A file of environment variables that could not be read.
    EnvFile {
        /// Its path.
        path: String,
    },
}

pub(crate) fn resolve(file: &ConfigFile, variables: &dyn Variables) -> Resolved {
    let mut resolved = Resolved::default();
    for server in &file.servers {
        let mut work = Work {
            variables,
            missing: Vec::new(),
        };
        let endpoint = match &server.endpoint {
            Endpoint::Stdio(command) => Endpoint::Stdio(work.command(command, server.env_file())),
            Endpoint::Remote(remote) => Endpoint::Remote(work.remote(remote)),
        };
        if work.missing.is_empty() {
            let server = server.clone();
            let identity = Some(server.identity());
            resolved.servers.push(ServerConfig {
                endpoint,
                env_file: None,
                identity,
                ..server
            });
        } else {
            resolved.unresolved.push(Unresolved {
                server: server.name.clone(),
                missing: work.missing,
            });
        }
    }
    resolved
}

/// Replaces every `${__dirname}` of a server with a folder.
pub(crate) fn put_folder(server: &mut ServerConfig, folder: &str) {
    // References in the folder's own name are literal.
    let folder = folder.replace("${", "${:-$}{");
    let put = |text: &str| text.replace("${__dirname}", &folder);
    match &mut server.endpoint {
        Endpoint::Stdio(command) => {
            let mut done = ServerCommand::new(put(command.program()))
                .with_args(command.args().iter().map(|arg| put(arg.expose())))
                .with_env_policy(command.env_policy());
            for name in command.inherited() {
                done = done.with_inherited(name);
            }
            for (name, value) in command.env() {
                done = done.with_env(name, put(value.expose()));
            }
            if let Some(cwd) = command.cwd() {
                done = done.with_cwd(put(&cwd.to_string_lossy()));
            }
            *command = done;
        }
        Endpoint::Remote(_) => {}
    }
}

struct Work<'a> {
    variables: &'a dyn Variables,
    missing: Vec<Missing>,
}

impl Work<'_> {
    fn command(&mut self, command: &ServerCommand, env_file: Option<&str>) -> ServerCommand {
        let mut done = ServerCommand::new(self.text(command.program()))
            .with_args(command.args().iter().map(|arg| self.text(arg.expose())))
            .with_env_policy(command.env_policy());
        for name in command.inherited() {
            done = done.with_inherited(name);
        }
        if let Some(cwd) = command.cwd() {
            done = done.with_cwd(self.text(&cwd.to_string_lossy()));
        }
        if let Some(path) = env_file {
            let path = self.text(path);
            match self.variables.env_file(&path) {
                Some(text) => {
                    for (name, value) in env_lines(&text) {
                        done = done.with_env(name, value);
                    }
                }
                None => self.want(Missing::EnvFile { path }),
            }
        }
        // Set last: the entry itself takes precedence over its file.
        for (name, value) in command.env() {
            done = done.with_env(name, self.text(value.expose()));
        }
        done
    }

    fn remote(&mut self, remote: &RemoteEndpoint) -> RemoteEndpoint {
        let mut done = remote.clone();
        done.url = self.secret(&remote.url);
        done.headers
            .values_mut()
            .for_each(|value| *value = self.secret(value));
        done
    }

    fn secret(&mut self, secret: &Secret) -> Secret {
        Secret::new(self.text(secret.expose()))
    }

    fn text(&mut self, text: &str) -> String {
        let mut wanted = Vec::new();
        let done = expand(text, self.variables, |variable| {
            wanted.push(match variable {
                Variable::Input(id) => Missing::Input { id: id.to_owned() },
                Variable::File(path) => Missing::File {
                    path: path.to_owned(),
                },
                Variable::Env(name) | Variable::Host(name) | Variable::Other(name) => {
                    let name = name.to_owned();
                    Missing::Variable { name }
                }
            });
        });
        wanted.into_iter().for_each(|missing| self.want(missing));
        done
    }

    fn want(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {:?} needs ", self.server.as_str())?;
        for (at, missing) in self.missing.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{missing}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { id } => write!(f, "an answer to the input {id:?}"),
            Self::Variable { name } => write!(f, "the variable {name:?}, which is not set"),
            Self::File { path } | Self::EnvFile { path } => {
                write!(f, "the file {path:?}, which cannot be read")
            }
        }
    }
}
