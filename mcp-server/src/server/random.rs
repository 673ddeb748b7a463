//! Unguessable identifiers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};

/// Fills a buffer with random bytes.
///
/// The system's source does not fail on any platform this runs on; if it ever does, nothing
/// guessable may come of it, so the process ends.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        std::process::abort();
    }
    bytes
}

/// 192 random bits as 32 visible ASCII characters.
pub(crate) fn token() -> String {
    URL_SAFE_NO_PAD.encode(bytes::<24>())
}
