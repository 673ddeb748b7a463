//! Messages to the model in place of a tool's result.

use std::time::Duration;

use provider_adapters::InvalidOutput;
use tool_policy::DenyReason;

use crate::toolbox::{CallFailure, FailureKind};

/// The longest schema that is repeated to a model which got the arguments wrong.
const SHOWN_SCHEMA: usize = 4 << 10;

/// Comes before the id of a stored result.
const READ_REST: &str = "read the rest with read_output, id ";

pub(crate) fn denied(reason: DenyReason) -> String {
    format!("The call was not made: {reason}.")
}

pub(crate) fn gone(name: &str) -> String {
    format!("The call was not made: the tool {name:?} is no longer there.")
}

pub(crate) fn changed() -> String {
    "the tool was changed by its server just before the call. Look at it again before you repeat it"
        .to_owned()
}

pub(crate) fn declined(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("The user declined this call and says: {reason}"),
        None => "The user declined this call. Do not repeat it; ask what to do instead.".to_owned(),
    }
}

pub(crate) fn edited(arguments: &str) -> String {
    format!("[The user changed the arguments to {arguments} before the call.]")
}

pub(crate) fn interrupted() -> String {
    "The call was interrupted: it had begun, and whether it took effect is unknown. Find out \
     before you repeat it."
        .to_owned()
}

pub(crate) fn stopped(why: &str) -> String {
    format!(
        "The call was stopped ({why}): it had begun, and whether it took effect is unknown. Find \
         out before you repeat it."
    )
}

pub(crate) fn not_made(why: &str) -> String {
    format!("The call was not made ({why}).")
}

pub(crate) fn cut_sibling() -> String {
    "The call was not made: the reply was cut off before its last call was complete. Make the \
     calls again, with shorter arguments or fewer at a time."
        .to_owned()
}

pub(crate) fn unknown_tool(name: &str, similar: &[&str]) -> String {
    if similar.is_empty() {
        return format!("Tool not found: {name}. Use a name from the list of tools.");
    }
    format!(
        "Tool not found: {name}. Did you mean {}?",
        similar.join(" or ")
    )
}

pub(crate) fn bad_arguments(name: &str, problem: &str, schema: &str) -> String {
    let schema = if schema.len() <= SHOWN_SCHEMA {
        format!("\nThe schema of its arguments is {schema}")
    } else {
        String::new()
    };
    format!("The tool {name:?} was not called: {problem}{schema}")
}

pub(crate) fn failed(server: &str, failure: &CallFailure) -> String {
    let advice = match failure.kind {
        FailureKind::Unknown => {
            " Whether it took effect is unknown: find out before you repeat it."
        }
        FailureKind::NotSent => " Nothing happened.",
        _ => "",
    };
    format!(
        "The call to server {server:?} failed: {}.{advice}",
        failure.message.trim_end_matches('.')
    )
}

pub(crate) fn idle_timeout(server: &str, tool: &str, limit: Duration) -> String {
    format!(
        "{tool:?} on server {server:?} sent neither a response nor progress within its idle \
         timeout of {limit:?}"
    )
}

pub(crate) fn deadline(server: &str, tool: &str, limit: Duration) -> String {
    format!("{tool:?} on server {server:?} did not finish within its deadline of {limit:?}")
}

pub(crate) fn nudge() -> String {
    "The same tool calls have now been made more than once with the same results. Repeating them \
     will not help: try something else, or answer with what is known."
        .to_owned()
}

/// After a reply that was not the last: no provider answers its own words.
pub(crate) fn go_on() -> String {
    "Go on from where you stopped. Do not repeat what you have said.".to_owned()
}

pub(crate) fn unreadable_calls() -> String {
    "The tool calls of the last reply cannot be read. Make them again.".to_owned()
}

pub(crate) fn sum_up(limit: &str) -> String {
    format!(
        "This run has reached {limit}; no more tools can be called. Sum up what was done, what was \
         found, and what is still open."
    )
}

/// What is wrong with an answer.
pub(crate) fn invalid_output(invalid: &InvalidOutput) -> String {
    let problems = invalid.violations.join("; ");
    format!("The last reply does not match the required JSON schema: {problems}. Reply again.")
}

/// The user turn that takes the place of summarised turns.
pub(crate) fn summary(text: &str) -> String {
    format!("[Summary of the conversation so far]\n{}", text.trim())
}

/// The user turn that takes the place of turns that were dropped.
pub(crate) fn left_out(turns: usize) -> String {
    format!("[{turns} earlier turns were left out to save space.]")
}

/// What is left of a dropped result.
pub(crate) fn dropped_result(stored: Option<&str>) -> String {
    match stored {
        Some(id) => format!("[Dropped to save space: {}.]", read_rest(id)),
        None => "[Dropped to save space. Call the tool again if you need it.]".to_owned(),
    }
}

/// Where the rest of a stored result is.
pub(crate) fn read_rest(id: &str) -> String {
    format!("{READ_REST}{id:?}")
}

/// The id of a stored result that a text refers to.
pub(crate) fn stored_id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(READ_REST)?;
    let (id, _) = rest.strip_prefix('"')?.split_once('"')?;
    Some(id)
}

/// Asks for a summary.
pub(crate) fn summarise(transcript: &str, words: u64) -> String {
    format!(
        "Summarise the conversation below for the assistant that continues it, in at most {words} \
         words. Keep the user's goals and constraints, decisions, facts and identifiers that were \
         found, what was done with which result, and what is still open. Write nothing but the \
         summary.\n\n<conversation>\n{transcript}\n</conversation>"
    )
}
