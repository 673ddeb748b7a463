//! Finds the special bytes of a string: quotes, backslashes, control characters.

/// The block size.
pub(super) const BLOCK: usize = 64;
/// The block size for long strings.
const LONG: usize = 512;

/// A bit mask of the special bytes of a block; the lowest bit is the first byte.
pub(super) fn special_bits(block: &[u8; BLOCK]) -> u64 {
    // The compiler turns this loop into vector instructions …
    let mut weights = [0; BLOCK];
    for (at, (weight, byte)) in weights.iter_mut().zip(block).enumerate() {
        *weight = if is_special(*byte) {
            1_u8 << (at % 8)
        } else {
            0
        };
    }
    // … and this one sums each eight of their results into a byte of bits.
    weights
        .as_chunks::<8>()
        .0
        .iter()
        .rev()
        .fold(0, |bits, eight| {
            let sum = u64::from_le_bytes(*eight).wrapping_mul(u64::from_ne_bytes([1; 8])) >> 56;
            bits << 8 | sum
        })
}

/// The number of bytes in whole blocks before the first block with a special byte.
pub(super) fn plain_blocks(bytes: &[u8]) -> usize {
    let long = plain_parts::<LONG>(bytes);
    long + plain_parts::<BLOCK>(bytes.get(long..).unwrap_or_default())
}

/// Like [`plain_blocks`], in parts of `SIZE` bytes.
fn plain_parts<const SIZE: usize>(bytes: &[u8]) -> usize {
    let (parts, _) = bytes.as_chunks::<SIZE>();
    let plain = parts.iter().take_while(|part| is_plain(*part));
    plain.count() * SIZE
}

/// Compiles to few vector instructions.
fn is_plain(bytes: &[u8]) -> bool {
    // With its second bit flipped, the quote is one more than the control characters.
    let least = |turned: u8| {
        bytes
            .iter()
            .fold(u8::MAX, |least, byte| least.min(byte ^ turned))
    };
    least(b'"' ^ 0x20) > 0x20 && least(b'\\') > 0
}

/// The number of bytes of a word before the first special one: 8 if none is special.
pub(super) fn plain_word(word: [u8; 8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let word = u64::from_le_bytes(word);
    // Sets the high bit of each zero byte; after the first one, possibly of others.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * b'"' as u64));
    let backslashes = zeros(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let found = (quotes | backslashes | controls) & (ONES * 0x80);
    found.trailing_zeros() as usize / 8
}

/// The number of bytes before the first special one.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| !is_special(**byte)).count()
}

fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, is_special, plain_blocks, plain_run, plain_word, special_bits};

    #[test]
    fn bits_say_what_bytes_are_special() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK {
                let mut block = [b'a'; BLOCK];
                block[at] = byte;
                let want = if is_special(byte) { 1 << at } else { 0 };
                assert_eq!(special_bits(&block), want, "{byte:#x} at {at}");
            }
        }
        assert_eq!(special_bits(&[b'"'; BLOCK]), u64::MAX);
    }

    #[test]
    fn plain_blocks_end_before_the_one_with_a_special_byte() {
        for byte in 0..=u8::MAX {
            for at in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK - 1, 3 * BLOCK + 7] {
                let mut bytes = [b'a'; 3 * BLOCK + 9];
                bytes[at] = byte;
                let want = if is_special(byte) { at / BLOCK } else { 3 };
                assert_eq!(plain_blocks(&bytes), want * BLOCK, "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn a_word_is_plain_up_to_its_first_special_byte() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut word = [0xff, b'!', b'#', b'[', b']', b' ', 0x80, 0x7f];
                word[at] = byte;
                assert_eq!(plain_word(word), plain_run(&word), "{byte:#x} at {at}");
                word[7] = b'"';
                assert_eq!(plain_word(word), plain_run(&word), "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn a_plain_run_ends_at_the_first_special_byte() {
        assert_eq!(plain_run(b"abc\"\\"), 3);
        assert_eq!(plain_run("s\u{f8}ndag\n".as_bytes()), 7);
        assert_eq!(plain_run(b"all of it"), 9);
        assert_eq!(plain_run(b""), 0);
    }
}
