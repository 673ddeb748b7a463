"""Random scripts of what a model says, and the bytes they become on each wire, streamed or whole."""
import json

WORDS = ["Paris", "naïve", "日本語", "👩‍👩‍👧", "😀", "{", "}", "data: ", "\\", '"', "\n", " ", "a", "\u2028", "</think>", "\t", "é"]
NAMES = ["get_weather", "now", "say", "f"]
GOOGLE = ("gemini", "vertex")


def reply(rng, wire):
    """A file name that says whether it is streamed, the bytes, and what everybody must make of them."""
    whole = rng.random() < 0.2
    s = script(rng, wire, whole)
    data = dumps(rng, WHOLE[wire](s)).encode() if whole else STREAM[wire](rng, s)
    return "case.json" if whole else "case.sse", data, meaning(wire, s)


# ---------------------------------------------------------------- scripts
def text(rng, least=1):
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(least, 6)))


def value(rng, depth=0):
    kind = rng.randint(0, 7 if depth < 2 else 4)
    if kind == 0: return text(rng, 0)
    if kind == 1: return rng.choice([0, -1, 7, 2**53 + 1, 10**25, -(10**30)])
    if kind == 2: return rng.choice([True, False, None])
    if kind == 3: return rng.choice([0.5, -2.25, 1.5])
    if kind == 4: return rng.randint(0, 999)
    if kind == 5: return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {text(rng): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def plain(rng, depth=0):
    """A value that can be streamed by its paths: nothing empty, no number beyond a double."""
    kind = rng.randint(0, 5 if depth < 2 else 3)
    if kind == 0: return text(rng)
    if kind == 1: return rng.choice([True, False, None])
    if kind == 2: return rng.choice([0.5, -2.25])
    if kind == 3: return rng.randint(-9, 999)
    if kind == 4: return [plain(rng, depth + 1) for _ in range(rng.randint(1, 3))]
    return {key: plain(rng, depth + 1) for key in rng.sample("abcxyz", rng.randint(1, 3))}


def call(rng, wire, n):
    made = {"kind": "call", "id": f"call_{n}{rng.randint(0, 999)}", "name": rng.choice(NAMES), "streamed": wire == "vertex" and rng.random() < 0.5}
    if wire in GOOGLE and rng.random() < 0.3: made["id"] = None
    if made["streamed"]: made["arguments"] = {key: plain(rng) for key in rng.sample("abcxyz", rng.randint(0, 3))}
    else: made["arguments"] = {text(rng): value(rng) for _ in range(rng.randint(0, 3))}
    made["text"] = dumps(rng, made["arguments"])
    return made


def script(rng, wire, whole):
    """Reasoning, then text and calls in any order; why it stopped; what it cost."""
    calls = [call(rng, wire, n) for n in range(rng.choice([0, 0, 1, 1, 2, 3]))]
    parts = [*({"kind": "text", "text": text(rng)} for _ in range(rng.choice([0, 1, 1, 2]))), *calls]
    rng.shuffle(parts)
    if not parts: parts.append({"kind": "text", "text": text(rng)})
    if rng.random() < 0.4: parts.insert(0, {"kind": "reasoning", "text": text(rng)})
    stop = "tool_use" if calls else rng.choice(["end", "max_tokens", "filtered"])
    last = parts[-1]
    carries_text = wire.startswith("openai") or (wire == "anthropic" and not whole)
    if carries_text and last["kind"] == "call" and len(last["text"]) > 2 and rng.random() < 0.2:
        # The limit was reached inside the arguments.
        last["text"], last["arguments"], stop = last["text"][:rng.randint(1, len(last["text"]) - 1)], None, "max_tokens"
    if wire.startswith("openai") and stop == "end" and rng.random() < 0.3:
        parts, stop = [{"kind": "refusal", "text": text(rng)}], "refusal"
    return {"parts": parts, "stop": stop, "usage": {"input": rng.randint(1, 999), "output": rng.randint(1, 999)}}


def meaning(wire, s):
    joined = lambda kind: "".join(p["text"] for p in s["parts"] if p["kind"] == kind)
    stop = "refusal" if wire == "anthropic" and s["stop"] == "filtered" else s["stop"]
    calls = [{"id": p["id"], "name": p["name"], "arguments": p["arguments"]} for p in s["parts"] if p["kind"] == "call"]
    return {"text": joined("text"), "reasoning": joined("reasoning"), "refusal": joined("refusal") or None, "tool_calls": calls, "stop": stop, "usage": s["usage"]}


# ---------------------------------------------------------------- bytes
def cut(rng, whole):
    """A text in pieces; an empty text is one empty piece."""
    pieces = []
    while whole:
        n = rng.randint(1, 5)
        pieces.append(whole[:n])
        whole = whole[n:]
    return pieces or [""]


def dumps(rng, data):
    return json.dumps(data, ensure_ascii=rng.random() < 0.3, separators=rng.choice([(",", ":"), (", ", ": ")]))


def sse(rng, events, named, done=False):
    end = rng.choice(["\n", "\n", "\r\n"])
    out = []
    for event in events:
        if named and rng.random() < 0.2: out.append(f": keep-alive{end}{end}")
        if named: out.append(f"event: {event['type']}{end}")
        out.append(f"data: {dumps(rng, event)}{end}{end}")
    if done: out.append(f"data: [DONE]{end}{end}")
    return "".join(out).encode()


# ---------------------------------------------------------------- Chat Completions
CHAT_FINISH = {"end": "stop", "refusal": "stop", "tool_use": "tool_calls", "max_tokens": "length", "filtered": "content_filter"}
CHAT_FIELD = {"reasoning": "reasoning_content", "text": "content", "refusal": "refusal"}


def chat_usage(u):
    return {"prompt_tokens": u["input"], "completion_tokens": u["output"], "total_tokens": u["input"] + u["output"]}


def chat_call(part):
    return {"id": part["id"], "type": "function", "function": {"name": part["name"], "arguments": part["text"]}}


def chat_stream(rng, s):
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = lambda d, finish=None: {**base, "choices": [{"index": 0, "delta": d, "finish_reason": finish}], "usage": None}
    events, n = [delta({"role": "assistant", "content": None})], 0
    for part in s["parts"]:
        if part["kind"] != "call":
            events += [delta({CHAT_FIELD[part["kind"]]: p}) for p in cut(rng, part["text"])]
            continue
        events.append(delta({"tool_calls": [{"index": n, **chat_call({**part, "text": ""})}]}))
        events += [delta({"tool_calls": [{"index": n, "function": {"arguments": p}}]}) for p in cut(rng, part["text"])]
        n += 1
    events += [delta({}, CHAT_FINISH[s["stop"]]), {**base, "choices": [], "usage": chat_usage(s["usage"])}]
    return sse(rng, events, False, done=True)


def chat_whole(s):
    message = {"role": "assistant", "content": None, "refusal": None}
    for part in s["parts"]:
        if part["kind"] == "call": message.setdefault("tool_calls", []).append(chat_call(part))
        else: message[CHAT_FIELD[part["kind"]]] = (message.get(CHAT_FIELD[part["kind"]]) or "") + part["text"]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": CHAT_FINISH[s["stop"]]}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": chat_usage(s["usage"])}


# ---------------------------------------------------------------- Responses
def responses_item(at, part, status="completed"):
    if part["kind"] == "reasoning":
        return {"id": f"i_{at}", "type": "reasoning", "summary": [{"type": "summary_text", "text": part["text"]}], "encrypted_content": f"enc{at}"}
    if part["kind"] == "call":
        return {"id": f"i_{at}", "type": "function_call", "status": status, "arguments": part["text"], "call_id": part["id"], "name": part["name"]}
    return {"id": f"i_{at}", "type": "message", "status": status, "role": "assistant", "content": [responses_content(part)]}


def responses_content(part):
    if part["kind"] == "refusal": return {"type": "refusal", "refusal": part["text"]}
    return {"type": "output_text", "text": part["text"], "annotations": [], "logprobs": []}


def responses_whole(s):
    reason = {"max_tokens": "max_output_tokens", "filtered": "content_filter"}.get(s["stop"])
    items = [responses_item(at, part, "incomplete" if part.get("arguments", 0) is None else "completed") for at, part in enumerate(s["parts"])]
    u = s["usage"]
    usage = {"input_tokens": u["input"], "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": u["output"],
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": u["input"] + u["output"]}
    return {"id": "r", "object": "response", "created_at": 1, "status": "incomplete" if reason else "completed", "error": None,
            "incomplete_details": {"reason": reason} if reason else None, "instructions": None, "metadata": {}, "model": "m", "output": items,
            "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage}


def responses_stream(rng, s):
    whole = responses_whole(s)
    events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}}]
    for at, (part, item) in enumerate(zip(s["parts"], whole["output"])):
        key, pieces = {"output_index": at, "item_id": f"i_{at}"}, cut(rng, part["text"])
        empty = responses_item(at, {**part, "text": ""}, "in_progress")
        added = lambda item: {"type": "response.output_item.added", "output_index": at, "item": item}
        if part["kind"] == "reasoning":
            key["summary_index"] = 0
            events += [added({**empty, "summary": [], "encrypted_content": "half"}), {"type": "response.reasoning_summary_part.added", **key, "part": {"type": "summary_text", "text": ""}}]
            events += [{"type": "response.reasoning_summary_text.delta", **key, "delta": p} for p in pieces]
            events += [{"type": "response.reasoning_summary_text.done", **key, "text": part["text"]}]
        elif part["kind"] == "call":
            events.append(added(empty))
            events += [{"type": "response.function_call_arguments.delta", **key, "delta": p} for p in pieces]
            events += [{"type": "response.function_call_arguments.done", **key, "arguments": part["text"]}]
        else:
            key["content_index"] = 0
            kind, field = ("refusal", "refusal") if part["kind"] == "refusal" else ("output_text", "text")
            logprobs = {"logprobs": []} if kind == "output_text" else {}
            events += [added({**empty, "content": []}), {"type": "response.content_part.added", **key, "part": empty["content"][0]}]
            events += [{"type": f"response.{kind}.delta", **key, "delta": p, **logprobs} for p in pieces]
            events += [{"type": f"response.{kind}.done", **key, field: part["text"], **logprobs}]
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return sse(rng, [{**e, "sequence_number": n} for n, e in enumerate(events)], True)


# ---------------------------------------------------------------- Anthropic
ANTHROPIC_STOP = {"end": "end_turn", "tool_use": "tool_use", "max_tokens": "max_tokens", "filtered": "refusal"}


def anthropic_whole(s):
    content = []
    for at, part in enumerate(s["parts"]):
        if part["kind"] == "reasoning": content.append({"type": "thinking", "thinking": part["text"], "signature": f"sig{at}"})
        elif part["kind"] == "text": content.append({"type": "text", "text": part["text"]})
        else: content.append({"type": "tool_use", "id": part["id"], "name": part["name"], "input": part["arguments"]})
    u = s["usage"]
    usage = {"input_tokens": u["input"], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": u["output"]}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": ANTHROPIC_STOP[s["stop"]], "stop_sequence": None, "usage": usage}


def anthropic_stream(rng, s):
    start = anthropic_whole({**s, "parts": []})
    start["usage"]["output_tokens"] = 1
    events = [{"type": "message_start", "message": {**start, "stop_reason": None}}]
    for at, part in enumerate(s["parts"]):
        opened = lambda block: {"type": "content_block_start", "index": at, "content_block": block}
        delta = lambda d: {"type": "content_block_delta", "index": at, "delta": d}
        if rng.random() < 0.2: events.append({"type": "ping"})
        if part["kind"] == "reasoning":
            events.append(opened({"type": "thinking", "thinking": "", "signature": ""}))
            events += [delta({"type": "thinking_delta", "thinking": p}) for p in cut(rng, part["text"])]
            events.append(delta({"type": "signature_delta", "signature": f"sig{at}"}))
        elif part["kind"] == "text":
            events.append(opened({"type": "text", "text": ""}))
            events += [delta({"type": "text_delta", "text": p}) for p in cut(rng, part["text"])]
        else:
            events.append(opened({"type": "tool_use", "id": part["id"], "name": part["name"], "input": {}}))
            pieces = [""] if part["arguments"] == {} and rng.random() < 0.5 else ["", *cut(rng, part["text"])]
            events += [delta({"type": "input_json_delta", "partial_json": p}) for p in pieces]
        if part.get("arguments", 0) is not None: events.append({"type": "content_block_stop", "index": at})
    stop = {"stop_reason": ANTHROPIC_STOP[s["stop"]], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": s["usage"]["output"]}}, {"type": "message_stop"}]
    return sse(rng, events, True)


# ---------------------------------------------------------------- Gemini and Vertex
def gemini_parts(s, write):
    parts, signed = [], False
    for part in s["parts"]:
        written = write(part)
        if part["kind"] == "call" and not signed: written[0]["thoughtSignature"], signed = "c2lnbg==", True
        parts += written
    return parts


def gemini_part(part, pieces):
    if part["kind"] == "call":
        return [{"functionCall": {"name": part["name"], "args": part["arguments"], **({"id": part["id"]} if part["id"] else {})}}]
    return [{"text": p, **({"thought": True} if part["kind"] == "reasoning" else {})} for p in pieces]


def paths(rng, path, v):
    """A value as what Vertex streams of it."""
    if isinstance(v, dict): return [p for key in v for p in paths(rng, f"{path}.{key}", v[key])]
    if isinstance(v, list): return [p for at, inner in enumerate(v) for p in paths(rng, f"{path}[{at}]", inner)]
    if isinstance(v, bool): return [{"jsonPath": path, "boolValue": v}]
    if v is None: return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
    if not isinstance(v, str): return [{"jsonPath": path, "numberValue": v}]
    pieces = cut(rng, v)
    return [{"jsonPath": path, "stringValue": p, **({"willContinue": True} if at + 1 < len(pieces) else {})} for at, p in enumerate(pieces)]


def vertex_call(rng, part):
    head = {"name": part["name"], "willContinue": True, **({"id": part["id"]} if part["id"] else {})}
    return [{"functionCall": call} for call in (head, *({"partialArgs": [p], "willContinue": True} for p in paths(rng, "$", part["arguments"])), {})]


def gemini_reply(parts, s, last):
    reason = {"end": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "filtered": "SAFETY"}[s["stop"]]
    u = s["usage"]
    usage = {"promptTokenCount": u["input"], "candidatesTokenCount": u["output"], "totalTokenCount": u["input"] + u["output"]}
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, **({"finishReason": reason} if last else {})}], "usageMetadata": usage}


def gemini_whole(s):
    return gemini_reply(gemini_parts(s, lambda part: gemini_part(part, [part["text"]])), s, True)


def gemini_stream(rng, s):
    parts = gemini_parts(s, lambda part: vertex_call(rng, part) if part.get("streamed") else gemini_part(part, cut(rng, part["text"])))
    groups = []
    while parts:
        n = rng.randint(1, 2)
        groups.append(parts[:n])
        parts = parts[n:]
    events = [gemini_reply(group, s, at + 1 == len(groups)) for at, group in enumerate(groups)]
    # Google's servers escape U+2028; its SDK takes a bare one for the end of a line.
    return sse(rng, events, False).decode().replace("\u2028", "\\u2028").encode()


STREAM = {"openai-chat": chat_stream, "openai-responses": responses_stream, "anthropic": anthropic_stream, "gemini": gemini_stream, "vertex": gemini_stream}
WHOLE = {"openai-chat": chat_whole, "openai-responses": responses_whole, "anthropic": anthropic_whole, "gemini": gemini_whole, "vertex": gemini_whole}
