//! A server to start: `manager_fixture [FAULT]` plays `mcp-testkit`'s standard script over stdio, correctly or with a
//! fault. Tests of processes start it, and so can you to see a manager at work.

use mcp_testkit::{Fault, Script, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = Server::new(Script::standard());
    if let Some(fault) = std::env::args().nth(1) {
        let fault = Fault::named(&fault).ok_or_else(|| format!("there is no fault {fault}"))?;
        server = server.with_fault(fault);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(server.serve_stdio())?;
    // Not a return: a pending read of standard input must not keep the process alive.
    std::process::exit(code)
}
