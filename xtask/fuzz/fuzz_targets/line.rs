//! Any bytes as lines: cuts do not matter, and the lines are those of a plain reading.
#![no_main]

use fuzz::however_cut;
use libfuzzer_sys::fuzz_target;
use mcp_transport::{Line, LineFramer};

/// Small, so that short streams break it.
const LIMIT: usize = 24;

fuzz_target!(|bytes: &[u8]| {
    let lines = however_cut(bytes, |pieces| {
        let mut framer = LineFramer::new(LIMIT);
        let mut lines = Vec::new();
        for piece in pieces {
            framer.push(piece);
            lines.extend(std::iter::from_fn(|| framer.next_line()));
        }
        framer.finish();
        lines.extend(std::iter::from_fn(|| framer.next_line()));
        lines
    });
    assert_eq!(lines, plainly(bytes));
});

fn plainly(stream: &[u8]) -> Vec<Line> {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = Vec::new();
    for line in stream.split(|byte| *byte == b'\n') {
        if line.len() > LIMIT {
            let head = line[..LIMIT].to_vec();
            lines.push(Line::TooLarge { head });
            if line.len() - LIMIT > 16 * LIMIT {
                lines.push(Line::Endless);
                break;
            }
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            lines.push(Line::Whole(line.to_vec()));
        }
    }
    lines
}
