//! Any bytes as a reply of Gemini.
#![no_main]

use fuzz::check_reply;
use libfuzzer_sys::fuzz_target;
use provider_adapters::Gemini;

fuzz_target!(|bytes: &[u8]| check_reply(&Gemini::developer(), bytes));
