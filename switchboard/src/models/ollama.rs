//! Is there an Ollama on this machine?

use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A local server answers at once or is not there.
const PATIENCE: Duration = Duration::from_millis(300);
const ANSWER_BYTES: u64 = 1 << 20;
const PORT: u16 = 11_434;

/// The models of an Ollama on this machine, or none. `host` is what `OLLAMA_HOST` says; addresses
/// of other machines are not asked.
pub async fn ollama_models(host: Option<&str>) -> Vec<String> {
    let Some(address) = local(host.unwrap_or_default()) else {
        return Vec::new();
    };
    let asked = timeout(PATIENCE, ask(&address)).await;
    asked.ok().flatten().unwrap_or_default()
}

/// The address, if it is one of this machine.
fn local(host: &str) -> Option<String> {
    let host = host.strip_prefix("http://").unwrap_or(host);
    let host = host.trim_end_matches('/');
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, port.parse().ok()?),
        None => (host, PORT),
    };
    match name {
        "" | "0.0.0.0" | "127.0.0.1" | "localhost" => Some(format!("127.0.0.1:{port}")),
        _ => None,
    }
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
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET /api/tags HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream
        .take(ANSWER_BYTES)
        .read_to_end(&mut answer)
        .await
        .ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    let tags: Tags = serde_json::from_str(body)
        .ok()
        .filter(|_| status == "200")?;
    Some(tags.models.into_iter().map(|tag| tag.name).collect())
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
    async fn where_nobody_listens_there_are_no_models() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        drop(listener);
        assert_eq!(ollama_models(Some(&host)).await, Vec::<String>::new());
    }
}
