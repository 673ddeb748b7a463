//! Carries out a compaction. Pure.

use std::collections::BTreeSet;

use mcp_jsonrpc::model::ContentBlock;
use provider_adapters::{AssistantTurn, Conversation, ToolResult, Turn, UserPart, UserTurn};
use tool_schema::estimate_tokens;

use crate::compaction::plan::Plan;
use crate::compaction::size;
use crate::run::messages;

/// The conversation that is left, and the pinned turns in it.
pub(crate) fn apply(
    conversation: &Conversation,
    pinned: &BTreeSet<usize>,
    plan: &Plan,
    summary: Option<&str>,
) -> (Conversation, BTreeSet<usize>) {
    let mut left = Conversation::new();
    if let Some(system) = conversation.system() {
        left = left.with_system(system);
    }
    if !plan.cut.is_empty() {
        let text = match summary {
            Some(summary) => messages::summary(summary),
            None => messages::left_out(plan.cut.len()),
        };
        let text = within(&text, plan.summary.saturating_sub(10));
        left.push(UserTurn::new(vec![UserPart::text(text)]));
    }
    let mut still_pinned = BTreeSet::new();
    for (at, turn) in conversation.turns().iter().enumerate() {
        if plan.cut.contains(&at) {
            continue;
        }
        if pinned.contains(&at) {
            still_pinned.insert(left.turns().len());
        }
        match turn {
            Turn::Assistant(turn) if plan.shrink.contains(&at) => left.push(shrunk(turn)),
            turn => left.push(turn.clone()),
        }
    }
    (left, still_pinned)
}

/// The turn without its results' content.
fn shrunk(turn: &AssistantTurn) -> AssistantTurn {
    let results = turn.results().iter().map(dropped).collect();
    // The ids are those of the results it had.
    turn.clone()
        .with_results(results)
        .unwrap_or_else(|_| turn.clone())
}

/// What is left of a result. One that was stored can still be read.
fn dropped(result: &ToolResult) -> ToolResult {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let note = messages::dropped_result(texts.filter_map(messages::stored_id).next());
    let mut short = ToolResult::text(result.id.clone(), note);
    short.is_error = result.is_error;
    if size::result(&short) < size::result(result) {
        short
    } else {
        result.clone()
    }
}

/// The size of a turn without its results' content, if it is smaller then.
pub(crate) fn shrunk_size(turn: &Turn) -> Option<u64> {
    let Turn::Assistant(results) = turn else {
        return None;
    };
    let saved = |result: &ToolResult| size::result(result) - size::result(&dropped(result));
    let saved = results.results().iter().map(saved).sum::<usize>() as u64;
    (saved > 0).then(|| size::of(turn) - saved)
}

/// The beginning of `text`, of at most this many tokens.
fn within(text: &str, tokens: u64) -> String {
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
    if estimate_tokens(text) <= tokens {
        return text.to_owned();
    }
    // A token has at least one character: cut by halves.
    let chars: Vec<char> = text.chars().collect();
    let (mut fits, mut too_many) = (0, chars.len());
    while fits + 1 < too_many {
        let middle = usize::midpoint(fits, too_many);
        let piece: String = chars.iter().take(middle).collect();
        match estimate_tokens(&piece) < tokens {
            true => fits = middle,
            false => too_many = middle,
        }
    }
    let mut piece: String = chars.into_iter().take(fits).collect();
    piece.push('…');
    piece
}
