//! Replies of the four wires, copied from the provider-oracles kit; see `fixtures/README.md`.

use std::path::PathBuf;

use provider_adapters::{
    Adapter, Anthropic, Expected, Gemini, OpenAiChat, OpenAiResponses, Reply, ReplyEvent, Wire,
};

/// A reply as bytes, and the wire it came over.
pub(crate) struct Fixture {
    pub(crate) wire: Wire,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: serde_json::Value,
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures")
}

/// Every reply there is.
pub(crate) fn all() -> Vec<Fixture> {
    let folders = [
        ("anthropic", Wire::Anthropic),
        ("gemini", Wire::Gemini),
        ("openai-chat", Wire::OpenAiChat),
        ("openai-chat-compat", Wire::OpenAiChat),
        ("openai-responses", Wire::OpenAiResponses),
        ("vertex", Wire::Vertex),
    ];
    let mut fixtures = Vec::new();
    for (name, wire) in folders {
        let mut files: Vec<PathBuf> = folder()
            .join(name)
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let name = format!("{name}.{}", file.file_name().unwrap().to_str().unwrap());
            let expected = folder().join("expected").join(format!("{name}.json"));
            fixtures.push(Fixture {
                wire,
                bytes: std::fs::read(&file).unwrap(),
                expected: serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap(),
                name,
            });
        }
    }
    fixtures
}

pub(crate) fn adapter(wire: Wire) -> Box<dyn Adapter> {
    match wire {
        Wire::OpenAiChat => Box::new(OpenAiChat::default()),
        Wire::OpenAiResponses => Box::new(OpenAiResponses::default()),
        Wire::Anthropic => Box::new(Anthropic::default()),
        Wire::Gemini => Box::new(Gemini::developer()),
        Wire::Vertex => Box::new(Gemini::vertex("p", "us-central1")),
        _ => panic!("no adapter for {wire}"),
    }
}

/// What comes out of these pieces.
pub(crate) fn decode<'a>(
    wire: Wire,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ReplyEvent>, Reply) {
    let mut decoder = adapter(wire).decoder(Expected::default());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events);
    }
    let reply = decoder.finish(&mut events);
    (events, reply)
}
