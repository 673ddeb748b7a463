//! The framing of Amazon's event streams (`application/vnd.amazon.eventstream`): messages with
//! headers, a payload and two checksums.

use std::collections::VecDeque;

/// Two lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// Splits bytes, in any chunks, into messages.
#[derive(Debug)]
pub(crate) struct EventStreamParser {
    buffer: VecDeque<u8>,
    limit: usize,
}

/// One message.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Message {
    /// `event`, `exception` or `error`.
    pub(crate) message_type: String,
    /// The event's or the exception's name.
    pub(crate) name: String,
    /// What a message of the type `error` says.
    pub(crate) error: String,
    pub(crate) payload: Vec<u8>,
}

/// Why no message can be read any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BadFrame {
    TooLarge,
    /// The error.
    Malformed(&'static str),
}

impl EventStreamParser {
    /// A parser of messages of up to this many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: VecDeque::new(),
            limit,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend(bytes);
    }

    /// The next message that is complete.
    pub(crate) fn next_message(&mut self) -> Result<Option<Message>, BadFrame> {
        if self.buffer.len() < PRELUDE {
            return Ok(None);
        }
        let prelude: Vec<u8> = self.buffer.iter().take(PRELUDE).copied().collect();
        let number = |at: usize| be_u32(prelude.get(at..)).unwrap_or_default();
        let (total, headers) = (number(0) as usize, number(4) as usize);
        if number(8) != crc32(prelude.get(..8).unwrap_or_default()) {
            return Err(BadFrame::Malformed("the checksum of its lengths is wrong"));
        }
        if total > self.limit {
            return Err(BadFrame::TooLarge);
        }
        let Some(payload_bytes) = total.checked_sub(PRELUDE + CHECKSUM + headers) else {
            return Err(BadFrame::Malformed("its lengths do not add up"));
        };
        if self.buffer.len() < total {
            return Ok(None);
        }
        let frame: Vec<u8> = self.buffer.drain(..total).collect();
        let (covered, checksum) = frame.split_at(total - CHECKSUM);
        if be_u32(Some(checksum)) != Some(crc32(covered)) {
            return Err(BadFrame::Malformed("its checksum is wrong"));
        }
        let (before, payload) = covered.split_at(covered.len() - payload_bytes);
        let mut message = Message {
            payload: payload.to_vec(),
            ..Message::default()
        };
        read_headers(before.get(PRELUDE..).unwrap_or_default(), &mut message)
            .ok_or(BadFrame::Malformed("a header of it cannot be read"))?;
        Ok(Some(message))
    }
}

fn be_u32(bytes: Option<&[u8]>) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes?.first_chunk()?))
}

/// Takes `count` bytes off the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn read_headers(mut rest: &[u8], message: &mut Message) -> Option<()> {
    while !rest.is_empty() {
        let length = *take(&mut rest, 1)?.first()?;
        let name = take(&mut rest, usize::from(length))?;
        let kind = *take(&mut rest, 1)?.first()?;
        let size = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | 7 => usize::from(u16::from_be_bytes(*take(&mut rest, 2)?.first_chunk()?)),
            9 => 16,
            _ => return None,
        };
        let value = take(&mut rest, size)?;
        if kind != 7 {
            continue;
        }
        let value = String::from_utf8_lossy(value).into_owned();
        match name {
            b":message-type" => message.message_type = value,
            b":event-type" | b":exception-type" | b":error-code" => message.name = value,
            b":error-message" => message.error = value,
            _ => {}
        }
    }
    Some(())
}

/// One event as it stands on the wire.
#[cfg(any(test, all(feature = "bedrock", feature = "server")))]
pub(crate) fn write(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes();
    let mut frame = Vec::new();
    frame.extend_from_slice(&number(PRELUDE + block.len() + payload.len() + CHECKSUM));
    frame.extend_from_slice(&number(block.len()));
    frame.extend_from_slice(&crc32(&frame).to_be_bytes());
    frame.extend_from_slice(&block);
    frame.extend_from_slice(payload);
    let checksum = crc32(&frame);
    frame.extend_from_slice(&checksum.to_be_bytes());
    frame
}

/// CRC-32 as of gzip and PNG.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut at = 0;
        while at < 16 {
            let mut value = at as u32;
            let mut bit = 0;
            while bit < 4 {
                value = if value & 1 == 1 {
                    0xEDB8_8320 ^ (value >> 1)
                } else {
                    value >> 1
                };
                bit += 1;
            }
            #[allow(
                clippy::indexing_slicing,
                reason = "the loop ends at the table's length"
            )]
            {
                table[at] = value;
            }
            at += 1;
        }
        table
    };
    let step = |sum: u32, nibble: u32| {
        let at = ((sum ^ nibble) & 15) as usize;
        TABLE.get(at).copied().unwrap_or_default() ^ (sum >> 4)
    };
    let whole = bytes.iter().fold(u32::MAX, |sum, byte| {
        let byte = u32::from(*byte);
        step(step(sum, byte), byte >> 4)
    });
    !whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_gzip() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let frame = write(&[(":message-type", "event"), (":event-type", "x")], b"{}");
        for at in 0..frame.len() {
            let mut frame = frame.clone();
            frame[at] ^= 1;
            let mut parser = EventStreamParser::new(1 << 20);
            parser.push(&frame);
            assert!(!matches!(parser.next_message(), Ok(Some(_))), "byte {at}");
        }
    }
}
