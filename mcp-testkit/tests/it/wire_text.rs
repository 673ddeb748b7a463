//! Bytes as text that can be read in a snapshot.

use mcp_testkit::Running;

/// How many bytes are shown: with as many read, more do not change a snapshot.
pub(crate) const SHOWN: usize = 600;

/// The first bytes, escaped, with what changes from run to run replaced.
pub(crate) fn show(bytes: &[u8], server: &Running) -> String {
    let mut text = String::new();
    for chunk in bytes.get(..SHOWN).unwrap_or(bytes).utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("<{byte:02x}>"));
        }
    }
    for (url, name) in [(server.url(), "FIRST"), (server.second_url(), "SECOND")] {
        let address = url
            .trim_start_matches("http://")
            .split('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        if !address.is_empty() {
            text = text.replace(&address, name);
        }
    }
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => shown.push('\n'),
            '\r' => shown.push_str("<cr>"),
            '\u{feff}' => shown.push_str("<bom>"),
            letter if letter.is_control() => {
                shown.push_str(&format!("<{:02x}>", u32::from(letter)))
            }
            letter => shown.push(letter),
        }
    }
    shorten_runs(&shown)
}

/// Runs of one letter, or of one pair, are counted instead of written.
fn shorten_runs(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut short = String::new();
    let mut at = 0;
    while at < letters.len() {
        let run = letters[at..]
            .iter()
            .take_while(|letter| **letter == letters[at])
            .count();
        if run > 12 {
            short.push_str(&format!("{}×{run}", letters[at]));
            at += run;
        } else {
            short.push(letters[at]);
            at += 1;
        }
    }
    short
}
