//! Instructions between the turns.

/// Whether a model takes them in a message of their own, as far as it is known; the others are told by the user.
pub(crate) fn takes_system(model: &str) -> bool {
    const NOT: [&str; 7] = [
        "claude-2",
        "claude-3",
        "claude-instant",
        "claude-haiku-4",
        "claude-opus-4@",
        "claude-sonnet-4",
        "claude-sonnet-5",
    ];
    // The first that did is Opus 4.8.
    let opus = model.split_once("claude-opus-4-").map(|(_, minor)| minor);
    let is_old_opus = opus.is_some_and(|minor| minor.starts_with(|c| ('0'..'8').contains(&c)));
    let is_old = NOT.iter().any(|name| model.contains(name)) || is_old_opus;
    !is_old || model.contains("claude-sonnet-5-5")
}
