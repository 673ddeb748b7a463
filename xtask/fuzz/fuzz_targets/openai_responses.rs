//! Any bytes as a reply of OpenAI's Responses.
#![no_main]

use fuzz::check_reply;
use libfuzzer_sys::fuzz_target;
use provider_adapters::OpenAiResponses;

fuzz_target!(|bytes: &[u8]| check_reply(&OpenAiResponses::default(), bytes));
