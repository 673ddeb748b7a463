//! The decision to fetch another page of a list. Pure.

use std::collections::BTreeSet;
use std::fmt;

use crate::ClientLimits;

/// The reason why a list was truncated.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Truncated {
    /// There are more pages than allowed.
    Pages {
        /// The number allowed.
        limit: usize,
    },
    /// There are more items than allowed.
    Items {
        /// The number allowed.
        limit: usize,
    },
    /// The pages together are larger than allowed.
    Bytes {
        /// The number of bytes allowed.
        limit: usize,
    },
    /// The further pages took longer than allowed.
    Time,
    /// The server returned a cursor a second time, which would loop.
    RepeatedCursor,
    /// The server returned an oversized cursor.
    HugeCursor,
}

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages { limit } => write!(f, "the list has more than {limit} pages"),
            Self::Items { limit } => write!(f, "the list has more than {limit} items"),
            Self::Bytes { limit } => write!(f, "the list is larger than {limit} bytes"),
            Self::Time => f.write_str("the further pages of the list took too long"),
            Self::RepeatedCursor => f.write_str("the server sent the same cursor twice"),
            Self::HugeCursor => f.write_str("the server sent a cursor of absurd size"),
        }
    }
}

/// The step after a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Fetch the page at this cursor.
    Next(String),
    /// It was the last one.
    Done,
    /// Stop with the items so far. Of the last page keep only `keep` items.
    Stop { why: Truncated, keep: usize },
}

/// Follows cursors to the end or to a limit.
#[derive(Debug)]
pub(crate) struct Pager<'a> {
    limits: &'a ClientLimits,
    pages: usize,
    items: usize,
    bytes: usize,
    seen: BTreeSet<String>,
}

/// The maximum size of a cursor.
const MAX_CURSOR_BYTES: usize = 64 << 10;

impl<'a> Pager<'a> {
    pub(crate) fn new(limits: &'a ClientLimits) -> Self {
        Self {
            limits,
            pages: 0,
            items: 0,
            bytes: 0,
            seen: BTreeSet::new(),
        }
    }

    /// Counts a page with this many items and bytes and this cursor to the next. Only an absent cursor means the end;
    /// an empty one is a cursor like any other.
    pub(crate) fn page(&mut self, items: usize, bytes: usize, next: Option<String>) -> Step {
        self.pages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let room = self.limits.list_items().saturating_sub(self.items);
        self.items += items.min(room);
        if items > room {
            let limit = self.limits.list_items();
            return Step::Stop {
                why: Truncated::Items { limit },
                keep: room,
            };
        }
        let Some(cursor) = next else {
            return Step::Done;
        };
        match self.why_not(&cursor) {
            Some(why) => Step::Stop { why, keep: items },
            None => {
                self.seen.insert(cursor.clone());
                Step::Next(cursor)
            }
        }
    }

    fn why_not(&self, cursor: &str) -> Option<Truncated> {
        let limits = self.limits;
        if cursor.len() > MAX_CURSOR_BYTES {
            Some(Truncated::HugeCursor)
        } else if self.seen.contains(cursor) {
            Some(Truncated::RepeatedCursor)
        } else if self.pages >= limits.list_pages() {
            Some(Truncated::Pages {
                limit: limits.list_pages(),
            })
        } else if self.items >= limits.list_items() {
            Some(Truncated::Items {
                limit: limits.list_items(),
            })
        } else if self.bytes >= limits.list_bytes() {
            Some(Truncated::Bytes {
                limit: limits.list_bytes(),
            })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_cursor_is_followed_once() {
        let limits = ClientLimits::default();
        let mut pager = Pager::new(&limits);
        assert_eq!(
            pager.page(1, 1, Some(String::new())),
            Step::Next(String::new())
        );
        assert_eq!(
            pager.page(1, 1, Some(String::new())),
            Step::Stop {
                why: Truncated::RepeatedCursor,
                keep: 1
            }
        );
    }

    proptest! {
        /// Whatever a server sends, the walk ends within its limits and keeps no more than allowed.
        #[test]
        fn every_walk_ends_within_its_caps(
            pages in prop::collection::vec((0usize..40, 0usize..4000, "[a-f]{0,2}"), 1..200),
        ) {
            let limits = ClientLimits::default().with_list_pages(20).with_list_items(100).with_list_bytes(10_000);
            let mut pager = Pager::new(&limits);
            let (mut kept, mut walked, mut followed) = (0, 0, BTreeSet::new());
            for (items, bytes, cursor) in pages {
                walked += 1;
                match pager.page(items, bytes, Some(cursor)) {
                    Step::Next(cursor) => {
                        kept += items;
                        prop_assert!(followed.insert(cursor), "a cursor was followed twice");
                    }
                    Step::Stop { keep, .. } => {
                        prop_assert!(keep <= items);
                        kept += keep;
                        break;
                    }
                    Step::Done => prop_assert!(false, "there was a cursor"),
                }
            }
            prop_assert!(kept <= 100 && walked <= 20);
        }
    }
}
