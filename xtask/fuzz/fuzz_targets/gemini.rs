//! Any bytes as a reply of Gemini.
#![no_main]

use std::sync::LazyLock;

use fuzz::Replies;
use libfuzzer_sys::fuzz_target;
use provider_adapters::Gemini;

static REPLIES: LazyLock<Replies> = LazyLock::new(|| Replies::of(Gemini::developer()));

fuzz_target!(|bytes: &[u8]| REPLIES.check(bytes));
