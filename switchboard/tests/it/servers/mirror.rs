//! A registry on this machine, with the API that the official one publishes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

/// What it answers, by the whole path; and what it was asked.
#[derive(Default)]
struct Shelf {
    answers: BTreeMap<String, Vec<u8>>,
    asked: Vec<String>,
}

/// A registry that runs until the test ends.
pub(crate) struct Mirror {
    pub(crate) base: String,
    shelf: Arc<Mutex<Shelf>>,
}

impl Mirror {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let shelf = Arc::<Mutex<Shelf>>::default();
        let of_thread = Arc::clone(&shelf);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serve(stream, &of_thread);
            }
        });
        Self { base, shelf }
    }

    /// Puts an answer there.
    pub(crate) fn put(&self, path: &str, body: impl Into<Vec<u8>>) {
        self.shelf
            .lock()
            .answers
            .insert(path.to_owned(), body.into());
    }

    /// Publishes a server as its latest version, and under its version.
    pub(crate) fn publish(&self, server: &Value) {
        let answer = entry(server, "active").to_string();
        let name = server["name"].as_str().unwrap().replace('/', "%2F");
        for version in ["latest", server["version"].as_str().unwrap()] {
            self.put(
                &format!("/v0.1/servers/{name}/versions/{version}"),
                answer.clone(),
            );
        }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.shelf.lock().asked)
    }
}

/// A server as the registry answers with it.
pub(crate) fn entry(server: &Value, status: &str) -> Value {
    json!({
        "server": server,
        "_meta": {"io.modelcontextprotocol.registry/official": {
            "status": status,
            "publishedAt": "2025-12-01T10:30:00Z",
            "isLatest": true,
        }},
    })
}

/// A description of a server with these packages.
pub(crate) fn server(name: &str, version: &str, packages: Value) -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": name,
        "description": "A server",
        "version": version,
        "packages": packages,
    })
}

fn serve(stream: TcpStream, shelf: &Mutex<Shelf>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let answer = {
        let mut shelf = shelf.lock();
        shelf.asked.push(path.clone());
        shelf.answers.get(&path).cloned()
    };
    let status = if answer.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let body = answer.unwrap_or_else(|| br#"{"error": "Server not found"}"#.to_vec());
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}
