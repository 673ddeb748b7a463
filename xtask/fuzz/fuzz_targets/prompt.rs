//! Any text of a model: the calls in it are the same however it was cut, and the same whether the
//! text comes bare or over a wire.
#![no_main]

use std::sync::LazyLock;

use fuzz::{Replies, however_cut};
use libfuzzer_sys::fuzz_target;
use provider_adapters::{Adapter, Expected, OpenAiChat, PromptMode, Reply, text_decoder};
use serde_json::json;

static REPLIES: LazyLock<Replies> =
    LazyLock::new(|| Replies::of(PromptMode::new(OpenAiChat::default())));

fuzz_target!(|text: &str| {
    let bare = however_cut(text.as_bytes(), |pieces| {
        let mut decoder = text_decoder(Expected::default());
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece, &mut events);
        }
        decoder.finish(&mut events)
    });
    let wire = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    let wire = wire.to_string();
    let adapter = PromptMode::new(OpenAiChat::default());
    let mut decoder = adapter.decoder(Expected::default());
    let mut events = Vec::new();
    decoder.push(wire.as_bytes(), &mut events);
    let said = |reply: Reply| (reply.parts, reply.notes, reply.error);
    assert_eq!(said(decoder.finish(&mut events)), said(bare));
    REPLIES.check(wire.as_bytes());
});
