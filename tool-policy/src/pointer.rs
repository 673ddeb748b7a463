//! Places in a value, as JSON pointers for people.

use std::fmt::Write as _;

/// Characters of a member's name that a place shows.
const MAX_NAME: usize = 64;

/// Goes to a member; of a long name its beginning.
pub(crate) fn push_member(place: &mut String, name: &str) {
    place.push('/');
    for (at, c) in name.chars().enumerate() {
        match c {
            _ if at == MAX_NAME => {
                place.push('…');
                return;
            }
            '~' => place.push_str("~0"),
            '/' => place.push_str("~1"),
            c => place.push(c),
        }
    }
}

/// Goes to an item.
pub(crate) fn push_item(place: &mut String, at: usize) {
    // Writing to a `String` does not fail.
    let _ = write!(place, "/{at}");
}
