//! Finding the next byte of a string that is not just text.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// How many bytes there are before the first quote, backslash or control character.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    const WIDE: usize = 64;
    let mut at = 0;
    while let Some(word) = rest(bytes, at).first_chunk::<8>() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
        // A long run: on with steps the compiler turns into vector instructions.
        while at >= WIDE
            && let Some(chunk) = rest(bytes, at).first_chunk::<WIDE>()
            && !chunk
                .iter()
                .fold(false, |found, byte| found | is_special(*byte))
        {
            at += WIDE;
        }
    }
    at + rest(bytes, at)
        .iter()
        .take_while(|byte| !is_special(**byte))
        .count()
}

fn rest(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Has the high bit of the first special byte of a word set, and none before it. (A borrow can
/// only spill out of a special byte, so that bits after the first may be wrong.)
fn special_bytes(word: u64) -> u64 {
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = is_zero(word ^ (ONES * b'"' as u64));
    let backslash = is_zero(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::{is_special, plain_run};

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for special in [b'"', b'\\', 0, b'\n', 0x1f] {
            for place in 0..200 {
                let mut bytes = [0x7f_u8, 0x80, 0xff, b'!', b'#', b'[', b']', b' '].repeat(30);
                bytes[place] = special;
                assert_eq!(plain_run(&bytes), place, "{special:#x}");
            }
        }
    }

    #[test]
    fn every_byte_is_judged_alike_in_words_and_alone() {
        for byte in 0..=u8::MAX {
            let want = if is_special(byte) { 3 } else { 8 };
            let mut bytes = [b'a'; 8];
            bytes[3] = byte;
            assert_eq!(plain_run(&bytes), want, "{byte:#x}");
            assert_eq!(plain_run(&bytes[..4]), want.min(4), "{byte:#x}");
        }
    }
}
