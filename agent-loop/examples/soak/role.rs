//! The servers of the soak, and their kinds of misbehaviour.

use std::time::Duration;

use mcp_manager::{RemoteEndpoint, RemoteKind, ServerCommand, ServerConfig};

/// One server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) name: &'static str,
    pub(crate) reach: Reach,
    pub(crate) manner: Manner,
}

/// The server's transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// A child process of the manager.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// The server's behaviour.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Manner {
    /// Behaves well, in both eras.
    Calm,
    /// Behaves well, in the legacy era.
    Legacy,
    /// Behaves well, in the modern era.
    Modern,
    /// Writes log lines and stray JSON to standard output between its messages.
    Garbled,
    /// Announces twenty times per call that its tools changed, and logs as much.
    Storming,
    /// Reports progress thirty times per call.
    Chatty,
    /// Has a tool that every call redefines.
    Changing,
    /// Asks the user during calls; in the modern era the question can wait.
    Asking,
    /// The same, on a live connection.
    AskingLive,
    /// Turns its calls into tasks.
    Jobs,
    /// Ends only when killed.
    Deaf,
    /// Crashes in the middle of every twelfth call, before or after it has acted.
    Crashing,
    /// Acts and never answers.
    Hanging,
    /// Needs seconds to start, and crashes now and then.
    Slow,
    /// Crashes every few seconds and returns.
    Mortal,
    /// Forgets its sessions.
    Forgetful,
    /// Cuts all connections now and then.
    Cutting,
    /// Is down for seconds, then back on its port.
    Away,
}

const fn role(name: &'static str, reach: Reach, manner: Manner) -> Role {
    Role {
        name,
        reach,
        manner,
    }
}

/// All roles.
pub(crate) const ROLES: &[Role] = &[
    role("calm", Reach::Stdio, Manner::Calm),
    role("calm-legacy", Reach::Stdio, Manner::Legacy),
    role("calm-modern", Reach::Stdio, Manner::Modern),
    role("garbled", Reach::Stdio, Manner::Garbled),
    role("storming", Reach::Stdio, Manner::Storming),
    role("chatty", Reach::Stdio, Manner::Chatty),
    role("changing", Reach::Stdio, Manner::Changing),
    role("asking", Reach::Stdio, Manner::Asking),
    role("asking-live", Reach::Stdio, Manner::AskingLive),
    role("jobs", Reach::Stdio, Manner::Jobs),
    role("deaf", Reach::Stdio, Manner::Deaf),
    role("crashing", Reach::Stdio, Manner::Crashing),
    role("hanging", Reach::Stdio, Manner::Hanging),
    role("slow", Reach::Stdio, Manner::Slow),
    role("mortal", Reach::Stdio, Manner::Mortal),
    role("http-calm", Reach::Http, Manner::Calm),
    role("http-forgetful", Reach::Http, Manner::Forgetful),
    role("http-cutting", Reach::Http, Manner::Cutting),
    role("http-away", Reach::Http, Manner::Away),
    role("sse-cutting", Reach::Sse, Manner::Cutting),
];

impl Role {
    pub(crate) fn named(name: &str) -> Option<Self> {
        ROLES.iter().copied().find(|role| role.name == name)
    }

    /// Whether every call that reaches it is answered, whatever else it does.
    pub(crate) fn is_steady(self) -> bool {
        !matches!(
            self.manner,
            Manner::Crashing
                | Manner::Hanging
                | Manner::Slow
                | Manner::Mortal
                | Manner::Forgetful
                | Manner::Cutting
                | Manner::Away
        )
    }

    /// Its configuration: one of our programs, or the server at `url`.
    pub(crate) fn config(
        self,
        program: &str,
        folder: &str,
        url: Option<&str>,
    ) -> Result<ServerConfig, Box<dyn std::error::Error>> {
        let name = self.name.parse()?;
        let remote = |kind| {
            let url = url.ok_or_else(|| format!("{} has no address", self.name))?;
            Ok::<_, String>(RemoteEndpoint::new(url).with_kind(kind))
        };
        let config = match self.reach {
            Reach::Stdio => {
                let args = ["serve", self.name, folder];
                ServerConfig::stdio(name, ServerCommand::new(program).with_args(args))
            }
            Reach::Http => ServerConfig::remote(name, remote(RemoteKind::StreamableHttp)?),
            Reach::Sse => ServerConfig::remote(name, remote(RemoteKind::Sse)?),
        };
        // A steady server never times out, however busy the machine is.
        let patience = if self.is_steady() { 60 } else { 3 };
        let config = config.with_call_idle_timeout(Duration::from_secs(patience));
        Ok(match self.manner {
            // One call at a time: others queue behind one that hangs or crashes.
            Manner::Hanging | Manner::Crashing | Manner::Deaf => config,
            _ => config.parallel().trusted(),
        })
    }
}
