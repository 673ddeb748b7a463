//! Status of a server as the API shows it: nine states, and four coarse ones.

use mcp_manager::{ServerState, Status};
use serde::Serialize;

use crate::store::{Server, Trust};

/// Status of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerStatus {
    /// Its user switched it off.
    Disabled,
    /// It has not been approved yet.
    PendingTrust,
    Connecting,
    Connected,
    /// It is connected, but its lists are not available.
    Degraded,
    NeedsAuth,
    /// It was lost, and is being tried again.
    Reconnecting,
    /// Reconnecting was abandoned.
    Failed,
    /// It is started on first use.
    Idle,
}

impl ServerStatus {
    /// Combines a server's row and its state. An unused server has no state.
    pub(crate) fn of(row: &Server, state: Option<ServerState>) -> Self {
        if row.trust == Trust::Pending {
            return Self::PendingTrust;
        }
        if !row.is_active {
            return Self::Disabled;
        }
        match state {
            Some(ServerState::Pending | ServerState::Connecting) => Self::Connecting,
            Some(ServerState::Connected) => Self::Connected,
            Some(ServerState::Degraded) => Self::Degraded,
            Some(ServerState::NeedsAuth) => Self::NeedsAuth,
            Some(ServerState::Reconnecting) => Self::Reconnecting,
            Some(ServerState::Failed) => Self::Failed,
            // Closed by hand; the next use brings it back.
            _ => Self::Idle,
        }
    }

    /// The same as one of four coarse states.
    pub(crate) fn coarse(self) -> &'static str {
        let coarse = match self {
            Self::Connecting | Self::Reconnecting => Status::Connecting,
            Self::Connected | Self::Degraded => Status::Connected,
            Self::NeedsAuth | Self::Failed => Status::Error,
            Self::Disabled | Self::PendingTrust | Self::Idle => Status::Disconnected,
        };
        coarse.as_str()
    }

    /// Whether there is a problem to show to the user.
    pub(crate) fn is_trouble(self) -> bool {
        matches!(
            self,
            Self::NeedsAuth | Self::Failed | Self::Reconnecting | Self::Degraded
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{ServerKind, UserId};

    #[test]
    fn every_state_has_its_word_and_a_switch_or_a_missing_yes_comes_first() {
        let row = Server::new(UserId::local(), "files", ServerKind::Stdio);
        let describe = |row: &Server, state| {
            let status = ServerStatus::of(row, state);
            let word = serde_json::to_value(status).unwrap();
            format!("{} ({})", word.as_str().unwrap(), status.coarse())
        };
        let mut lines = vec![format!("unused: {}", describe(&row, None))];
        let states = ServerState::ALL.iter();
        lines.extend(states.map(|state| format!("{state}: {}", describe(&row, Some(*state)))));
        let mut off = row.clone();
        off.is_active = false;
        let working = Some(ServerState::Connected);
        lines.push(format!("switched off: {}", describe(&off, working)));
        off.trust = Trust::Pending;
        lines.push(format!("not approved yet: {}", describe(&off, working)));
        insta::assert_snapshot!(lines.join("\n"), @r"
        unused: idle (disconnected)
        disabled: idle (disconnected)
        pending: connecting (connecting)
        connecting: connecting (connecting)
        connected: connected (connected)
        degraded: degraded (connected)
        needs_auth: needs_auth (error)
        reconnecting: reconnecting (connecting)
        idle: idle (disconnected)
        failed: failed (error)
        switched off: disabled (disconnected)
        not approved yet: pending_trust (disconnected)
        ");
    }
}
