"""Where an SDK is not the truth, and what is. Everything else must agree."""

TRUTH = {
    # anthropic drops a last event without a blank line; we read it if it is whole.
    "anthropic.14-no-final-newline.sse": {"error": None},
    # google-genai dies of a comment.
    "gemini.18-keepalive-comment.sse": {
        "error": None,
        "text": "ab",
        "stop": {"neutral": "end", "raw": "STOP"},
        "usage": {"input": 82, "output": 17, "cache_read": None, "cache_write": None, "reasoning": None},
    },
}


def corrected(name, sdk):
    """What the reply called `name` means, given what the SDK makes of it."""
    return {**sdk, **TRUTH.get(name, {})}


def differences(ours, truth):
    """How what codec printed differs from the truth, beyond what is allowed to.

    A truth written by hand leaves out what does not matter; `$gen` stands for an id of our own.
    """
    found = []

    def compare(path, mine, theirs):
        if mine != theirs:
            found.append(f"{path}: ours {mine!r}, theirs {theirs!r}")

    for key in ("text", "reasoning", "refusal", "opaque"):
        if key in truth: compare(key, ours[key], truth[key])
    if isinstance(truth.get("usage"), dict):
        for key, theirs in truth["usage"].items():
            compare(f"usage.{key}", (ours["usage"] or {}).get(key), theirs)
    elif "usage" in truth:
        compare("usage", ours["usage"], truth["usage"])
    by_hand = not isinstance(truth["stop"], dict)
    compare("stop", ours["stop"]["neutral"] if by_hand else ours["stop"], truth["stop"])
    compare("number of tool calls", len(ours["tool_calls"]), len(truth["tool_calls"]))
    for at, (mine, theirs) in enumerate(zip(ours["tool_calls"], truth["tool_calls"])):
        # Where the provider gives no id, ours is generated.
        generated = theirs["id"] in (None, "$gen")
        compare(f"tool_calls[{at}].generated", mine["generated"], generated)
        if not generated: compare(f"tool_calls[{at}].id", mine["id"], theirs["id"])
        for key in ("name", "arguments", "arguments_text"):
            if key in theirs: compare(f"tool_calls[{at}].{key}", mine[key], theirs[key])
    # The words of an error are the SDK's own; its code, type and param are the provider's.
    compare("error", ours["error"] is None, truth["error"] is None)
    if ours["error"] and truth["error"] and truth["error"].get("class") != "NoTerminalEvent":
        for key in ("code", "type", "param"):
            if truth["error"].get(key) is not None:
                compare(f"error.{key}", ours["error"].get(key), truth["error"][key])
    return found
