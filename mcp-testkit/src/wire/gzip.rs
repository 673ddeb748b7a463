//! A minimal gzip encoder: stored blocks, and a run that unpacks to 80 times its size and more.

/// The ten bytes at the start of every file.
const MAGIC: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A valid gzip file that is not smaller than its content.
pub(crate) fn compress(content: &[u8]) -> Vec<u8> {
    let mut file = stored(content);
    // An empty last block ends the data.
    file.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    file.extend_from_slice(&crc32(content).to_le_bytes());
    let length = u32::try_from(content.len() % (1 << 32)).unwrap_or(0);
    file.extend_from_slice(&length.to_le_bytes());
    file
}

/// The beginning of a gzip file: its header, and this content in non-final blocks.
fn stored(content: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    for block in content.chunks(0xffff) {
        let length = u16::try_from(block.len()).unwrap_or(0);
        file.push(0);
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&(!length).to_le_bytes());
        file.extend_from_slice(block);
    }
    file
}

/// The beginning of a bomb: `content`, then the first letter A of an endless run.
pub(crate) fn bomb_start(content: &[u8]) -> Vec<u8> {
    let mut file = stored(content);
    // A non-final block with fixed codes, and the literal A: 11 bits.
    let mut bits = Bits::default();
    bits.push(0, 1);
    bits.push(1, 2);
    bits.push_code(0x30 + u32::from(b'A'), 8);
    // Nine more matches of 13 bits fill whole bytes.
    for _ in 0..9 {
        bits.push_match();
    }
    file.extend(bits.bytes);
    file
}

/// Thirteen bytes that encode "258 times the last byte" eight times.
pub(crate) fn bomb_run() -> Vec<u8> {
    let mut bits = Bits::default();
    for _ in 0..8 {
        bits.push_match();
    }
    bits.bytes
}

/// Bits in deflate order.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    /// Appends a number, lowest bit first.
    fn push(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            self.held |= (value >> bit & 1) << self.count;
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(u8::try_from(self.held).unwrap_or(0));
                (self.held, self.count) = (0, 0);
            }
        }
    }

    /// Appends a code, highest bit first.
    fn push_code(&mut self, code: u32, count: u32) {
        for bit in (0..count).rev() {
            self.push(code >> bit & 1, 1);
        }
    }

    /// Appends length 258 (symbol 285, code 11000101) at distance 1 (code 00000).
    fn push_match(&mut self) {
        self.push_code(0b1100_0101, 8);
        self.push_code(0, 5);
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_run_is_whole_bytes() {
        assert_eq!(bomb_run().len(), 13);
        assert_eq!(bomb_start(b"").len(), MAGIC.len() + 16);
    }
}
