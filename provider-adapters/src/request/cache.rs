//! Prompt caching.

use serde::{Deserialize, Serialize};

use crate::conversation::call_id::{hash, short_hash};
use crate::conversation::part::UserPart;
use crate::conversation::turn::Turn;
use crate::request::Request;

/// The prompt caching of a request, so that the next request with the same prefix costs less.
///
/// Anthropic caches up to explicit breakpoints. OpenAI and Gemini cache prefixes automatically; OpenAI gets a key that
/// routes the requests of one conversation to the same cache.
///
/// ```
/// use provider_adapters::{Cache, CachePoint, Conversation, Request};
///
/// let mut conversation = Conversation::new().with_system("A long manual …");
/// conversation.ask("Hello?");
/// let request = Request::new("claude-sonnet-5-5", conversation);
/// assert_eq!(request.cache, Cache::Auto);
/// let request = request.with_cache(Cache::Breakpoints(vec![CachePoint::System]));
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cache {
    /// Breakpoints after the tools, the instructions and the last two user messages: as the conversation grows, each
    /// request reads what the previous one has written.
    #[default]
    Auto,
    /// No breakpoints and no key. Providers that cache automatically still do.
    Off,
    /// Breakpoints at these places. A provider that accepts fewer gets the last ones.
    Breakpoints(Vec<CachePoint>),
}

/// A place in a request up to which it is cached.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CachePoint {
    /// The end of the tools.
    Tools,
    /// The end of the instructions.
    System,
    /// The last user message, or tool result, in the turns up to this one.
    Turn(usize),
}

impl Request {
    /// A key that is the same for every request of a conversation, whatever its tools are by now.
    pub(crate) fn cache_key(&self) -> Option<String> {
        if self.cache == Cache::Off {
            return None;
        }
        let first = self
            .conversation
            .turns()
            .iter()
            .find_map(|turn| match turn {
                Turn::User(turn) => turn.parts.iter().find_map(|part| match part {
                    UserPart::Text { text } => Some(text.as_str()),
                    _ => None,
                }),
                _ => None,
            });
        let system = self.conversation.system().into_iter();
        let text: Vec<&str> = system.chain(first).collect();
        Some(short_hash(hash(text.join("\n").as_bytes())))
    }
}
