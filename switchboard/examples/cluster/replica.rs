//! A replica: a process of `switchboard serve`, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parking_lot::Mutex;
use serde_json::Value;

/// How long a request may take before it is tried elsewhere.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// One of the replicas, however often it is started.
pub(crate) struct Replica {
    home: std::path::PathBuf,
    database: String,
    lease: u64,
    running: Mutex<Option<Running>>,
}

struct Running {
    child: Child,
    port: u16,
    token: String,
    /// What the process calls itself in the database.
    process: String,
}

impl Replica {
    pub(crate) fn new(home: &Path, database: String, lease: u64) -> Self {
        Self {
            home: home.to_owned(),
            database,
            lease,
            running: Mutex::new(None),
        }
    }

    /// Starts the program beside this example's folder.
    pub(crate) fn start(&self) {
        let example = std::env::current_exe().unwrap();
        let folder = example.parent().and_then(Path::parent).unwrap();
        let mut child = Command::new(folder.join("switchboard"))
            .args([
                "serve",
                "--json",
                "--port",
                "0",
                "--database",
                &self.database,
            ])
            .args(["--lease-timeout", &self.lease.to_string()])
            .env("SWITCHBOARD_HOME", &self.home)
            .env("OLLAMA_HOST", "127.0.0.1:9")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let Ok(reported) = serde_json::from_str::<Value>(&line) else {
            // The database restarts just now: the next try will do.
            let _ = child.wait();
            return;
        };
        let link = reported["links"][0]["url"].as_str().unwrap();
        let (page, token) = link.split_once("/#token=").unwrap();
        let mut running = Running {
            child,
            port: page.rsplit(':').next().unwrap().parse().unwrap(),
            token: token.to_owned(),
            process: String::new(),
        };
        if let Some((_, report)) = running.ask("GET", "/readyz", None) {
            running.process = report["process"].as_str().unwrap_or_default().to_owned();
        }
        *self.running.lock() = Some(running);
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.lock().is_some()
    }

    /// `kill -9`. Returns what the process was called.
    pub(crate) fn kill(&self) -> String {
        let Some(mut running) = self.running.lock().take() else {
            return String::new();
        };
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        running.process.clone()
    }

    /// Ends as a service is ended. Returns what the process was called.
    pub(crate) fn terminate(&self) -> String {
        let Some(mut running) = self.running.lock().take() else {
            return String::new();
        };
        running.signal(Signal::SIGTERM);
        running.child.wait().unwrap();
        running.process.clone()
    }

    /// Stops or continues the process. Returns what it is called.
    pub(crate) fn signal(&self, signal: Signal) -> String {
        let running = self.running.lock();
        running.as_ref().map_or_else(String::new, |running| {
            running.signal(signal);
            running.process.clone()
        })
    }

    /// Asks it: `None` if it is not there or does not answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let target = {
            let running = self.running.lock();
            let running = running.as_ref()?;
            (running.port, running.token.clone())
        };
        request(target.0, &target.1, method, path, body)
    }

    /// A stream of its events after a number.
    pub(crate) fn events(&self, after: u64) -> Option<BufReader<TcpStream>> {
        let (port, token) = {
            let running = self.running.lock();
            let running = running.as_ref()?;
            (running.port, running.token.clone())
        };
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
        let head = format!(
            "GET /api/events HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Last-Event-ID: {after}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        Some(BufReader::new(stream))
    }
}

impl Running {
    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, signal).unwrap();
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        request(self.port, &self.token, method, path, body)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(
    port: u16,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Option<(u16, Value)> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT)).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    let (head, body) = reply.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_str(body).unwrap_or_else(|_| Value::from(body)),
    };
    Some((status, body))
}
