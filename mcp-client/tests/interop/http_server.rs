//! A server that is reached over HTTP, in a process of the test's own.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use crate::installed::{MARK, script};

/// A running server; killed when dropped.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl HttpServer {
    /// Starts `server-everything`, and returns once it listens. Another program may snatch the
    /// free port that was found: then another is tried.
    pub(crate) fn everything(transport: &str) -> Self {
        (0..5)
            .find_map(|_| Self::try_everything(transport))
            .expect("the server should come to listen")
    }

    fn try_everything(transport: &str) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut child = Command::new("node")
            .args([&script("server-everything"), transport])
            .env("PORT", port.to_string())
            .env(MARK.0, MARK.1)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let server = Self { child, port };
        let (listens, heard) = mpsc::sync_channel(1);
        // Reads on to the end: a server whose stderr is full stands still.
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if line.ends_with(&format!("on port {port}")) {
                    let _ = listens.try_send(());
                }
            }
        });
        heard.recv().ok().map(|()| server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
