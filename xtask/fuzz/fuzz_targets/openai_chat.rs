//! Any bytes as a reply in Chat Completions, as OpenAI streams it and as others do.
#![no_main]

use std::sync::LazyLock;

use fuzz::Replies;
use libfuzzer_sys::fuzz_target;
use provider_adapters::{Dialect, OpenAiChat};

static OPENAI: LazyLock<Replies> = LazyLock::new(|| Replies::of(OpenAiChat::default()));
static OTHERS: LazyLock<Replies> =
    LazyLock::new(|| Replies::of(OpenAiChat::new(Dialect::LLAMA_CPP).with_rescue()));

fuzz_target!(|bytes: &[u8]| {
    OPENAI.check(bytes);
    OTHERS.check(bytes);
});
