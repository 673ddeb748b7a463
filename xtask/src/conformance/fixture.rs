//! The servers that the suites judge: started when they are first needed, ended with us.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use super::scenario::Via;
use crate::shell::command;

const SERVER: &str = "target/debug/examples/conformance_server";
const GATEWAY: &str = "target/debug/examples/conformance_gateway";

/// The server itself, and gateways before servers of one era.
pub(super) struct Servers {
    direct: Fixture,
    via: [(Via, Fixture, Fixture); 2],
    /// Before the servers of both.
    both: Fixture,
}

impl Servers {
    pub(super) fn new() -> Self {
        let via = |via| (via, Fixture::new(SERVER), Fixture::new(GATEWAY));
        Self {
            direct: Fixture::new(SERVER),
            via: [via(Via::Legacy), via(Via::Modern)],
            both: Fixture::new(GATEWAY),
        }
    }

    /// The URL to judge.
    pub(super) fn url(&mut self, wanted: Via) -> Result<String, String> {
        if wanted == Via::Both {
            let mut urls = Vec::new();
            for (via, server, _) in &mut self.via {
                urls.push(server.url(&["--era", via.word()])?);
            }
            let urls = urls.iter().flat_map(|url| ["--upstream", url]);
            return self.both.url(&urls.collect::<Vec<_>>());
        }
        let found = self.via.iter_mut().find(|(via, ..)| *via == wanted);
        let Some((via, server, gateway)) = found else {
            return self.direct.url(&[]);
        };
        let upstream = server.url(&["--era", via.word()])?;
        gateway.url(&["--upstream", &upstream])
    }
}

/// A program that prints its URL once it accepts connections.
struct Fixture {
    program: &'static str,
    running: Option<(Child, String)>,
}

impl Fixture {
    fn new(program: &'static str) -> Self {
        Self {
            program,
            running: None,
        }
    }

    /// Its URL. It is started again if it has ended.
    fn url(&mut self, arguments: &[&str]) -> Result<String, String> {
        if let Some((child, url)) = &mut self.running
            && child.try_wait().is_ok_and(|ended| ended.is_none())
        {
            return Ok(url.clone());
        }
        let mut child = command(self.program, &["--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("could not start {}: {error}", self.program))?;
        let mut url = String::new();
        if let Some(output) = child.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut url);
        }
        let url = url.trim().to_owned();
        self.running = Some((child, url.clone()));
        match url.is_empty() {
            true => Err(format!(
                "{} ended before it accepted connections",
                self.program
            )),
            false => Ok(url),
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
