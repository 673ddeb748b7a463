//! Which key is sent where, as a server sees it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Desk;

/// A model's endpoint that writes down what it is sent.
pub(super) struct Recorder {
    pub(super) url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    /// Says hello to everyone.
    pub(super) fn greeting() -> Self {
        Self::streaming(r#"{"content":"Hello."}"#)
    }

    /// Says nothing to anyone.
    pub(super) fn silent() -> Self {
        Self::streaming("{}")
    }

    /// Says this to everyone.
    pub(super) fn saying(text: &str) -> Self {
        Self::streaming(&serde_json::json!({ "content": text }).to_string())
    }

    fn streaming(delta: &str) -> Self {
        let piece = format!(
            r#"{{"id":"1","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":"stop"}}]}}"#
        );
        let body = format!("data: {piece}\n\ndata: [DONE]\n\n");
        Self::start(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Refuses everyone.
    pub(super) fn broken() -> Self {
        let head = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        Self::start(head.to_owned())
    }

    /// Sends everyone elsewhere.
    fn redirecting(url: &str) -> Self {
        Self::start(format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: {url}/chat/completions\r\n\
             Content-Length: 0\r\nConnection: close\r\n\r\n"
        ))
    }

    fn start(reply: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let asked = read(&mut reader);
                kept.lock().push(asked);
                reader.get_mut().write_all(reply.as_bytes()).unwrap();
            }
        });
        Self { url, heads }
    }

    /// Everything that was asked, head and body.
    pub(super) fn asked(&self) -> Vec<String> {
        self.heads.lock().clone()
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> String {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8_lossy(&body)
}

const KEYS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "hush-openai"),
    ("ANTHROPIC_API_KEY", "hush-anthropic"),
    ("MINE", "hush-mine"),
];

#[track_caller]
fn run(desk: &Desk, arguments: &[&str]) -> std::process::Output {
    desk.command(arguments).envs(KEYS).output().unwrap()
}

#[track_caller]
fn works(desk: &Desk, arguments: &[&str]) -> String {
    let output = run(desk, arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap() + &error
}

#[test]
fn a_providers_key_is_not_sent_to_another_address_whichever_way_it_is_given() {
    let ways: [fn(&Desk, &str); 4] = [
        |desk, url| drop(works(desk, &["run", "hi", "-m", "foo", "--base-url", url])),
        |desk, url| {
            drop(works(
                desk,
                &["run", "hi", "-m", "openai/gpt-5", "--base-url", url],
            ))
        },
        |desk, url| {
            works(desk, &["model", "set", "local/foo", "--base-url", url]);
            works(desk, &["run", "hi"]);
        },
        |desk, url| {
            // As the version before endpoints stored it.
            let raw = rusqlite::Connection::open(desk.home().join("switchboard.db")).unwrap();
            let set = "INSERT INTO settings (user_id, key, value, plain_secret)
                 VALUES ('local', ?, ?, 0)";
            let url = serde_json::json!(url).to_string();
            raw.execute(set, ["providers.openai.base_url", &url])
                .unwrap();
            raw.execute(set, ["model", "\"openai/local/foo\""]).unwrap();
            drop(raw);
            let shown = works(desk, &["run", "hi"]);
            assert!(shown.contains("is not sent there"), "a notice: {shown}");
            assert!(!works(desk, &["run", "hi"]).contains("is not sent there"));
        },
    ];
    for way in ways {
        let (desk, server) = (Desk::new(), Recorder::greeting());
        works(&desk, &["model", "list"]);
        way(&desk, &server.url);
        let asked = server.asked();
        assert!(!asked.is_empty());
        for request in asked {
            assert!(!request.contains("hush"), "{request}");
        }
    }
}

#[test]
fn a_provider_stays_what_it_is_when_another_address_is_set() {
    let (desk, server) = (Desk::new(), Recorder::greeting());
    works(
        &desk,
        &["model", "set", "local/foo", "--base-url", &server.url],
    );
    let list = works(&desk, &["config", "list"]);
    assert!(!list.contains("providers.openai"), "{list}");
    let shown = works(&desk, &["model", "set", "openai", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(shown.lines().next().unwrap()).unwrap();
    assert_eq!(shown["baseUrl"], serde_json::Value::Null, "{shown}");
    assert_eq!(shown["key"], "env:OPENAI_API_KEY");
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_key_that_was_given_for_an_address_is_sent_there_and_stays_behind_when_it_moves() {
    let (desk, first, second) = (Desk::new(), Recorder::greeting(), Recorder::greeting());
    let set = |url: &str, more: &[&str]| {
        let set = [
            "model",
            "set",
            "foo",
            "--endpoint",
            "mine",
            "--base-url",
            url,
        ];
        works(&desk, &[&set[..], more].concat())
    };
    set(&first.url, &["--key", "env:MINE"]);
    works(&desk, &["run", "hi"]);
    let asked = first.asked().pop().unwrap();
    assert!(asked.contains("Bearer hush-mine"), "{asked}");
    let moved = run(
        &desk,
        &["config", "set", "endpoints.mine.base_url", &second.url],
    );
    assert!(!moved.status.success(), "the key would go elsewhere");
    set(&second.url, &[]);
    works(&desk, &["run", "hi"]);
    let asked = second.asked().pop().unwrap();
    assert!(!asked.contains("hush"), "{asked}");
    let refused = run(
        &desk,
        &["config", "set", "providers.openai.base_url", &second.url],
    );
    assert!(!refused.status.success());
    let flag = [
        "run",
        "hi",
        "-m",
        "foo",
        "--base-url",
        &first.url,
        "--key",
        "env:MINE",
    ];
    works(&desk, &flag);
    assert!(first.asked().pop().unwrap().contains("Bearer hush-mine"));
}

#[test]
fn a_key_does_not_follow_a_redirect() {
    let (desk, elsewhere) = (Desk::new(), Recorder::greeting());
    let server = Recorder::redirecting(&elsewhere.url);
    let flag = [
        "run",
        "hi",
        "-m",
        "foo",
        "--base-url",
        &server.url,
        "--key",
        "env:MINE",
    ];
    assert!(!run(&desk, &flag).status.success());
    assert!(server.asked()[0].contains("Bearer hush-mine"));
    assert_eq!(elsewhere.asked().len(), 0);
}
