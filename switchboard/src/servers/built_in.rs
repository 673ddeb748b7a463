//! The demo server among a user's servers: there while the demo model answers and no server is
//! stored. A change of it stores it, and from then on it is a server like any other.

use crate::demo::{SERVER, this_program};
use crate::store::{EnvPolicy, Server, ServerId, ServerKind, Trust, UserId};

/// Where the demo server comes from, as long as it is not stored.
const SOURCE: &str = "built in";

/// The demo server as a row; nothing if this program cannot find itself.
pub(crate) fn built_in(user: &UserId) -> Option<Server> {
    let program = this_program().ok()?;
    let mut row = Server::new(user.clone(), SERVER, ServerKind::Stdio);
    row.id = ServerId::new(SERVER);
    row.command = Some(program.to_str()?.to_owned());
    row.args = vec!["demo-server".to_owned()];
    row.trust = Trust::Trusted;
    row.env_policy = EnvPolicy::Safe;
    row.source = Some(SOURCE.to_owned());
    Some(row)
}

/// Whether a row is the demo server that is not stored.
pub(crate) fn is_built_in(row: &Server) -> bool {
    row.id.as_str() == SERVER && row.source.as_deref() == Some(SOURCE)
}

/// Makes a row of the demo server one that can be stored.
pub(crate) fn make_own(row: &mut Server) {
    if is_built_in(row) {
        row.source = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::{demo, to_config};

    #[test]
    fn it_is_the_server_that_conversations_use() {
        let row = built_in(&UserId::local()).unwrap();
        let (shown, used) = (to_config(&row).unwrap(), demo().unwrap());
        assert_eq!(shown.identity(), used.identity());
        assert_eq!(shown.name(), used.name());
    }

    #[test]
    fn once_it_is_stored_it_is_like_any_other() {
        let mut row = built_in(&UserId::local()).unwrap();
        assert!(is_built_in(&row));
        make_own(&mut row);
        assert!(!is_built_in(&row));
    }
}
