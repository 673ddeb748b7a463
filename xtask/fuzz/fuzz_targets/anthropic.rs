//! Any bytes as a reply of Anthropic's Messages.
#![no_main]

use std::sync::LazyLock;

use fuzz::Replies;
use libfuzzer_sys::fuzz_target;
use provider_adapters::Anthropic;

static REPLIES: LazyLock<Replies> = LazyLock::new(|| Replies::of(Anthropic::default()));

fuzz_target!(|bytes: &[u8]| REPLIES.check(bytes));
