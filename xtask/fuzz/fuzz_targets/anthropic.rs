//! Any bytes as a reply of Anthropic's Messages.
#![no_main]

use fuzz::check_reply;
use libfuzzer_sys::fuzz_target;
use provider_adapters::Anthropic;

fuzz_target!(|bytes: &[u8]| check_reply(&Anthropic::default(), bytes));
