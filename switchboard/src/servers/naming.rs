//! Names and order of servers.

use mcp_manager::ServerName;

use super::ad_hoc::is_url;
use crate::exit::{Exit, Failure};
use crate::store::Server;

/// Checks a server's name.
pub(crate) fn check_name(name: &str) -> Result<(), Failure> {
    let checked = ServerName::new(name);
    checked.map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
    if is_url(name) {
        let text = "a server's name is not its URL: the name comes first";
        return Err(Failure::new(Exit::Other, text));
    }
    Ok(())
}

/// The sort position after all others.
pub(crate) fn next_place(rows: &[Server]) -> i64 {
    let last = rows.iter().map(|row| row.sort.saturating_add(1)).max();
    last.unwrap_or_default()
}
