//! Sends a provider's own items back to it.

use mcp_jsonrpc::{RawJson, RawMap};

use crate::conversation::native::Native;
use crate::conversation::turn::AssistantTurn;
use crate::wire::Wire;

/// The turn's own items, if they came over this wire.
pub(crate) fn items(turn: &AssistantTurn, wire: Wire) -> Option<&[RawJson]> {
    let native: &Native = turn.native().filter(|native| native.wire == wire)?;
    Some(&native.items)
}

/// The string member `key` of an item.
pub(crate) fn member(item: &RawMap, key: &str) -> Option<String> {
    item.read_as(key)
}

/// Sets a member if it is not already so: an item that needs no change stays byte for byte.
pub(crate) fn correct(item: &mut RawMap, key: &str, value: &str) -> bool {
    if item.read_as::<String>(key).as_deref() == Some(value) {
        return false;
    }
    item.set(key, value).is_ok()
}
