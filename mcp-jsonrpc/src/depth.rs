//! How deep JSON nests.

/// Whether arrays and objects in `json` nest deeper than `limit`. `json` must be JSON.
pub(crate) fn deeper_than(json: &[u8], limit: usize) -> bool {
    // Most messages hold fewer brackets than the limit, strings included: counting all is cheap.
    let opening = json.iter().filter(|byte| **byte | 0x20 == b'{').count();
    opening > limit && deepest(json, limit) > limit
}

/// The depth, looking no further than one past `limit`.
fn deepest(json: &[u8], limit: usize) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
                if deepest > limit {
                    break;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}
