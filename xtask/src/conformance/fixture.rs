//! The server that the suites judge: started when it is first needed, ended with us.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::shell::command;

/// A program that prints its URL once it accepts connections.
pub(super) struct Fixture {
    program: &'static str,
    running: Option<(Child, String)>,
}

impl Fixture {
    pub(super) fn new(program: &'static str) -> Self {
        Self {
            program,
            running: None,
        }
    }

    /// Its URL. It is started again if it has ended.
    pub(super) fn url(&mut self) -> Result<String, String> {
        if let Some((child, url)) = &mut self.running
            && child.try_wait().is_ok_and(|ended| ended.is_none())
        {
            return Ok(url.clone());
        }
        let mut child = command(self.program, &["--port", "0"])
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
