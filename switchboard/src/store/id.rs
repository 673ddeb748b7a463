//! Names of rows.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde::{Deserialize, Serialize};

use crate::store::timestamp::Timestamp;

/// Declares one type of id per kind of row, so that they never mix.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// An id that nothing else has. It begins with the clock's time, so ids order nothing.
            pub fn fresh() -> Self {
                Self(fresh())
            }

            /// An id from elsewhere.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A user.
    UserId,
    /// A server of a user.
    ServerId,
    /// An assistant of a user.
    AssistantId,
    /// A conversation.
    ConversationId,
    /// A message of a conversation.
    MessageId,
    /// Bytes kept beside a conversation.
    BlobId,
    /// A remembered approval or denial.
    RuleId,
    /// A command to another process.
    CommandId,
    /// A question to the user.
    PendingId,
    /// A run of the loop.
    RunId,
    /// A lease on a conversation, as it was acquired once.
    LeaseId,
    /// A process that holds leases.
    HolderId,
    /// A personal access token.
    AccessTokenId,
}

impl UserId {
    /// The one user of a program without accounts.
    pub fn local() -> Self {
        Self::new("local")
    }

    /// Who has what all users share: no person.
    pub fn team() -> Self {
        Self::new("team")
    }
}

/// Digits that sort as they count and are not mistaken for one another.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Nine digits hold the milliseconds until the year 3084.
const TIME_DIGITS: u32 = 9;
const CHANCE_DIGITS: u32 = 7;

fn fresh() -> String {
    let mut text = String::with_capacity((TIME_DIGITS + CHANCE_DIGITS) as usize);
    push(&mut text, Timestamp::now().as_millis(), TIME_DIGITS);
    let chance = RandomState::new().build_hasher().finish();
    push(&mut text, chance, CHANCE_DIGITS);
    text
}

fn push(text: &mut String, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        let digit = (number >> (5 * place)) & 31;
        if let Some(digit) = DIGITS.get(digit as usize) {
            text.push(char::from(*digit));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn fresh_ids_differ() {
        let ids: BTreeSet<RunId> = (0..10_000).map(|_| RunId::fresh()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.as_str().len() == 16));
    }

    #[test]
    fn digits_sort_as_they_count() {
        let text = |number| {
            let mut text = String::new();
            push(&mut text, number, TIME_DIGITS);
            text
        };
        let moments = [0, 1, 31, 32, 1_785_231_000_000, 1_785_231_000_001];
        assert!(moments.map(text).is_sorted());
    }
}
