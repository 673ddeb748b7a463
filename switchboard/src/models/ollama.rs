//! Ollama: its address, and the models it has on this machine.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A local server answers at once or is not there.
const REPLY_TIMEOUT: Duration = Duration::from_millis(300);
const MAX_REPLY_BYTES: u64 = 1 << 20;
const PORT: u16 = 11_434;
/// The tokens that it gives a model by default.
const CONTEXT: u64 = 4_096;

/// The models of an Ollama on this machine, or none. `host` is the value of `OLLAMA_HOST`; other
/// machines are not asked.
pub async fn ollama_models(host: Option<&str>) -> Vec<String> {
    let Some(address) = local(host.unwrap_or_default()) else {
        return Vec::new();
    };
    let asked = timeout(REPLY_TIMEOUT, ask(&address)).await;
    asked.ok().flatten().unwrap_or_default()
}

/// The address, if it is on this machine and speaks plain HTTP.
fn local(host: &str) -> Option<String> {
    let (scheme, name, port) = parse(host);
    let is_local = matches!(name, "127.0.0.1" | "localhost") && scheme == "http";
    is_local.then(|| format!("127.0.0.1:{port}"))
}

/// The base URL of its Chat Completions API. `host` is the value of `OLLAMA_HOST`.
pub(super) fn base_url(host: &str) -> String {
    let (scheme, name, port) = parse(host);
    format!("{scheme}://{name}:{port}/v1")
}

/// Scheme, host and port, by Ollama's own rules: the port is 11434 unless a scheme is given.
fn parse(host: &str) -> (&str, &str, u16) {
    let host = host.trim();
    let (scheme, rest, usual) = match host.split_once("://") {
        Some(("https", rest)) => ("https", rest, 443),
        Some((_, rest)) => ("http", rest, 80),
        None => ("http", host, PORT),
    };
    let rest = rest.split('/').next().unwrap_or_default();
    let (name, port) = match rest.rsplit_once(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().unwrap_or(usual)),
        _ => (rest, usual),
    };
    match name {
        // What a server listens on is not where a client finds it.
        "" | "0.0.0.0" => (scheme, "127.0.0.1", port),
        name => (scheme, name, port),
    }
}

/// The context with which an Ollama runs this model, in tokens: that of the loaded model where it is on this machine and
/// reports it, or else what it gives every model. `variable` is the environment's. It cuts longer requests without a word,
/// whatever the model could take.
pub(crate) async fn context(model: &str, variable: impl Fn(&str) -> Option<String>) -> u64 {
    if let Some(address) = local(&variable("OLLAMA_HOST").unwrap_or_default()) {
        let asked = timeout(REPLY_TIMEOUT, loaded(&address, model)).await;
        if let Some(context) = asked.ok().flatten() {
            return context;
        }
    }
    let given = variable("OLLAMA_CONTEXT_LENGTH").and_then(|text| text.trim().parse().ok());
    given.filter(|context| *context > 0).unwrap_or(CONTEXT)
}

async fn loaded(address: &str, model: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Running {
        models: Vec<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        name: String,
        #[serde(default)]
        context_length: Option<u64>,
    }
    let running: Running = get(address, "/api/ps").await?;
    // A name without a tag is that of its latest version.
    let full = format!("{model}:latest");
    let is_it = |it: &Model| it.name == model || it.name == full;
    let found = running.models.into_iter().find(is_it)?;
    found.context_length.filter(|context| *context > 0)
}

async fn ask(address: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Tags {
        models: Vec<Tag>,
    }
    #[derive(Deserialize)]
    struct Tag {
        name: String,
    }
    let tags: Tags = get(address, "/api/tags").await?;
    Some(tags.models.into_iter().map(|tag| tag.name).collect())
}

async fn get<T: DeserializeOwned>(address: &str, path: &str) -> Option<T> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream
        .take(MAX_REPLY_BYTES)
        .read_to_end(&mut answer)
        .await
        .ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    serde_json::from_str(body).ok().filter(|_| status == "200")
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn only_this_machine_is_asked() {
        assert_eq!(local(""), Some("127.0.0.1:11434".to_owned()));
        assert_eq!(
            local("http://localhost:99/"),
            Some("127.0.0.1:99".to_owned())
        );
        assert_eq!(local("0.0.0.0"), Some("127.0.0.1:11434".to_owned()));
        assert_eq!(local("ollama.example.com:11434"), None);
        assert_eq!(local("https://localhost:11434"), None);
    }

    #[test]
    fn a_host_is_read_as_ollama_reads_it() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("127.0.0.1:9", "http://127.0.0.1:9/v1"),
            ("box:9/", "http://box:9/v1"),
            ("http://box", "http://box:80/v1"),
            ("https://box/", "https://box:443/v1"),
            ("[::1]:9", "http://[::1]:9/v1"),
            ("[::1]", "http://[::1]:11434/v1"),
        ] {
            assert_eq!(base_url(host), url, "{host}");
        }
    }

    #[tokio::test]
    async fn a_local_server_is_asked_for_its_models() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"GET /api/tags "));
            let body = r#"{"models":[{"name":"llama3.1:8b","size":1},{"name":"qwen3:4b"}]}"#;
            let answer = format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let (models, ()) = tokio::join!(ask(&host), serve);
        assert_eq!(models.unwrap(), ["llama3.1:8b", "qwen3:4b"]);
    }

    #[tokio::test]
    async fn the_context_is_the_loaded_models_or_what_every_model_gets() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let serve = async {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 512];
                let read = stream.read(&mut request).await.unwrap();
                assert!(request[..read].starts_with(b"GET /api/ps "));
                let body = r#"{"models":[{"name":"llama3.1:latest","context_length":32768}]}"#;
                let answer = format!("HTTP/1.0 200 OK\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        let at = |name: &str| (name == "OLLAMA_HOST").then(|| host.clone());
        let asks = async { (context("llama3.1", at).await, context("qwen3:4b", at).await) };
        let (contexts, ()) = tokio::join!(asks, serve);
        assert_eq!(contexts, (32_768, CONTEXT));
        let set = |name: &str| match name {
            "OLLAMA_HOST" => Some("box.example".to_owned()),
            _ => Some("16384".to_owned()),
        };
        assert_eq!(context("llama3.1", set).await, 16_384);
    }

    #[tokio::test]
    async fn where_no_one_listens_there_are_no_models() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        drop(listener);
        assert_eq!(ollama_models(Some(&host)).await, Vec::<String>::new());
    }
}
