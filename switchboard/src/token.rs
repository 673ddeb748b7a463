//! Tokens that the program makes, for the page, the gateway and users' programs: how they are made,
//! named and stored. Only hashes are kept of those that are shown once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};

/// What personal access tokens begin with, so that scanners of leaked secrets know them.
pub(crate) const PERSONAL: &str = "sbp_";

/// The bytes of a token.
const BYTES: usize = 32;
/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// A new token: 256 bits from the operating system, as URL-safe text.
pub(crate) fn fresh() -> Result<String, std::io::Error> {
    let mut bytes = [0; BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| std::io::Error::other("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The hash that is stored and compared, so that neither the store nor time shows a token.
pub(crate) fn hash(token: &str) -> String {
    let digest = Sha256::digest(token);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a token may have this name.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match !name.is_empty() && name.chars().count() <= MAX_NAME && name.chars().all(legal) {
        true => Ok(()),
        false => Err(format!(
            "expected up to {MAX_NAME} letters, digits, '.', '_' or '-'"
        )),
    }
}
