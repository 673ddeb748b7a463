//! The system's browser.

use std::io;

/// Opens a page in the system's browser, which outlives us.
pub(crate) fn open(url: &str) -> io::Result<()> {
    // Started in the ordinary way it would be our child, and end with us: we adopt orphans.
    #[cfg(unix)]
    return mcp_transport::spawn_detached(&open::commands(url));
    #[cfg(not(unix))]
    return open::that_detached(url);
}
