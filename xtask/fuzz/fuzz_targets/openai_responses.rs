//! Any bytes as a reply of OpenAI's Responses.
#![no_main]

use std::sync::LazyLock;

use fuzz::Replies;
use libfuzzer_sys::fuzz_target;
use provider_adapters::OpenAiResponses;

static REPLIES: LazyLock<Replies> = LazyLock::new(|| Replies::of(OpenAiResponses::default()));

fuzz_target!(|bytes: &[u8]| REPLIES.check(bytes));
