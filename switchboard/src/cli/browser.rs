//! The system's browser.

use std::io;

/// Opens a page in the system's browser, which outlives this process.
pub(crate) fn open(url: &str) -> io::Result<()> {
    // As an ordinary child it would be killed on exit, because this process is a subreaper.
    #[cfg(unix)]
    return mcp_transport::spawn_detached(&open::commands(url));
    #[cfg(not(unix))]
    return open::that_detached(url);
}
