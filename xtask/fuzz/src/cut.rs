//! Streams arrive in pieces: where they are cut must never matter.

use std::fmt::Debug;

/// Longer streams are not read byte by byte: that would take most of the time.
const SHORT: usize = 512;

/// Reads a stream at once, in pieces, and byte by byte; returns what all three gave.
pub fn however_cut<T: Debug + PartialEq>(bytes: &[u8], read: impl Fn(&[&[u8]]) -> T) -> T {
    let whole = read(&[bytes]);
    assert_eq!(read(&pieces(bytes)), whole, "in pieces");
    if bytes.len() <= SHORT {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), whole, "byte by byte");
    }
    whole
}

/// A number that depends on nothing but the bytes, so that a finding can be repeated (FNV-1a).
pub fn seed(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The stream, cut anywhere; some pieces are empty.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut dice = seed(bytes) | 1;
    let longest = [2, 7, 40, 300][(dice >> 40) as usize % 4];
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let (piece, left) = rest.split_at((dice as usize % (longest + 1)).min(rest.len()));
        pieces.push(piece);
        rest = left;
    }
    pieces
}
