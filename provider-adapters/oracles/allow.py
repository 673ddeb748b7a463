"""Where an SDK is not the truth, and what is. Everything else must agree."""

TRUTH = {
    # openai and anthropic drop a last event without a blank line; we flush it if it is whole.
    "anthropic.14-no-final-newline.sse": {"error": None},
    # google-genai dies of a comment.
    "gemini.18-keepalive-comment.sse": {
        "error": None,
        "text": "ab",
        "stop": {"neutral": "end", "raw": "STOP"},
        "usage": {"input": 82, "output": 17, "total": 99, "cache_read": None, "cache_write": None, "reasoning": None},
    },
}


def corrected(name, sdk):
    """What the reply called `name` means, given what the SDK makes of it."""
    return {**sdk, **TRUTH.get(name, {})}


def differences(ours, truth):
    """How what codec printed differs from the truth, beyond what is allowed to."""
    found = []

    def compare(path, mine, theirs):
        if mine != theirs:
            found.append(f"{path}: ours {mine!r}, theirs {theirs!r}")

    for key in ("text", "reasoning", "refusal", "opaque", "usage"):
        compare(key, ours[key], truth[key])
    compare("stop", ours["stop"], truth["stop"])
    compare("number of tool calls", len(ours["tool_calls"]), len(truth["tool_calls"]))
    for at, (mine, theirs) in enumerate(zip(ours["tool_calls"], truth["tool_calls"])):
        # Where the provider gives no id, ours is generated.
        compare(f"tool_calls[{at}].generated", mine["generated"], theirs["id"] is None)
        if theirs["id"] is not None:
            compare(f"tool_calls[{at}].id", mine["id"], theirs["id"])
        for key in ("name", "arguments", "arguments_text"):
            compare(f"tool_calls[{at}].{key}", mine[key], theirs[key])
    # The words of an error are the SDK's own; its code, type and param are the provider's.
    compare("error", ours["error"] is None, truth["error"] is None)
    if ours["error"] and truth["error"] and truth["error"].get("class") != "NoTerminalEvent":
        for key in ("code", "type", "param"):
            if truth["error"].get(key) is not None:
                compare(f"error.{key}", ours["error"].get(key), truth["error"][key])
    return found
