//! Prompt caching: the positions of the breakpoints.

use crate::json::writer::{Json, Object, typed};
use crate::request::Omitted;
use crate::request::cache::{Cache, CachePoint};

/// Breakpoints the server accepts in one request.
const MAX_BREAKPOINTS: usize = 4;

/// A message: its role and its blocks.
pub(crate) type Message<'a> = (&'static str, Vec<Json<'a>>);

/// Whether a breakpoint follows the tools, and the instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breakpoints {
    pub(crate) tools: bool,
    pub(crate) system: bool,
}

/// Places the breakpoints in the messages, and decides on the others. `ends` has the number of
/// messages, and of blocks in the last one, after each turn.
pub(crate) fn place(
    cache: &Cache,
    messages: &mut [Message<'_>],
    ends: &[(usize, usize)],
    omitted: &mut Vec<Omitted>,
) -> Breakpoints {
    let mut points = match cache {
        Cache::Off => return Breakpoints::default(),
        Cache::Auto => return auto(messages),
        Cache::Breakpoints(points) => points.clone(),
    };
    points.sort_unstable();
    points.dedup();
    if points.len() > MAX_BREAKPOINTS {
        omitted.push(Omitted::Option("cache"));
        points.drain(..points.len() - MAX_BREAKPOINTS);
    }
    for point in &points {
        if let CachePoint::Turn(at) = point
            && let Some((count, blocks)) = ends.get(*at).copied()
        {
            mark(messages, count, blocks);
        }
    }
    Breakpoints {
        tools: points.contains(&CachePoint::Tools),
        system: points.contains(&CachePoint::System),
    }
}

/// The end of the last user message, and of the one before: that is where the last request's
/// breakpoint was, however many blocks ago.
fn auto(messages: &mut [Message<'_>]) -> Breakpoints {
    let users = messages.iter().enumerate();
    let users = users.filter(|(_, (role, _))| *role == "user");
    let last: Vec<usize> = users.map(|(at, _)| at + 1).rev().take(2).collect();
    for count in last {
        mark(messages, count, usize::MAX);
    }
    Breakpoints {
        tools: true,
        system: true,
    }
}

/// Sets a breakpoint at the last user block among the first `count` messages, of the last of which only the first
/// `blocks` blocks count.
fn mark(messages: &mut [Message<'_>], count: usize, blocks: usize) {
    for (at, (role, content)) in messages.iter_mut().take(count).enumerate().rev() {
        let blocks = if at + 1 == count { blocks } else { usize::MAX };
        if *role == "user"
            && let Some(Json::Object(block)) = content.iter_mut().take(blocks).next_back()
        {
            if !block.has("cache_control") {
                *block = cached(std::mem::take(block));
            }
            return;
        }
    }
}

/// A block up to which the request is cached.
pub(crate) fn cached(block: Object<'_>) -> Object<'_> {
    block.set("cache_control", typed("ephemeral"))
}
