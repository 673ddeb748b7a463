//! Any bytes as a reply in Chat Completions, as OpenAI streams it and as others do.
#![no_main]

use fuzz::check_reply;
use libfuzzer_sys::fuzz_target;
use provider_adapters::{Dialect, OpenAiChat};

fuzz_target!(|bytes: &[u8]| {
    check_reply(&OpenAiChat::default(), bytes);
    check_reply(&OpenAiChat::new(Dialect::LLAMA_CPP).with_rescue(), bytes);
});
